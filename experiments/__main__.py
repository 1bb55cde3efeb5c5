"""`python -m experiments` lists the commands, each with what it is about."""

import ast
from pathlib import Path

_COMMANDS = (
    "paper",
    "main_table",
    "subtrees",
    "convergence",
    "partial",
    "active_learning",
    "universal",
    "gold_tags",
    "raw_text",
    "variants",
    "speed",
    "third_order",
)


def main() -> None:
    """Print the commands, without importing them, which would take seconds."""
    print("Each of these is a command, `python -m experiments.NAME --help`:\n")
    for name in _COMMANDS:
        source = Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
        description = ast.get_docstring(ast.parse(source)) or ""
        print(f"{name:<18}{description.splitlines()[0]}")


if __name__ == "__main__":
    main()
