"""The command line: each command is thin over a function of the library."""
