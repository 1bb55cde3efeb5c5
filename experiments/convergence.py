"""Convergence: dev LAS by epoch of Loc, Crf and Crf2o."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import fmean, stdev

from experiments.comparison import of_seeds
from experiments.options import Options, start
from experiments.plots import Curve, curves
from experiments.reports import publish
from experiments.systems import CRF, CRF2O, LOC
from experiments.tables import markdown

SYSTEMS = (LOC, CRF, CRF2O)
# The shares of all epochs at which the table has the best LAS so far.
STAGES = (0.1, 0.25, 0.5, 1.0)


@dataclass(frozen=True, slots=True)
class Course:
    """Dev LAS by epoch: the mean over seeds, their spread, and the best mean so far."""

    las: list[float]
    spread: list[float]
    peak: list[float]

    @classmethod
    def of(cls, by_seed: Sequence[Sequence[float]]) -> "Course":
        """Course over the epochs that every seed was trained for."""
        epochs = list(zip(*by_seed, strict=False))
        las = [fmean(values) for values in epochs]
        spread = [stdev(values) if len(values) > 1 else 0.0 for values in epochs]
        return cls(las, spread, list(accumulate(las, max)))

    def reached(self, las: float) -> int | None:
        """The first epoch with at least this LAS."""
        return next((epoch for epoch, value in enumerate(self.las, 1) if value >= las), None)


def run(options: Options) -> None:
    """Train the systems and report their dev LAS by epoch."""
    runs = {s: [options.plan(s, seed) for seed in options.seeds] for s in SYSTEMS}
    results = options.finish(run for by_seed in runs.values() for run in by_seed)
    by_system = {s.name: [results[run].las for run in runs[s]] for s in SYSTEMS}
    courses = {name: Course.of(by_seed) for name, by_seed in by_system.items()}
    longest = max(len(course.las) for course in courses.values())
    stages = sorted({max(1, round(share * longest)) for share in STAGES})
    goal = courses[LOC.name].peak[-1]
    rows = []
    for name, course in courses.items():
        peaks = [f"{course.peak[min(stage, len(course.peak)) - 1]:.2f}" for stage in stages]
        epoch = course.reached(goal)
        rows.append([name, *peaks, "-" if epoch is None else str(epoch)])
    publish(
        options,
        title=f"Convergence on {options.treebank.name}",
        content={
            "curves": {
                name: {
                    "las": [round(value, 4) for value in course.las],
                    "spread": [round(value, 4) for value in course.spread],
                    "reaches_best_of_loc": course.reached(goal),
                }
                for name, course in courses.items()
            },
            "best_of_loc": round(goal, 4),
        },
        tables=[
            markdown(
                ["", *(f"epoch {stage}" for stage in stages), "reaches Loc's best at epoch"], rows
            )
        ],
        notes=[
            f"The best dev LAS in percent up to an epoch, {of_seeds(options)}; and the "
            "first epoch with the best of Loc.",
            *length_notes(by_system),
            *([] if options.punct == "keep" else ["Punctuation is left out."]),
        ],
        draw=lambda: curves(
            {
                "": [
                    Curve(name, range(1, len(course.las) + 1), course.las, course.spread)
                    for name, course in courses.items()
                ]
            },
            xlabel="epoch",
            ylabel=f"LAS on {options.treebank.name} dev, %",
            bottom=_bottom(courses, longest),
        ),
    )


def length_notes(by_system: Mapping[str, Sequence[Sequence[float]]]) -> list[str]:
    """Notes for trainings of different lengths, as without --epochs."""
    lengths = {name: [len(las) for las in by_seed] for name, by_seed in by_system.items()}
    notes = []
    if any(len(set(by_seed)) > 1 for by_seed in lengths.values()):
        ends = ", ".join(f"{name} {min(by_seed)}" for name, by_seed in lengths.items())
        notes.append(
            "The seeds of a system were trained for different numbers of epochs, and its figures, "
            "the best of Loc among them, are of those that all of its seeds have: up to epoch "
            f"{ends}."
        )
    if len({min(by_seed) for by_seed in lengths.values()}) > 1:
        notes.append(
            "A system that ends earlier than an epoch of the table has its last best there."
        )
    return notes


def _bottom(courses: dict[str, Course], longest: int) -> float:
    """Lower end of the y axis; the steep first epochs, alike for all, would flatten the rest."""
    early = max(1, round(0.1 * longest)) - 1
    lowest = min(course.peak[min(early, len(course.peak) - 1)] for course in courses.values())
    highest = max(course.peak[-1] for course in courses.values())
    return lowest - 0.05 * (highest - lowest)


def main(arguments: Sequence[str] | None = None) -> int:
    return start("convergence", __doc__, run, arguments=arguments)


if __name__ == "__main__":
    sys.exit(main())
