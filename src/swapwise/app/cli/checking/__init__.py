"""Checks of a table: cells, columns, the target, and all problems of a table reported together."""
