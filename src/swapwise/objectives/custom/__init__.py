"""Objectives made of functions that users write."""
