"""The paper's table of Universal Dependencies: LAS on several treebanks and their average."""

import re
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from statistics import fmean

from experiments.comparison import Measures, spread_note
from experiments.measures import Measure, measure, strict_note
from experiments.options import Options, start
from experiments.plots import dots
from experiments.reports import SIGNIFICANCE, publish
from experiments.systems import CRF, CRF2O, LOC, LOC_MST
from experiments.tables import markdown, measure_rows
from experiments.treebanks import Treebank, shared_split
from treecrf.treebank.metrics.counts import Counts

SYSTEMS = (LOC_MST, LOC, CRF, CRF2O)
AVERAGE = "Avg."

_RELEASE = re.compile(r"(?P<name>.+)-(?P<release>\d+(\.\d+)*)")


def run(options: Options) -> None:
    """Train the systems on every treebank and publish their scores."""
    split, seeds = shared_split(options.treebanks), options.seeds
    runs = {
        (treebank, system): [options.plan(system, seed, treebank=treebank) for seed in seeds]
        for treebank in options.treebanks
        for system in SYSTEMS
    }
    results = options.finish(chain(*runs.values()))
    counts = {
        (treebank, system): [results[run].parses[split, system.decoder] for run in by_seed]
        for (treebank, system), by_seed in runs.items()
    }
    averaged = one_release_each(options.treebanks)
    las: Measures = {}
    for system in SYSTEMS:
        row = las[system.name] = {}
        for treebank in options.treebanks:
            baseline = None if system is LOC else counts[treebank, LOC]
            row[treebank.name] = measure(counts[treebank, system], baseline)["LAS"]
        # The average is of treebanks, each counting the same; the test is of all their sentences.
        pooled, baseline = (
            _joined([counts[treebank, each] for treebank in averaged]) for each in (system, LOC)
        )
        by_treebank = [row[treebank.name].values for treebank in averaged]
        average = tuple(map(fmean, zip(*by_treebank, strict=True)))
        of_all = measure(pooled, None if system is LOC else baseline)["LAS"]
        row[AVERAGE] = Measure(average, of_all.p, of_all.strict_p)
    columns = [*(treebank.name for treebank in options.treebanks), AVERAGE]
    table = {name: [row[column] for column in columns] for name, row in las.items()}
    publish(
        options,
        title="LAS on Universal Dependencies",
        content={
            "split": split,
            "averaged": [treebank.name for treebank in averaged],
            "rows": [
                {"system": name, "treebank": column} | row[column].to_dict()
                for name, row in las.items()
                for column in columns
            ],
        },
        tables=[markdown(["", *columns], measure_rows(table))],
        notes=[
            f"LAS on {split}. {spread_note(options)}",
            f"{SIGNIFICANCE} Of the average it is the p of all its sentences in one test.",
            *_average_note(options.treebanks, averaged),
            *strict_note(
                (f"{name} {column}", row[column]) for name, row in las.items() for column in columns
            ),
        ],
        draw=lambda: dots(
            {"": _differences(las, columns)}, xlabel=f"LAS on {split} above Loc, points", zero=True
        ),
    )


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


def _joined(by_treebank: Sequence[Sequence[Sequence[Counts]]]) -> list[list[Counts]]:
    """Counts of the sentences of all treebanks, by seed."""
    return [[*chain(*by_seed)] for by_seed in zip(*by_treebank, strict=True)]


def _differences(las: Measures, columns: Sequence[str]) -> Measures:
    """Difference from Loc by column, system and seed."""
    return {
        column: {
            name: Measure(
                tuple(
                    ours - theirs
                    for ours, theirs in zip(
                        row[column].values, las[LOC.name][column].values, strict=True
                    )
                ),
                row[column].p,
            )
            for name, row in las.items()
            if name != LOC.name
        }
        for column in columns
    }


def main(arguments: Sequence[str] | None = None) -> int:
    return start("universal", __doc__, run, arguments=arguments, several=True)


if __name__ == "__main__":
    sys.exit(main())
