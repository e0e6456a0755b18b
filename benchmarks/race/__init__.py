"""The race: swapwise beside its peers on the same data, with the same threads, in one run."""
