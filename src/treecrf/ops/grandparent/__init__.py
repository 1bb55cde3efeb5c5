"""Projective trees with scores of grandparents, with and without adjacent siblings."""
