"""Whether the columns of a table can be used, and all that is in the way: cells, columns, the target."""
