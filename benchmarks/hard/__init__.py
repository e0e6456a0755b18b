"""Hard regressions: how often swapwise and its peers find the best answer known, and how fast."""
