"""The paper's tables and figures, each one a command: `python -m experiments.main_table --help`."""
