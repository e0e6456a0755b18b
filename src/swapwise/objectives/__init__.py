"""What is maximised: one objective a file."""
