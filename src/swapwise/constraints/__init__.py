"""Where the answer lies: one family of constraints a file."""
