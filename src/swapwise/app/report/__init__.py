"""Charts, tables and HTML pages about one answer."""
