"""Plots for a page or a README: curves, dots and bars, in colours that everyone can tell apart."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.measures import Measure
from treecrf.extras import needs_extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Bar", "Curve", "bars", "curves", "dots", "new_figure", "save", "style"]

# From the palette of Okabe and Ito.
_COLOURS = {
    "Loc-MST": "#7F7F7F",
    "Loc": "#E69F00",
    "Crf w/o MBR": "#56B4E9",
    "Crf": "#0072B2",
    "Crf2o w/o MBR": "#CC79A7",
    "Crf2o": "#D55E00",
    "Crf3o w/o siblings": "#999933",
    "Crf3o": "#117733",
    "random sentences": "#7F7F7F",
    "random words": "#56B4E9",
    "uncertain sentences": "#E69F00",
    "uncertain words": "#D55E00",
}
_OTHER = "#009E73"
_STYLE: Any = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so that a plot is the same everywhere
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#666666",
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.8,
    "xtick.color": "#444444",
    "ytick.color": "#444444",
    "lines.linewidth": 1.8,
    "savefig.dpi": 160,
    "svg.hashsalt": "treecrf",  # the same plot is the same file
}


@dataclass(frozen=True, slots=True)
class Curve:
    """A line through points, with what it is called at its end and its spread as a band."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    spread: Sequence[float] | None = None


@dataclass(frozen=True, slots=True)
class Bar:
    """A figure, and the colour by the name of its system."""

    name: str
    system: str
    value: float


