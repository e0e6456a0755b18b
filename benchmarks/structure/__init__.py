"""Where structure matters: errors on new data with and without a constraint, and those of other programs."""
