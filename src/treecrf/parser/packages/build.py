"""A wheel of a model folder: its files, perhaps with smaller weights, and its card."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import treecrf
from treecrf.nn.compact import Stored, compacted
from treecrf.parser import folder as checkpoint
from treecrf.parser.api import Parser, load
from treecrf.parser.bundled import model_folder
from treecrf.parser.config import Config
from treecrf.parser.packages.card import TEXT, Card, read_card, write_card
from treecrf.parser.packages.installed import GROUP
from treecrf.parser.packages.measures import counts, gold_word_figures, raw_text_figures
from treecrf.parser.packages.names import (
    check_licence,
    check_version,
    import_name,
    model_name,
    normalised,
)
from treecrf.parser.packages.wheel import write_wheel
from treecrf.segment.segmenter import Segmenter, has_segmenter
from treecrf.storage import save_tensors
from treecrf.treebank import Sentence

__all__ = ["Package", "build_package"]

_INIT = '"""A model of treecrf: `treecrf.load({name!r})`."""\n'
_LICENCES = "LICEN[CS]E*"
_SUMMARY = "A dependency parser of treecrf"


@dataclass(frozen=True, slots=True)
class Package:
    """A wheel that was written, and what storing its weights has cost."""

    path: Path
    name: str
    """The name that `treecrf.load` takes once it is installed."""
    card: Card
    sizes: tuple[int, int]
    """Bytes of the files with weights, before and in the wheel."""
    before: Card | None
    """The card with scores of the model as it was; None unless rounded weights were measured."""


def build_package(
    model: str | Path,
    *,
    name: str,
    version: str,
    folder: Path,
    stored: Stored = "float32",
    dev: Sequence[Sentence] | None = None,
    language: str | None = None,
    licence: str | None = None,
    treebank: str | None = None,
    device: str = "auto",
) -> Package:
    """Write a wheel of a model into a folder.

    Args:
        model: Folder or name of the model.
        name: Name of the package, such as treecrf-model-fr; the model is `fr` then.
        version: Version of the package.
        folder: Where the wheel goes; it is made if it is not there.
        stored: Precision of the weights in the wheel.
        dev: Sentences to measure the figures of the card on; else they are those of the model's
            card, if they are of the same weights.
        language: Code of the language; else the settings say it.
        licence: SPDX expression for the weights; else the model's card says it.
        treebank: Name of the training data; else the model's card says it.
        device: Where the figures are measured.
    """
    name = normalised(name)
    check_version(version)
    source = model_folder(model)
    card = _known(source, stored, licence=licence, treebank=treebank)
    if card.licence:
        check_licence(card.licence)
    changes = {} if language is None else {"language": language}
    with TemporaryDirectory() as temporary:
        made = Path(temporary) / import_name(name)
        made.mkdir()
        config, extra = _write_model(source, made, changes, stored=stored)
        before = None
        if dev is not None:
            if stored != "float32":
                before = _measured(card, load(source, device=device), dev)
            card = _measured(card, load(made, device=device), dev)
        card = replace(card, stored=stored, model=checkpoint.model_digest(made))
        write_card(made, card, config=config, title=f"{name} {version}")
        folder.mkdir(parents=True, exist_ok=True)
        init = _INIT.format(name=model_name(name)).encode()
        files: dict[str, Path | bytes] = {f"{made.name}/__init__.py": init}
        for path in sorted(path for path in made.rglob("*") if path.is_file()):
            files[path.relative_to(made.parent).as_posix()] = path
        licences = sorted(path for path in source.glob(_LICENCES) if path.is_file())
        path = write_wheel(
            folder,
            name=name,
            version=version,
            metadata=_metadata(
                name, version, card=card, text=made / TEXT, licences=licences, extra=extra
            ),
            entry_points={GROUP: {model_name(name): import_name(name)}},
            files=files,
            licences=licences,
        )
        sizes = _weight_bytes(source), _weight_bytes(made)
    return Package(path, model_name(name), card, sizes, before)


def _known(source: Path, stored: Stored, *, licence: str | None, treebank: str | None) -> Card:
    """What the model's card says, without figures of other weights than the wheel will have."""
    card = read_card(source)
    changed = card.model and card.model != checkpoint.model_digest(source)
    if changed or stored not in ("float32", card.stored):
        card = card.without_figures()
    return replace(
        card,
        licence=card.licence if licence is None else licence,
        treebank=card.treebank if treebank is None else treebank,
    )


def _measured(card: Card, parser: Parser, dev: Sequence[Sentence]) -> Card:
    return replace(
        card,
        dev=counts(dev),
        gold_words=gold_word_figures(parser, dev),
        raw_text=raw_text_figures(parser, dev),
    )


def _write_model(
    source: Path, made: Path, changes: dict[str, str], *, stored: Stored
) -> tuple[Config, str]:
    """Write the model with its weights stored so, and without paths of this machine.

    Returns its settings, and the extra of treecrf that it needs.
    """
    config, vocabulary, pretrained = checkpoint.load_settings(source)
    config = config.changed({"transformer": Path(config.transformer).name, **changes})
    vectors = checkpoint.load_vectors(source, vocabulary)
    checkpoint.save_settings(made, config, vocabulary, vectors=None, pretrained=pretrained)
    if vectors is not None:
        kept = compacted({"vectors": vectors}, stored)
        save_tensors(made / checkpoint.VECTORS, kept, {"format": checkpoint.VECTORS_FORM})
    checkpoint.save_weights(made, compacted(checkpoint.load_weights(source), stored))
    if has_segmenter(source):
        Segmenter.load(source).save(made, half=stored != "float32")
    return config, "" if pretrained is None or pretrained.native else "[transformers]"


def _weight_bytes(folder: Path) -> int:
    """Bytes of the files with weights, without the checkpoint of a training, which no wheel has."""
    files = set(folder.glob("*.safetensors")) - {folder / checkpoint.CHECKPOINT}
    return sum(path.stat().st_size for path in files)


def _metadata(
    name: str, version: str, *, card: Card, text: Path, licences: Sequence[Path], extra: str
) -> str:
    own = treecrf.__version__
    known = own.partition("+")[0]
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {name}",
        f"Version: {version}",
        f"Summary: {_SUMMARY}",
        *([f"License-Expression: {card.licence}"] if card.licence else []),
        *(f"License-File: {path.name}" for path in licences),
        "Keywords: treecrf,dependency parsing",
        "Classifier: Topic :: Text Processing :: Linguistic",
        "Requires-Python: >=3.11",
        f"Requires-Dist: treecrf{extra}{f'>={known}' if known != '0' else ''}",
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join([*lines, "", text.read_text(encoding="utf-8")])
