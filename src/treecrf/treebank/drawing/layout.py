"""Layout of a tree that is drawn above its words: places along the line, levels of arcs.

An arc leaves and meets words at ports. Those of a word stand side by side, in the order that lets
nested arcs nest: arcs to the left first, the shortest of them first, then the root's, then arcs to
the right, the longest first. So the lines of a projective tree never cross.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

__all__ = ["Arc", "Layout", "lay_out"]

_PORT = 10  # from one port to the next
_GAP = 20  # from one word to the next, at least


@dataclass(frozen=True, slots=True)
class Arc:
    """An arc from `start`, above its head, to `end`, above its dependent; the root's is upright.

    Words are numbered from 1. The outer one of two arcs has the higher level; 1 is the lowest.
    """

    head: int
    dependent: int
    start: int
    end: int
    label: int
    level: int


@dataclass(frozen=True, slots=True)
class Layout:
    """The middle of each word, the arcs, and how wide it all is."""

    words: list[int]
    arcs: list[Arc]
    width: int


class _Port(NamedTuple):
    dependent: int
    at_head: bool


def lay_out(
    heads: Sequence[int], *, widths: Sequence[int], labels: Sequence[int], mirrored: bool = False
) -> Layout:
    """Lay out words and arcs; mirrored, the first word is on the right. A head of -1 has no arc."""
    ports = _ports(heads)
    numbered = ((port, 2 * place - len(row) + 1) for row in ports for place, port in enumerate(row))
    offsets = {port: number * _PORT // 2 for port, number in numbered}
    words: list[int] = []
    edge = -_GAP
    for index, row in enumerate(ports):
        half = (max(widths[index], _PORT * len(row)) + 1) // 2
        middle = edge + _GAP + half
        for port in row:
            dependent, at_head = port
            other = (dependent if at_head else heads[dependent - 1]) - 1
            if 0 <= other < index:  # the label has room on the arc
                start = words[other] + offsets[_Port(dependent, not at_head)]
                middle = max(middle, start + labels[dependent - 1] - offsets[port])
        words.append(middle)
        edge = middle + half
    width, side = max(edge, 0), -1 if mirrored else 1
    if mirrored:
        words = [width - word for word in words]
    rows = zip(words, ports, strict=True)
    places = {port: word + side * offsets[port] for word, row in rows for port in row}
    return Layout(words, _arcs(heads, places), width)


def _ports(heads: Sequence[int]) -> list[list[_Port]]:
    """The ports of each word in order; in a cycle the later dependent's arc is the outer one."""
    rows: list[list[tuple[int, int, int, _Port]]] = [[] for _ in heads]
    for dependent, head in enumerate(heads, 1):
        ends = [(dependent, head, False), (head, dependent, True)]
        if head == 0:
            ends = [(dependent, dependent, False)]
        for word, other, at_head in ends if head >= 0 else ():
            side = (other > word) - (other < word)
            length = abs(other - word)
            port = _Port(dependent, at_head)
            rows[word - 1].append((side, -side * length, -side * dependent, port))
    return [[port for *_, port in sorted(row)] for row in rows]


def _arcs(heads: Sequence[int], places: dict[_Port, int]) -> list[Arc]:
    """The arcs between ports, which are given in their order."""
    numbers = {port: number for number, port in enumerate(places)}
    spans = {
        port.dependent: slice(*sorted((number, numbers.get(_Port(port.dependent, True), number))))
        for port, number in numbers.items()
        if not port.at_head
    }
    levels = _levels(heads, spans)
    lines = [(place, levels[port.dependent]) for port, place in places.items()]
    arcs = []
    for dependent, span in sorted(spans.items()):
        end = places[_Port(dependent, False)]
        start = places.get(_Port(dependent, True), end)
        level = levels[dependent]
        crossing = [place for place, height in lines[span][1:] if height > level]
        gaps = pairwise([lines[span.start][0], *crossing, lines[span.stop][0]])
        free = max(gaps, key=lambda ends: abs(ends[0] - ends[1]))
        arcs.append(Arc(heads[dependent - 1], dependent, start, end, sum(free) // 2, level))
    return arcs


def _levels(heads: Sequence[int], spans: dict[int, slice]) -> dict[int, int]:
    """The level of each arc, one above all that is under it; the root's is above all."""
    skyline = [0] * (2 * len(heads))
    levels: dict[int, int] = {}
    for dependent in sorted(spans, key=lambda word: (abs(heads[word - 1] - word), word)):
        if heads[dependent - 1] > 0:
            first, last = spans[dependent].start, spans[dependent].stop
            levels[dependent] = 1 + max(skyline[first : last + 1])
            skyline[first : last + 1] = [levels[dependent]] * (last + 1 - first)
    above_all = 1 + max(skyline, default=0)
    return {dependent: levels.get(dependent, above_all) for dependent in spans}
