"""Which arcs and siblings count: scores with -inf where no tree may go."""
