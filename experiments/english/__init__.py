"""Commands that make the English model that comes with treecrf, one for each step."""
