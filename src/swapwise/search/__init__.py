"""How it is searched: pivot rules, acceptance, starts, the loop, and the other methods."""
