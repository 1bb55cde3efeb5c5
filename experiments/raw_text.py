"""Parsing raw text: CoNLL-18 LAS over another system's segmentation, or over our own."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from experiments.comparison import Measures, spread_note
from experiments.errors import ExperimentError
from experiments.files import read_json, write_json
from experiments.measures import Measure
from experiments.options import Options, start
from experiments.plots import dots
from experiments.published import las_of
from experiments.reports import publish
from experiments.runs import Run
from experiments.systems import CRF, CRF2O, LOC
from experiments.tables import markdown, measure_rows
from experiments.treebanks import shared_split
from treecrf.parser import load
from treecrf.parser.training.data import fingerprint
from treecrf.segment import Segmenter, SegmentError
from treecrf.segment.training.raw_text import raw_sentences, raw_text
from treecrf.treebank import Score, Sentence, evaluate_conll18, read_conllu

SYSTEMS = (LOC, CRF, CRF2O)
METRICS = ("Sentences", "Words", "UAS", "LAS")
GOLD = "{}, gold segmentation"


@dataclass(frozen=True, slots=True)
class Segmentation:
    """A text cut into sentences and words, and the name of a row for it."""

    row: str
    sentences: list[Sentence]
    name: str
    """Of its content and of the gold trees that it is scored with."""


def run(options: Options) -> None:
    """Parse a segmentation with every system, and the gold one beside it."""
    split = shared_split(options.treebanks)
    path = options.treebank.splits[split].path
    gold = list(read_conllu(path))
    truth = fingerprint(gold)[:8]
    segmentations = [
        Segmentation(row, sentences, f"{truth}-{fingerprint(sentences)[:8]}")
        for row, sentences in ((GOLD, gold), ("{}", _given(options.own, gold)))
    ]
    runs = {system: [options.plan(system, seed) for seed in options.seeds] for system in SYSTEMS}
    waiting = {
        run
        for by_seed in runs.values()
        for run in by_seed
        if any(_record(options, run, item) is None for item in segmentations)
    }
    options.finish([r for by_seed in runs.values() for r in by_seed if r in waiting], models=True)
    measures: Measures = {}
    for segmentation in segmentations:
        for system, by_seed in runs.items():
            scores = [_scores(options, run, gold, segmentation) for run in by_seed]
            measures[segmentation.row.format(system.name)] = {
                name: Measure(tuple(100 * score[name].f1 for score in scores)) for name in METRICS
            }
    table = {name: [row[metric] for metric in METRICS] for name, row in measures.items()}
    tokens = options.own.tokens or options.own.segmenter
    published = las_of(options.treebank.name, raw_text=True) if split == "test" else {}
    publish(
        options,
        title=f"Raw text of {options.treebank.name}",
        content={
            "split": split,
            "tokens": str(tokens),
            "rows": [
                {"system": name, "metric": metric} | item.to_dict()
                for name, row in measures.items()
                for metric, item in row.items()
            ],
        },
        tables=[_table(table, split, published)],
        notes=[
            f"F1 of the CoNLL 2018 evaluation over the segmentation of {tokens}; LAS is without "
            "subtypes of relations.",
            spread_note(options),
        ],
        draw=lambda: dots(
            {f"{split} LAS": {name: {name: row["LAS"]} for name, row in measures.items()}},
            xlabel="%",
        ),
    )


def _table(table: Mapping[str, Sequence[Measure]], split: str, published: Mapping[str, str]) -> str:
    header, rows = [split, *METRICS], measure_rows(table, bold=False)
    if published:
        header.append("the paper: LAS")
        for name, row in zip(table, rows, strict=True):
            row.append(published.get(name, "-"))
    return markdown(header, rows)


def _given(own: argparse.Namespace, gold: Sequence[Sentence]) -> list[Sentence]:
    if (own.tokens is None) == (own.segmenter is None):
        raise ExperimentError("say how the text is split: --tokens FILE or --segmenter DIR")
    if own.tokens is not None:
        try:
            return list(read_conllu(own.tokens))
        except OSError as error:
            raise ExperimentError(f"{own.tokens}: {error.strerror}") from None
    try:
        return Segmenter.load(own.segmenter).segment(raw_text(raw_sentences(gold)))
    except SegmentError as error:
        advice = "give another system's segmentation with --tokens FILE"
        raise ExperimentError(f"{error}; {advice}") from None


def _scores(
    options: Options, run: Run, gold: Sequence[Sentence], segmentation: Segmentation
) -> dict[str, Score]:
    """Scores of a run over a segmentation, computed once."""
    record = _record(options, run, segmentation)
    if record is None:
        parser = load(options.store.model_folder(run), device=options.device)
        parsed = list(parser.parse_stream(segmentation.sentences, probs=False))
        scores = evaluate_conll18(gold, parsed)
        record = {
            "run": run.label,
            "training": run.training,
            "scores": {name: asdict(scores[name]) for name in METRICS},
        }
        write_json(options.store.raw_path(run, segmentation.name), record)
    return {name: Score(**score) for name, score in record["scores"].items()}


def _record(options: Options, run: Run, segmentation: Segmentation) -> dict[str, Any] | None:
    """The JSON of a run over a segmentation; None where there is none of it."""
    record = read_json(options.store.raw_path(run, segmentation.name))
    return record if record is not None and run.is_of(record.get("training", {})) else None


def _extend(parser: argparse.ArgumentParser) -> None:
    text = "the text of test.conllu, or dev.conllu where there is none, as another system split it"
    parser.add_argument("--tokens", type=Path, metavar="FILE", help=text)
    ours = "a folder with a segmenter, to split the text with"
    parser.add_argument("--segmenter", type=Path, metavar="DIR", help=ours)


def main(arguments: Sequence[str] | None = None) -> int:
    return start("raw_text", __doc__, run, arguments=arguments, extend=_extend)


if __name__ == "__main__":
    sys.exit(main())
