"""The neural modules that parsers are made of."""
