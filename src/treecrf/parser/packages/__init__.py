"""Models as packages: cards, wheels, and models that are installed by name."""
