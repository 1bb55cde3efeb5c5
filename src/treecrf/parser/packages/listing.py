"""All models that `treecrf.load` finds by name, with what their settings and cards say."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import treecrf
from treecrf.parser.bundled import BUNDLED, bundled_names
from treecrf.parser.config import Config
from treecrf.parser.errors import ParserError
from treecrf.parser.packages.card import Card, read_card
from treecrf.parser.packages.installed import InstalledModel, installed_models
from treecrf.parser.presets import load_config

__all__ = ["ListedModel", "list_models"]

# Modules that define these names load torch, which a list does not need.
_CONFIG = "config.toml"
_NEEDED = (_CONFIG, "vocab.json", "model*.safetensors")
_SEGMENTER = "segmenter.json"


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model that can be named, and what is known of it."""

    name: str
    package: str
    version: str
    folder: Path
    language: str
    columns: tuple[str, ...]
    raw_text: bool
    """Whether it can cut raw text."""
    size: int
    """Bytes of its files."""
    card: Card
    problem: str = ""
    """Why it cannot be loaded; empty if nothing is missing."""

    def to_dict(self) -> dict[str, Any]:
        """The same for JSON; scores are percentages."""
        return {
            "name": self.name,
            "package": self.package,
            "version": self.version,
            "folder": str(self.folder),
            "language": self.language,
            "columns": list(self.columns),
            "raw_text": self.raw_text,
            "size": self.size,
            "problem": self.problem,
            "licence": self.card.licence,
            "treebank": self.card.treebank,
            "figures": {
                "gold_words": dict(self.card.gold_words),
                "raw_text": dict(self.card.raw_text),
            },
        }


def list_models() -> list[ListedModel]:
    """The models of this environment by name; an installed one is before a bundled one."""
    own = (
        InstalledModel(name, BUNDLED / name, "treecrf", treecrf.__version__)
        for name in bundled_names()
    )
    listed = [_listed(one) for one in (*installed_models(), *own)]
    return sorted(listed, key=lambda one: one.name)


def _listed(model: InstalledModel) -> ListedModel:
    folder = model.folder
    config, problem = Config(predict=()), ""
    try:
        config = load_config(folder / _CONFIG)
    except (ParserError, OSError) as error:
        problem = str(error)
    missing = [name for name in _NEEDED if not any(folder.glob(name))]
    if missing:
        problem = f"{folder}: it has no {' and no '.join(missing)}"
    return ListedModel(
        name=model.name,
        package=model.package,
        version=model.version,
        folder=folder,
        language=config.language,
        columns=config.predict,
        raw_text=(folder / _SEGMENTER).is_file(),
        size=sum(path.stat().st_size for path in _files(folder)),
        card=read_card(folder),
        problem=problem and f"{problem}; install {model.package} again",
    )


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path
