"""From files that users hand in to numbers: tables, cells, columns, and what is wrong with them."""
