"""Markdown tables, padded so that they read well in a terminal."""

from collections.abc import Mapping, Sequence

from experiments.measures import Measure

__all__ = ["cell", "markdown", "measure_rows"]


def markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose first column is flushed left and whose others are flushed right."""
    widths = [max(3, *(len(row[i]) for row in (columns, *rows))) for i in range(len(columns))]
    ruler = ["-" * width if i == 0 else "-" * (width - 1) + ":" for i, width in enumerate(widths)]
    lines = []
    for row in (columns, ruler, *rows):
        cells = [
            text.ljust(width) if i == 0 else text.rjust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def cell(measure: Measure | None, *, best: bool = False) -> str:
    """`**88.90** ± 0.12‡`: the mean, bold where it is the best, the spread and the mark."""
    if measure is None:
        return "-"
    mean = f"{measure.mean:.2f}"
    spread = "" if measure.spread is None else f" ± {measure.spread:.2f}"
    return f"**{mean}**{spread}{measure.mark}" if best else f"{mean}{spread}{measure.mark}"


def measure_rows(
    table: Mapping[str, Sequence[Measure | None]], *, bold: bool = True
) -> list[list[str]]:
    """Rows by name; the best of each column is bold, all of them where several look the same."""
    columns = list(zip(*table.values(), strict=True))
    best = [
        max((round(item.mean, 2) for item in column if item is not None), default=None)
        for column in columns
    ]
    return [
        [
            name,
            *(
                cell(item, best=bold and item is not None and round(item.mean, 2) == top)
                for item, top in zip(row, best, strict=True)
            ),
        ]
        for name, row in table.items()
    ]
