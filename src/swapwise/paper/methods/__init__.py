"""Methods from the literature around the paper that serve comparison alone."""
