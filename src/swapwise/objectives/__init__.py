"""What is maximised: one objective per file or folder."""
