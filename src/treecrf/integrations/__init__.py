"""Treecrf inside other tools, each with an extra of its own."""
