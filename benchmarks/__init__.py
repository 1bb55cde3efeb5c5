"""Benchmarks: one module, and one command, for each question."""
