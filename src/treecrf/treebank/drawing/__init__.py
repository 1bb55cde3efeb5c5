"""Pictures of trees: in a terminal, and as SVG."""
