"""`/api/parse`: requests checked, parsed and answered in JSON."""
