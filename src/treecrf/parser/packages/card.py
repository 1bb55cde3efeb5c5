"""The card of a model: its data, licence and figures, as card.json and as README.md."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, get_type_hints

from treecrf.descriptions import read_json
from treecrf.parser.config import Config
from treecrf.storage import StorageError, replace_file

__all__ = ["CARD", "TEXT", "Card", "Figures", "read_card", "write_card"]

CARD = "card.json"
TEXT = "README.md"
_MOST = 10**12  # words of a treebank

Figures = Mapping[str, float]
"""Scores in percent by the names that `treecrf evaluate` prints."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What a user should know of a model; empty where nobody has said it."""

    treebank: str = ""
    """Name of the training data, such as it_partut."""
    licence: str = ""
    """Licence of the weights, as an SPDX expression such as CC-BY-SA-4.0."""
    train: Mapping[str, int] = field(default_factory=dict)
    """Numbers of `sentences` and `words` of the training data."""
    dev: Mapping[str, int] = field(default_factory=dict)
    """The same of the data that the figures are of."""
    gold_words: Figures = field(default_factory=dict)
    """Scores on given words."""
    raw_text: Figures = field(default_factory=dict)
    """Scores from raw text, by the rules of CoNLL 2018."""
    stored: str = "float32"
    """Precision that the weights are stored in."""
    model: str = ""
    """Digest of the model that the figures are of."""

    def without_figures(self) -> "Card":
        """The same card of a model that has changed since it was measured."""
        return replace(self, dev={}, gold_words={}, raw_text={})


def write_card(folder: Path, card: Card, *, config: Config, title: str) -> None:
    """Write card.json and README.md into a model folder."""
    data = json.dumps(asdict(card), ensure_ascii=False, indent=1) + "\n"
    replace_file(folder / CARD, data.encode())
    replace_file(folder / TEXT, _text(card, config, title).encode())


def read_card(folder: Path) -> Card:
    """The card of a model folder; what it lacks, or is of another kind, is left empty."""
    try:
        data = read_json(folder / CARD)
    except StorageError:
        return Card()
    kinds = get_type_hints(Card)
    found = {
        name: value
        for name, value in (data.items() if isinstance(data, dict) else ())
        if name in kinds and _fits(value, text=kinds[name] is str)
    }
    return Card(**found)


def _fits(value: Any, *, text: bool) -> bool:
    if text:
        return isinstance(value, str)
    if not isinstance(value, dict):
        return False
    return all(type(item) in (int, float) and 0 <= item <= _MOST for item in value.values())


def _text(card: Card, config: Config, title: str) -> str:
    columns = ", ".join(name.upper() for name in config.predict) or "none"
    size = _counted(card.train)
    lines = [
        f"# {title}",
        "",
        "A model of treecrf: a dependency parser that gives probabilities.",
        "",
        f"- Language: {config.language or 'not stated'}",
        f"- Trained on: {card.treebank or 'not stated'}{f' ({size})' if size else ''}",
        f"- Licence of the weights: {card.licence or 'not stated'}",
        f"- Columns besides the tree: {columns}",
        f"- Trees: {config.loss}, decoded by {config.resolved_decoder}; encoder: {config.encoder}",
        f"- Weights stored as {card.stored}",
        "",
        "## Figures",
        "",
    ]
    if not card.gold_words:
        return "\n".join([*lines, "None: `treecrf package --dev FILE` measures them.", ""])
    lines += [
        f"F1 in percent on dev data ({_counted(card.dev)}), which also chose the best epoch and,",
        "where the model is calibrated, its temperatures: expect somewhat less on other text.",
        "",
        "On given words (`treecrf evaluate`):",
        "",
        *_table(card.gold_words),
        "",
    ]
    if card.raw_text:
        lines += [
            "From raw text (`treecrf evaluate --raw`), which cuts subtypes of relations:",
            "",
            *_table(card.raw_text),
            "",
        ]
    return "\n".join(lines)


def _counted(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {what}" for what, number in numbers.items())


def _table(figures: Figures) -> list[str]:
    rows = [list(figures), ["---:"] * len(figures), [f"{one:.2f}" for one in figures.values()]]
    return [f"| {' | '.join(row)} |" for row in rows]
