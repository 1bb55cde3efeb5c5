"""Tests of treecrf.nn."""
