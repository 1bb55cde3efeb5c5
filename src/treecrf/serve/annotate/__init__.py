"""Annotation of a corpus: what to ask, what was decided, and where it is kept."""
