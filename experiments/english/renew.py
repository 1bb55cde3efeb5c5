"""A bundled model with a new segmenter or lemma dictionary, measured again; nothing is trained.

    python -m experiments.english.renew src/treecrf/models/en --dev DEV.conllu --made-by '...'

The lemma dictionary gets the forms that `experiments.english.bundle` adds today; with `--train`, it
is first made anew of the treebank that the model was trained on. The card gets the figures of one
more step, which has what was not there when the model was bundled, and the new figures from raw
text. Figures on a test part stay, as those of the model before.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.report import print_table
from experiments.english.bundle import layers_of, with_more_lemmas
from experiments.english.card import Card, Step, read_commands, write_card
from experiments.english.command import run_command
from experiments.english.scores import gold_word_scores, raw_text_scores
from experiments.errors import ExperimentError
from experiments.files import write_json
from treecrf.parser import folder as checkpoint
from treecrf.parser import load
from treecrf.parser.folder_writer import writing_to
from treecrf.parser.packages.measures import gold_word_figures
from treecrf.parser.training.calibration import calibration_errors
from treecrf.parser.vocab import build_vocabulary
from treecrf.treebank import Sentence, read_conllu

__all__ = ["main", "renew"]

_STEP = "more lemmas"


def renew(
    folder: Path,
    dev: Sequence[Sentence],
    *,
    made_by: Sequence[str],
    train: Sequence[Sentence] = (),
) -> Card:
    """Change the lemma dictionary and the card of a model; `made_by` are more commands."""
    path = folder / "card.json"
    if not path.is_file():
        raise ExperimentError(f"{folder}: no bundled model: it has no card.json")
    with writing_to(folder):
        config, vocabulary, _ = checkpoint.load_settings(folder)
        known = build_vocabulary(train, config).lemmas if train else vocabulary.lemmas
        vocabulary = vocabulary.changed(lemmas=with_more_lemmas(known))
        checkpoint.replace_file(folder / checkpoint.VOCABULARY, vocabulary.to_json().encode())
    said = json.loads(path.read_text())
    parser = load(folder, device="cpu")
    old = Card.from_dict(said, config=config, layers=layers_of(folder))
    step = Step(
        name=_STEP,
        bytes=old.steps[-1].bytes,
        scores=gold_word_scores(parser, dev),
        calibration_errors=calibration_errors(parser, dev),
    )
    card = replace(
        old,
        steps=[*(one for one in old.steps if one.name != _STEP), step],
        gold_words=gold_word_figures(parser, dev),
        raw_text=raw_text_scores(parser, dev) if parser.has_segmenter else None,
        test=old.test and {**old.test, "outdated": True},
    )
    commands = [*read_commands(folder), *made_by]
    write_json(path, said | card.to_dict())
    write_card(folder, card, commands=list(dict.fromkeys(commands)), treebank=said["treebank"])
    return card


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="of the bundled model")
    parser.add_argument("--dev", type=Path, required=True, help="a treebank to score it on")
    parser.add_argument(
        "--train",
        type=Path,
        action="append",
        default=[],
        metavar="TRAIN.conllu",
        help="a treebank whose lemmas are taken; may be given several times",
    )
    parser.add_argument(
        "--made-by",
        action="append",
        default=[],
        metavar="COMMAND",
        help="a command that changed the model, for the card; may be given several times",
    )


def _work(given: argparse.Namespace) -> None:
    train = [sentence for path in given.train for sentence in read_conllu(path)]
    card = renew(given.folder, list(read_conllu(given.dev)), made_by=given.made_by, train=train)
    print_table(["step", "MiB", *card.steps[-1].scores, "ECE"], [s.row for s in card.steps])
    if card.raw_text is not None:
        print_table(["raw text", "F1"], [[k, f"{v:.2f}"] for k, v in card.raw_text.items()])


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    return run_command("renew", __doc__, _work, options=_options, arguments=arguments)


if __name__ == "__main__":
    sys.exit(main())
