"""What constraints compute with: exchanges, weighted matroid intersection, packing, random graphs."""
