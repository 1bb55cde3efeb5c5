"""Sentences of a file as columns: bytes and numbers, without an object a word."""
