"""A tree drawn with box-drawing characters: a line a word, the arcs to the left of the words.

The dependents of a word hang on a vertical line of its own, its rail, and a rail stands to the
right of the rail that its word hangs on:

      ┌─▶ I
    ──┼─▶ saw        ┬ ┴ ┼   the line of a word meets its own rail
      └─▶ her        ┌ ├ └   the line of a word leaves the rail of its head

Where arcs cross, the line of a word runs over rails that are not its own, which show a gap there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["draw_arcs"]

_TURN = {(True, True): "├", (False, True): "┌", (True, False): "└", (False, False): "─"}
_JOINT = {(True, True): "┼", (False, True): "┬", (True, False): "┴"}


@dataclass(slots=True)
class _Rail:
    column: int
    top: int
    bottom: int

    def sides(self, row: int) -> tuple[bool, bool]:
        """Whether the rail goes on above and below a row."""
        return self.top < row, row < self.bottom


def draw_arcs(heads: Sequence[int]) -> list[str]:
    """The arcs, a line a word, all of one width; words without a head begin a tree of their own."""
    rails = _rails(heads)
    width = 2 * max((rail.column + 1 for rail in rails.values()), default=0)
    return [_line(word, heads[word], rails, width) for word in range(1, len(heads))]


def _line(word: int, head: int, rails: dict[int, _Rail], width: int) -> str:
    cells = [" "] * width
    for rail in rails.values():
        if rail.top <= word <= rail.bottom:
            cells[2 * rail.column] = "│"
    own, from_head = rails.get(word), rails.get(head)
    first = from_head or own
    if first is None:
        return "".join(cells) + "  "
    start = 2 * first.column
    cells[start:] = "─" * (width - start)
    if own is not None:
        cells[2 * own.column] = _JOINT[own.sides(word)]
    cells[start] = _TURN[first.sides(word)]
    return "".join(cells) + ("▶ " if from_head else "─ ")


def _rails(heads: Sequence[int]) -> dict[int, _Rail]:
    """The rail of each token that has dependents, in the first column that is free for it."""
    children: dict[int, list[int]] = {}
    for word in range(1, len(heads)):
        if heads[word] >= 0:
            children.setdefault(heads[word], []).append(word)
    rails: dict[int, _Rail] = {}
    taken: list[list[_Rail]] = []
    level = [0, *(word for word in range(1, len(heads)) if heads[word] < 0)]
    while level:
        for token in level:
            rows = children.get(token, [])
            if not rows:
                continue
            # The root symbol is above the words and has no line, so its rail joins the roots only.
            ends = rows if token == 0 else [*rows, token]
            head = rails.get(heads[token]) if token else None
            rail = _Rail(head.column + 1 if head else 0, min(ends), max(ends))
            while rail.column < len(taken) and any(
                rail.top <= other.bottom and other.top <= rail.bottom
                for other in taken[rail.column]
            ):
                rail.column += 1
            while rail.column >= len(taken):
                taken.append([])
            taken[rail.column].append(rail)
            rails[token] = rail
        level = [child for token in level for child in children.get(token, [])]
    return rails
