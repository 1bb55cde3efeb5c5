"""Second-order projective trees: adjacent siblings."""
