"""Scores of a model by genre, in capitals and the like, and its calibration errors.

    python -m experiments.english.final src/treecrf/models/en DEV.conllu
    python -m experiments.english.final src/treecrf/models/en TEST.conllu --store

With `--store` they go on the card of the model, as those of a test part: that is done once, when
nothing is chosen any more. A genre is what comes before the first hyphen of `# sent_id`. Sentences
in capitals, in small letters and without their last mark are scored with gold words, and only those
that differ from what is in the treebank.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.report import print_table
from experiments.english.bundle import layers_of
from experiments.english.card import Card, read_commands, score_table, write_card
from experiments.english.command import run_command
from experiments.english.scores import gold_word_scores, raw_text_scores
from experiments.english.vary import VARIATIONS
from experiments.errors import ExperimentError
from experiments.files import write_json
from treecrf.parser import Parser, load
from treecrf.parser.training.calibration import calibration_errors
from treecrf.treebank import Sentence, read_conllu

__all__ = ["by_genre", "final_scores", "main"]


def final_scores(parser: Parser, gold: Sequence[Sentence]) -> dict[str, Any]:
    """Scores of all sentences, of each genre and of each variation, and calibration errors."""
    parts = {"all": gold} | by_genre(gold)
    varied = {
        name: [copy for one in gold if (copy := vary(one)) is not None and copy.forms != one.forms]
        for name, vary in VARIATIONS.items()
    }
    raw = parts if parser.has_segmenter else {}
    return {
        "sentences": len(gold),
        "words": sum(map(len, gold)),
        "gold_words": {
            name: gold_word_scores(parser, part) for name, part in (parts | varied).items() if part
        },
        "raw_text": {name: raw_text_scores(parser, part) for name, part in raw.items()},
        "calibration_errors": calibration_errors(parser, gold),
    }


def by_genre(sentences: Sequence[Sentence]) -> dict[str, list[Sentence]]:
    """Sentences by genre, in the order of the file; empty where no genres are told apart."""
    genres: defaultdict[str, list[Sentence]] = defaultdict(list)
    for sentence in sentences:
        genres[(sentence.sent_id or "").partition("-")[0]].append(sentence)
    return dict(genres) if len(genres) > 1 and "" not in genres else {}


def _store(folder: Path, scores: Mapping[str, Any]) -> None:
    """Put the scores on the card of a bundled model."""
    path = folder / "card.json"
    if not path.is_file():
        raise ExperimentError(f"{folder}: no bundled model: it has no card.json")
    said = json.loads(path.read_text(encoding="utf-8")) | {"test": dict(scores)}
    card = Card.from_dict(said, config=load(folder).config, layers=layers_of(folder))
    write_json(path, said)
    write_card(folder, card, commands=read_commands(folder), treebank=said["treebank"])


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="of the model")
    parser.add_argument("gold", type=Path, metavar="GOLD.conllu", help="a part of a treebank")
    parser.add_argument("--store", action="store_true", help="put the scores on the model's card")
    parser.add_argument("--device", default="auto")


def _work(given: argparse.Namespace) -> None:
    parser = load(given.folder, device=given.device)
    scores = final_scores(parser, list(read_conllu(given.gold)))
    for kind in ("gold_words", "raw_text"):
        if scores[kind]:
            print_table(*score_table(scores[kind], kind.replace("_", " ")))
            print()
    print_table(
        ["temperature of", "calibration error"],
        [[name, f"{error:.4f}"] for name, error in scores["calibration_errors"].items()],
    )
    if given.store:
        _store(given.folder, scores)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    return run_command("final", __doc__, _work, options=_options, arguments=arguments)


if __name__ == "__main__":
    sys.exit(main())
