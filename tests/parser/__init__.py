"""Tests of treecrf.parser."""