def save(figure: "Figure", path: Path) -> None:
    """Write `path.png` and `path.svg`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with style():
        figure.savefig(path.with_suffix(".png"), metadata={"Software": None})
        figure.savefig(path.with_suffix(".svg"), metadata={"Date": None})


def curves(
    panels: Mapping[str, Sequence[Curve]],
    *,
    xlabel: str,
    ylabel: str,
    bottom: float | None = None,
    markers: bool = False,
) -> "Figure":
    """A panel for each title, with the same y axis, and the name of each curve at its end."""
    with style():
        figure = new_figure(4.6 * len(panels) + 1.2, 3.8)
        axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for place, (panel, (title, lines)) in enumerate(zip(axes, panels.items(), strict=True)):
            for curve in lines:
                colour = _colour(curve.name)
                panel.plot(curve.x, curve.y, color=colour, marker="o" if markers else None, ms=4.5)
                if curve.spread is not None and any(curve.spread):
                    low = [y - s for y, s in zip(curve.y, curve.spread, strict=True)]
                    high = [y + s for y, s in zip(curve.y, curve.spread, strict=True)]
                    panel.fill_between(curve.x, low, high, color=colour, alpha=0.18, linewidth=0)
            if title:
                panel.set_title(title)
            panel.set_xlabel(xlabel)
            if place == 0:
                panel.set_ylabel(ylabel)
            panel.margins(x=0.02)
            panel.locator_params(axis="x", nbins=6)
            panel.xaxis.set_major_formatter("{x:,.0f}")
        if bottom is not None:
            top = max(max(curve.y) for lines in panels.values() for curve in lines)
            axes[0].set_ylim(bottom, top + 0.08 * (top - bottom))
        figure.draw_without_rendering()  # the layout decides where labels have room
        for panel, lines in zip(axes, panels.values(), strict=True):
            _label_ends(panel, lines)
        return figure


def dots(
    panels: Mapping[str, Mapping[str, Mapping[str, Measure]]], *, xlabel: str, zero: bool = False
) -> "Figure":
    """A panel for each title, a line for each row, a dot for each system, small ones for its seeds.

    `panels[title][row][system]`. Where a row is the system itself the row names it; else there is
    a legend. `zero` draws a line at 0.
    """
    rows = list(next(iter(panels.values())))
    across = 2 if len(panels) == 4 else len(panels)
    down = -(-len(panels) // across)
    with style():
        figure = new_figure(max(6.4, 2.7 * across + 1.5), (0.37 * len(rows) + 1.1) * down + 0.4)
        axes = figure.subplots(down, across, sharey=True, squeeze=False)
        named: dict[str, None] = {}
        for panel, (title, table) in zip(axes.flat, panels.items(), strict=True):
            for place, row in enumerate(rows):
                single = len(table[row]) == 1
                for number, (system, measure) in enumerate(table[row].items()):
                    offset = 0.0 if single else 0.22 * (number - (len(table[row]) - 1) / 2)
                    _dot(panel, place + offset, measure, _colour(system))
                    text = f"{measure.mean:.2f}{measure.mark}" if single else measure.mark
                    _annotate(panel, place + offset, measure, text, above=single)
                    if system != row:
                        named[system] = None
            if title:
                panel.set_title(title)
            panel.set_yticks(range(len(rows)), rows)
            panel.set_ylim(len(rows) - 0.45, -0.65)
            panel.tick_params(axis="y", length=0)
            panel.margins(x=0.12)
            if zero:
                panel.axvline(0, color="#666666", linewidth=1)
        for panel in axes[-1]:
            panel.set_xlabel(xlabel)
        _legend(figure, list(named))
        return figure


def bars(groups: Mapping[str, Sequence[Bar]], *, xlabel: str) -> "Figure":
    """Horizontal bars in groups, each with its figure at its end."""
    count = sum(map(len, groups.values()))
    with style():
        figure = new_figure(7.4, 0.29 * count + 0.42 * len(groups) + 0.8)
        panel = figure.subplots()
        place = 0.0
        ticks: list[tuple[float, str]] = []
        longest = max(bar.value for group in groups.values() for bar in group)
        for title, group in groups.items():
            panel.text(0, place, title, ha="left", va="center", weight="bold", size=10)
            place += 1
            for bar in group:
                panel.barh(place, bar.value, height=0.74, color=_colour(bar.system))
                panel.text(
                    bar.value + 0.01 * longest, place, f"{bar.value:,.0f}", va="center", size=9
                )
                ticks.append((place, bar.name))
                place += 1
            place += 0.4
        panel.set_yticks([tick for tick, _ in ticks], [name for _, name in ticks])
        panel.set_ylim(place - 0.6, -0.6)
        panel.set_xlim(0, 1.12 * longest)
        panel.grid(axis="y", visible=False)
        panel.tick_params(axis="y", length=0)
        panel.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        panel.set_xlabel(xlabel)
        return figure


def style() -> AbstractContextManager[None]:
    """The look of all plots, within the `with` block."""
    with needs_extra("experiments", "a plot"):
        from matplotlib import rc_context

    context: AbstractContextManager[None] = rc_context(_STYLE)
    return context


def new_figure(width: float, height: float) -> "Figure":
    """An empty figure, its size in inches."""
    with needs_extra("experiments", "a plot"):
        from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _colour(name: str) -> str:
    """The colour of a system; a curve may say more than its name, after a comma."""
    return _COLOURS.get(name.partition(",")[0], _OTHER)


def _dot(panel: "Axes", place: float, measure: Measure, colour: str) -> None:
    if measure.spread is not None:
        ends = [measure.mean - measure.spread, measure.mean + measure.spread]
        panel.plot(ends, [place, place], color=colour, linewidth=2.4, alpha=0.45)
        panel.plot(
            measure.values, [place] * len(measure.values), "o", color=colour, ms=3, alpha=0.6, mew=0
        )
    panel.plot([measure.mean], [place], "o", color=colour, ms=7.5)


def _annotate(panel: "Axes", place: float, measure: Measure, text: str, *, above: bool) -> None:
    panel.annotate(
        text,
        (measure.mean, place),
        xytext=(0, 6) if above else (6, 0),
        textcoords="offset points",
        ha="center" if above else "left",
        va="baseline" if above else "center",
        size=8,
        color="#333333",
    )


def _legend(figure: "Figure", names: Sequence[str]) -> None:
    if not names:
        return
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], marker="o", linestyle="", color=_colour(name), ms=7, label=name)
        for name in names
    ]
    figure.legend(handles=handles, loc="outside upper right", ncols=len(names), frameon=False)


def _label_ends(panel: "Axes", lines: Sequence[Curve]) -> None:
    """The name of each curve to the right of its end, moved up or down where two would touch."""
    low, high = panel.get_ylim()
    step = (high - low) * 13 / (panel.bbox.height * 72 / panel.figure.dpi)
    # A curve may end below the plot, but its name stays beside it.
    ends = sorted((min(max(curve.y[-1], low), high), curve.name, curve.x[-1]) for curve in lines)
    places: list[float] = []
    for y, _, _ in ends:
        places.append(max(y, places[-1] + step) if places else y)
    # Half of what they were moved up, they all go down again.
    shift = (places[-1] - ends[-1][0]) / 2 if places else 0.0
    for (_, name, x), place in zip(ends, places, strict=True):
        panel.annotate(
            name,
            (x, place - shift),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            color=_colour(name),
            annotation_clip=False,
        )
