"""How the English model that comes with treecrf is made: each step is a command."""
