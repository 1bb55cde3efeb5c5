"""What commands print: tables, trees, JSON, progress. Only here is rich imported, when needed."""

import codecs
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.console import Console

    from treecrf.treebank import Sentence

__all__ = ["counted", "print_json", "print_table", "print_tree", "track"]

Item = TypeVar("Item")


def counted(number: int, noun: str) -> str:
    """`1 word`, `2 words`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def print_json(value: object) -> None:
    """One JSON value on standard output."""
    # Elsewhere than in UTF-8 a character may become a question mark, and two keys the same one.
    utf8 = codecs.lookup(sys.stdout.encoding or "ascii").name == "utf-8"
    sys.stdout.write(json.dumps(value, ensure_ascii=not utf8, indent=2) + "\n")


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    title: str | None = None,
    caption: str | None = None,
) -> None:
    """A table whose first column is names and whose other columns are numbers."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=title,
        caption=caption,
        box=box.SIMPLE_HEAD,
        title_justify="left",
        caption_justify="left",
        title_style="bold",
    )
    for index, column in enumerate(columns):
        table.add_column(Text(column), justify="right" if index else "left", no_wrap=True)
    for row in rows:
        table.add_row(*map(Text, row))
    _console().print(table)


def print_tree(sentence: "Sentence") -> None:
    """A sentence, a word a line, with its arcs on the left."""
    from rich.table import Table
    from rich.text import Text

    from treecrf.treebank.drawing import draw_arcs

    console = _console()
    if sentence.sent_id:
        console.print(Text(sentence.sent_id, style="dim"))
    console.print(Text(sentence.text, style="bold"))
    grid = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(4):
        grid.add_column(no_wrap=True)
    for arcs, token in zip(draw_arcs([0, *sentence.heads]), sentence.tokens, strict=True):
        grid.add_row(
            Text(arcs, style="cyan") + Text(token.form, style="default"),
            Text("" if token.upos == "_" else token.upos, style="dim"),
            Text("" if token.deprel == "_" else token.deprel, style="green"),
            Text(str(token.id), style="dim", justify="right"),
        )
    console.print(grid)


def track(items: Iterable[Item], what: str, *, total: int | None = None) -> Iterator[Item]:
    """The items, with a progress line on standard error where that is a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    spinner = SpinnerColumn()
    count = TextColumn("{task.completed:,}" if total is None else "{task.percentage:.0f}%")
    name = TextColumn("{task.description}")
    console = Console(stderr=True)
    with Progress(
        spinner, name, count, TimeElapsedColumn(), console=console, transient=True
    ) as bar:
        yield from bar.track(items, total=total, description=what)


def _console() -> "Console":
    from rich.console import Console

    # A long line is the terminal's to wrap: made to fit, a number would lose its last digits.
    # A dumb terminal is taken to be 80 wide unless it has a height as well.
    return Console(width=10_000, height=25, highlight=False)
