"""`treecrf data`: look at treebanks, check them, change them and make them up."""

import typer

from treecrf.cli.data.change import convert, deproject, mask, project
from treecrf.cli.data.generate import generate
from treecrf.cli.data.look import show, stats, validate
from treecrf.cli.options import Command

__all__ = ["app"]

app = typer.Typer(help="Look at treebanks, check them and change them.", no_args_is_help=True)
for _function in (stats, validate, convert, project, deproject, mask, generate, show):
    app.command(cls=Command)(_function)
