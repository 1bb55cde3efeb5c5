"""LAS on several treebanks and their average: a row for each system, or for each setting of one."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from statistics import fmean

from experiments.comparison import Measures, spread_note
from experiments.measures import Measure, measure, paired_note, strict_note
from experiments.options import Options
from experiments.plots import dots
from experiments.published import las_of
from experiments.reports import publish, significance
from experiments.systems import LOC, System
from experiments.tables import markdown, measure_rows
from experiments.treebanks import Split, Treebank, shared_split
from treecrf.parser.config import Config
from treecrf.treebank.metrics.counts import Counts

__all__ = ["AVERAGE", "Row", "one_release_each", "publish_las"]

AVERAGE = "Avg."

Row = tuple[System, Config]
"""A system and the settings that it is trained with."""

BySeed = Sequence[Sequence[Counts]]
"""What is right in each sentence, by seed."""

_RELEASE = re.compile(r"(?P<name>.+)-(?P<release>\d+(\.\d+)*)")


def publish_las(options: Options, rows: Mapping[str, Row], *, baseline: str, title: str) -> None:
    """Train rows on every treebank, and publish their LAS and how they differ from one of them."""
    split = shared_split(options.treebanks)
    counts = _train(options, rows, split)
    averaged = one_release_each(options.treebanks)
    las: Measures = {}
    for name in rows:
        ours = {treebank: counts[treebank, name] for treebank in options.treebanks}
        theirs = {treebank: counts[treebank, baseline] for treebank in options.treebanks}
        las[name] = _compare(ours, None if name == baseline else theirs, averaged)
    columns = [*(treebank.name for treebank in options.treebanks), AVERAGE]
    table = {name: [row[column] for column in columns] for name, row in las.items()}
    named = [(f"{name} {column}", row[column]) for name, row in las.items() for column in columns]
    published = {
        treebank.name: las_of(treebank.name) if split == "test" else {}
        for treebank in options.treebanks
    }
    shown = {name: figures for name, figures in published.items() if figures.keys() & rows.keys()}
    cells = measure_rows(table)
    for row_cells, name in zip(cells, rows, strict=True):
        found = [figures.get(name, "-") for figures in shown.values()]
        # The paper's marks are against Loc.
        row_cells += found if baseline == LOC.name else [text.rstrip("†‡") for text in found]
    publish(
        options,
        title=title,
        content={
            "split": split,
            "averaged": [treebank.name for treebank in averaged],
            "rows": [
                {"system": name, "treebank": column} | row[column].to_dict()
                for name, row in las.items()
                for column in columns
            ],
        },
        tables=[markdown(["", *columns, *(f"{name}, the paper" for name in shown)], cells)],
        notes=[
            f"LAS on {split}. {spread_note(options)}",
            f"{significance(baseline)} Of the average it is the p of all its sentences in one "
            "test.",
            *_average_note(options.treebanks, averaged),
            *strict_note(named),
            *paired_note((f"{name} {AVERAGE}", row[AVERAGE]) for name, row in las.items()),
        ],
        draw=lambda: dots(
            {"": _differences(las, columns, baseline)},
            xlabel=f"LAS on {split} above {baseline}, points",
            zero=True,
        ),
    )


def _train(
    options: Options, rows: Mapping[str, Row], split: Split
) -> dict[tuple[Treebank, str], BySeed]:
    """What the systems get right on each treebank, by treebank and row."""
    runs = {
        (treebank, name): [
            options.plan(
                system,
                seed,
                treebank=treebank,
                base=base,
                note=name.removeprefix(system.name).removeprefix(", "),
            )
            for seed in options.seeds
        ]
        for treebank in options.treebanks
        for name, (system, base) in rows.items()
    }
    results = options.finish(chain(*runs.values()))
    return {
        (treebank, name): [results[run].parses[split, rows[name][0].decoder] for run in by_seed]
        for (treebank, name), by_seed in runs.items()
    }


def _compare(
    ours: Mapping[Treebank, BySeed],
    theirs: Mapping[Treebank, BySeed] | None,
    averaged: Sequence[Treebank],
) -> dict[str, Measure]:
    """LAS on each treebank and their average, compared with another row if there is one."""
    las = {
        treebank.name: measure(counts, theirs and theirs[treebank])["LAS"]
        for treebank, counts in ours.items()
    }
    # The average is of treebanks, each counting the same; the test is of all their sentences.
    pooled = _joined([ours[treebank] for treebank in averaged])
    others = theirs and _joined([theirs[treebank] for treebank in averaged])
    of_all = measure(pooled, others)["LAS"]
    by_treebank = [las[treebank.name] for treebank in averaged]
    las[AVERAGE] = Measure(
        _means([item.values for item in by_treebank]),
        of_all.p,
        of_all.strict_p,
        _means([item.baseline for item in by_treebank]),
    )
    return las


def one_release_each(treebanks: Sequence[Treebank]) -> list[Treebank]:
    """The treebanks that an average counts: of `NAME-2.3` and `NAME-2.16` one.

    It is the release that most of the treebanks are of, and the latest of those that tie.
    """
    releases = {treebank: _RELEASE.fullmatch(treebank.name) for treebank in treebanks}
    number = Counter(match["release"] for match in releases.values() if match)
    chosen: dict[str, tuple[tuple[int, list[int]], Treebank]] = {}
    for treebank, match in releases.items():
        name, release = (match["name"], match["release"]) if match else (treebank.name, "0")
        rank = number[release], [int(part) for part in release.split(".")]
        if name not in chosen or rank > chosen[name][0]:
            chosen[name] = rank, treebank
    counted = [treebank for _, treebank in chosen.values()]
    return [treebank for treebank in treebanks if treebank in counted]


def _average_note(every: Sequence[Treebank], averaged: Sequence[Treebank]) -> list[str]:
    left_out = [treebank.name for treebank in every if treebank not in averaged]
    if not left_out:
        return []
    return [f"The average counts one release of each treebank: not {', '.join(left_out)}."]


def _means(by_treebank: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    """The mean over treebanks, by seed."""
    return tuple(map(fmean, zip(*by_treebank, strict=True)))


def _joined(by_treebank: Sequence[BySeed]) -> list[list[Counts]]:
    """Counts of the sentences of all treebanks, by seed."""
    return [[*chain(*by_seed)] for by_seed in zip(*by_treebank, strict=True)]


def _differences(las: Measures, columns: Sequence[str], baseline: str) -> Measures:
    """Difference from the baseline by column, row and seed."""
    return {
        column: {
            name: Measure(row[column].gains, row[column].p)
            for name, row in las.items()
            if name != baseline
        }
        for column in columns
    }
