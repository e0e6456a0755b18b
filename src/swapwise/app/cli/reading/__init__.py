"""Readers of the tables that users hand in."""
