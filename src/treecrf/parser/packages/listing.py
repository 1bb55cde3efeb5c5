"""All models that `treecrf.load` finds by name, with what their settings and cards say."""

from dataclasses import asdict, dataclass
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
        """The same for JSON; scores are percentages, rounded."""
        scores = {"gold_words": self.card.gold_words, "raw_text": self.card.raw_text}
        figures = {
            what: {name: round(figure, 2) for name, figure in of.items()}
            for what, of in scores.items()
        }
        known = asdict(self)
        del known["card"]
        return known | {
            "folder": str(self.folder),
            "columns": list(self.columns),
            "licence": self.card.licence,
            "treebank": self.card.treebank,
            "figures": figures,
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
    files = filter(Path.is_file, folder.rglob("*"))
    return ListedModel(
        name=model.name,
        package=model.package,
        version=model.version,
        folder=folder,
        language=config.language,
        columns=config.predict,
        raw_text=(folder / _SEGMENTER).is_file(),
        size=sum(path.stat().st_size for path in files if "__pycache__" not in path.parts),
        card=read_card(folder),
        problem=problem and f"{problem}; install {model.package} again",
    )
