"""What commands print: tables, JSON, progress. The one module that imports rich, when it is used."""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["print_json", "print_table", "track"]

Item = TypeVar("Item")


def print_json(value: object) -> None:
    """One JSON value on standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


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
        table.add_column(
            Text(column), justify="right" if index else "left", overflow="fold", no_wrap=index > 0
        )
    for row in rows:
        table.add_row(*map(Text, row))
    _console().print(table)


def track(items: Iterable[Item], what: str, *, total: int | None = None) -> Iterator[Item]:
    """The items, with a progress line on standard error where that is a terminal."""
    if not sys.stderr.isatty():
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

    # A pipe has no width to fit in.
    return Console(width=None if sys.stdout.isatty() else 200, highlight=False)
