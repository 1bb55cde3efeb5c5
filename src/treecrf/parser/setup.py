"""From files and settings to a training that can begin or go on."""

from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path

import torch
from torch import Tensor

from treecrf.parser import checkpoint
from treecrf.parser.config import ARCHITECTURE, Config
from treecrf.parser.data import prepare
from treecrf.parser.device import choose_device
from treecrf.parser.errors import ParserError
from treecrf.parser.model import Scorer
from treecrf.parser.presets import load_config
from treecrf.parser.pretrained import Pretrained, fetch, load_pretrained
from treecrf.parser.train import Training
from treecrf.parser.vectors import read_vectors
from treecrf.parser.vocab import build_vocabulary
from treecrf.treebank import Sentence, read_conllu
from treecrf.treebank.files import File

__all__ = ["base_config", "set_up"]

# What may change when training goes on: when it ends.
_RESUMABLE = ("epochs", "patience", "decoder")


def base_config(folder: Path, *, init: Path | None, resume: bool) -> Config | None:
    """The settings that training starts from, where a folder gives them: its own, or another's."""
    if resume and (folder / checkpoint.CONFIG).exists():
        return load_config(folder / checkpoint.CONFIG)
    return checkpoint.load_settings(init)[0] if init is not None else None


def set_up(
    folder: Path,
    config: Config,
    *,
    train: Sequence[File],
    dev: File,
    embeddings: File | None = None,
    init: Path | None = None,
    resume: bool = False,
    overwrite: bool = False,
    device: str = "auto",
) -> Training:
    """Read the data and make the model that `train` trains in this folder.

    `init` is another model's folder, whose weights and vocabulary this one starts from; `resume`
    goes on with what is in the folder, which else must have no model in it unless `overwrite`.
    What has begun has its own weights and vectors, so that `init` and `embeddings` are not read.
    """
    _check_folder(folder, config, resume=resume, overwrite=overwrite)
    chosen = choose_device(device)
    prepared = prepare(_read(train), config)
    dev_sentences = list(read_conllu(dev))
    if not any(head >= 0 for sentence in dev_sentences for head in sentence.heads):
        raise ParserError(f"{dev}: no word has a head, so there is no best epoch to choose by it")
    vocabulary = build_vocabulary(prepared.sentences, config)
    vectors: Tensor | None = None
    pretrained: Pretrained | None = None
    weights: dict[str, Tensor] = {}
    begun = resume and (folder / checkpoint.CONFIG).exists()
    if begun:
        _, vocabulary, pretrained = checkpoint.load_settings(folder, weights=False)
        vectors = checkpoint.load_vectors(folder, vocabulary)
    elif init is not None:
        init_config, init_vocabulary, pretrained = checkpoint.load_settings(init)
        _check_architecture(config, init_config, init)
        vocabulary = init_vocabulary.extended(vocabulary)
        vectors = checkpoint.load_vectors(init, vocabulary)
        weights = checkpoint.load_weights(init)
    elif config.encoder == "transformer":
        fetched = fetch(config.transformer, folder / checkpoint.ENCODER)
        weights = {f"reader.transformer.{name}": tensor for name, tensor in fetched.items()}
        pretrained = load_pretrained(folder / checkpoint.ENCODER)
        vocabulary.pieces = pretrained.pieces
    if embeddings is not None and not begun:
        if pretrained is not None:
            raise ParserError("a transformer brings its own vectors: it takes no --embeddings")
        words, vectors = read_vectors(embeddings)
        vocabulary = vocabulary.with_vectors(words)
    torch.manual_seed(config.seed)
    scorer = Scorer(config, vocabulary.sizes, vectors=vectors, pretrained=pretrained)
    scorer.take_weights(weights)
    return Training(
        config=config,
        vocabulary=vocabulary,
        vectors=vectors,
        pretrained=pretrained,
        prepared=prepared,
        dev=dev_sentences,
        scorer=scorer,
        device=chosen,
    )


def _read(files: Sequence[File]) -> Iterable[Sentence]:
    for file in files:
        yield from read_conllu(file)


def _check_folder(folder: Path, config: Config, *, resume: bool, overwrite: bool) -> None:
    """Nothing that is there is lost, and training goes on as it began."""
    if folder.exists() and not folder.is_dir():
        raise ParserError(f"{folder}: not a folder; a model is a folder of several files")
    if resume:
        if (folder / checkpoint.CONFIG).exists():
            saved = load_config(folder / checkpoint.CONFIG)
            changed = [
                setting.name
                for setting in fields(Config)
                if getattr(saved, setting.name) != getattr(config, setting.name)
                and setting.name not in _RESUMABLE
            ]
            if changed:
                more = [f"{len(changed) - 3} more"] if len(changed) > 3 else []
                raise ParserError(
                    f"{folder}: training began with another {' and '.join(changed[:3] + more)}; "
                    f"resumed, only {', '.join(_RESUMABLE)} may change"
                )
        return
    existing = [name for name in checkpoint.FILES if (folder / name).exists()]
    if existing and not overwrite:
        # Settings and a checkpoint come before the first epoch, which makes the model.
        begun = checkpoint.CHECKPOINT in existing and checkpoint.WEIGHTS not in existing
        what = "a training that has made no model yet" if begun else "a model already"
        raise ParserError(
            f"{folder}: there is {what}; --resume goes on with it, --overwrite trains anew"
        )


def _check_architecture(config: Config, init: Config, folder: Path) -> None:
    differing = [name for name in ARCHITECTURE if getattr(config, name) != getattr(init, name)]
    if differing:
        name = differing[0]
        raise ParserError(
            f"{folder}: its weights are for {name} = {getattr(init, name)}, and the settings say "
            f"{getattr(config, name)}; leave it out to take that of the model"
        )
