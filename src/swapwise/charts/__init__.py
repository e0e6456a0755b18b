"""Charts, one description drawn by matplotlib or written as SVG, and the pages that hold them."""
