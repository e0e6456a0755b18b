"""Proofs: how soon, and how far, programs prove that their answer to a sparse problem is the best."""
