"""Where the answer lies: one family of constraints per file."""
