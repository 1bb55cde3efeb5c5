"""First-order projective trees: Eisner's algorithm."""
