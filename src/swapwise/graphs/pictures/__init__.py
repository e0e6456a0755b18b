"""Pictures of graphs and of how stable they are, drawn by matplotlib or written as SVG."""
