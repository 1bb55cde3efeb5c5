"""`treecrf data`: look at treebanks, check them and change them."""

import typer

__all__ = ["app"]

app = typer.Typer(help="Look at treebanks, check them and change them.", no_args_is_help=True)


@app.command()
def stats() -> None:
    """Count."""


@app.command()
def validate() -> None:
    """Check."""
