"""Access to a design matrix."""
