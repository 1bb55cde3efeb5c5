"""Annotation of a corpus: which words to ask about, and the file of decisions."""
