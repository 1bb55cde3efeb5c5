"""Set up a training from files and settings, new or resumed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from treecrf.parser import folder as checkpoint
from treecrf.parser.bundled import model_folder
from treecrf.parser.config import ARCHITECTURE, Config
from treecrf.parser.device import choose_device
from treecrf.parser.errors import ParserError
from treecrf.parser.estimates import check_training, make_blank
from treecrf.parser.folder_writer import check_is_folder
from treecrf.parser.network.pretrained import Pretrained, fetch, take_encoder_weights
from treecrf.parser.network.readers import PieceReader
from treecrf.parser.network.scorer import Scorer
from treecrf.parser.network.vectors import read_vectors
from treecrf.parser.presets import load_config
from treecrf.parser.training.data import Prepared, prepare
from treecrf.parser.training.loop import Training
from treecrf.parser.training.teachers import check_teachers
from treecrf.parser.training.warm_start import inherited_vocabulary, take_weights
from treecrf.parser.vocab import Vocabulary, build_vocabulary
from treecrf.segment.segmenter import Segmenter, has_segmenter
from treecrf.treebank import Sentence, read_conllu
from treecrf.treebank.files.streams import File
from treecrf.treebank.metrics.counts import punctuation

__all__ = ["merged_config", "set_up"]

# Settings that may change when training is resumed.
_RESUMABLE = ("epochs", "patience", "decoder")
# Settings that calibration changes after training, and that a preset has not.
_CALIBRATED = ("temperature", "relation_temperature", "upos_temperature")


def merged_config(
    folder: Path,
    *,
    source: str | Path | None = None,
    changes: Mapping[str, Any] | None = None,
    init: str | Path | None = None,
    resume: bool = False,
) -> Config:
    """The settings of a training, merged from all sources and then checked.

    Later sources win: the folder that is resumed or started from, the TOML file `source`,
    `changes`. The source may also be a preset, which has every setting; without a source and
    without such a folder it is the preset `default`.
    """
    base = None
    if resume and (folder / checkpoint.CONFIG).exists():
        base = load_config(folder / checkpoint.CONFIG)
        changes = {name: getattr(base, name) for name in _CALIBRATED} | dict(changes or {})
    elif init is not None:
        base = checkpoint.load_settings(model_folder(init))[0]
    if base is not None and source is None:
        return base.changed(changes or {})
    return load_config(source or "default", changes, base=base)


def set_up(
    folder: Path,
    config: Config,
    *,
    train: Sequence[File],
    dev: File,
    embeddings: File | None = None,
    init: str | Path | None = None,
    teachers: Sequence[str] = (),
    keep_segmenter: bool = True,
    resume: bool = False,
    overwrite: bool = False,
    device: str = "auto",
) -> Training:
    """Read the data and make the network that `train` trains in this folder.

    Args:
        folder: The model folder.
        config: The settings.
        train: Files to train on.
        dev: The file that chooses the best epoch.
        embeddings: A file of pretrained word vectors.
        init: Folder or name of a model whose weights, vocabulary and segmenter are the start.
        teachers: Folders or names of models whose probabilities are learnt too, in the mean;
            sentences without any head are learnt from them alone.
        keep_segmenter: Whether the segmenter of `init` is kept.
        resume: Go on with the training in the folder; `init` and `embeddings` are not read then.
        overwrite: Replace a model that is in the folder.
        device: "cpu", "cuda" or "cuda:1"; "auto" takes a GPU if there is one.
    """
    if init is not None and embeddings is not None:
        raise ParserError("a model to start from brings its own word vectors; it takes no others")
    begun = _check_folder(folder, config, resume=resume, overwrite=overwrite)
    chosen = choose_device(device)
    sentences = chain.from_iterable(map(read_conllu, train))
    names = ", ".join(str(getattr(file, "name", file)) for file in train)
    prepared = prepare(sentences, config, taught=bool(teachers), name=names)
    dev_sentences = list(read_conllu(dev))
    if not any(head >= 0 for sentence in dev_sentences for head in sentence.heads):
        raise ParserError(f"{dev}: no word has a head, so there is no best epoch to choose by it")
    _check_punctuation(dev_sentences, config, name=f"{dev}")
    made = partial(
        _training, prepared=prepared, dev=dev_sentences, device=chosen, teachers=teachers
    )
    if begun:  # the weights come with the checkpoint
        saved, vocabulary, pretrained = checkpoint.load_settings(folder, weights=False)
        config = config.changed({"predict": saved.predict})
        vectors = checkpoint.load_vectors(folder, vocabulary)
        return made(vocabulary, vectors, pretrained, config=config)
    known = () if init is None else checkpoint.load_settings(model_folder(init))[0].predict
    config = _with_columns(config, prepared, known)
    check_teachers(teachers, config)
    make = partial(made, config=config)
    found = build_vocabulary(prepared.sentences, config)
    if init is not None:
        return _inherited(make, found, config, model_folder(init), keep_segmenter=keep_segmenter)
    return _new(make, found, config, embeddings=embeddings)


def _with_columns(config: Config, prepared: Prepared, known: Sequence[str]) -> Config:
    """The settings without columns that neither the data nor the model that is the start has."""
    prepared.missing = [
        name
        for name in config.predict
        if name not in known and all(set(one.column(name)) <= {"_"} for one in prepared.sentences)
    ]
    return config.changed({"predict": [n for n in config.predict if n not in prepared.missing]})


def _inherited(
    make: Callable[..., Training],
    found: Vocabulary,
    config: Config,
    init: Path,
    *,
    keep_segmenter: bool,
) -> Training:
    """Start from the weights, the vocabulary and the segmenter of another model."""
    old, known, pretrained = checkpoint.load_settings(init)
    _check_architecture(config, old, init)
    vocabulary = inherited_vocabulary(known, found, old=old, new=config)
    training = make(vocabulary, checkpoint.load_vectors(init, vocabulary), pretrained)
    weights = checkpoint.load_weights(init)
    try:
        take_weights(training.scorer, weights, relations=known.relations, old=old, new=config)
    except ParserError as error:
        raise ParserError(f"{init}: {error}") from None
    if keep_segmenter and has_segmenter(init):
        training.segmenter = Segmenter.load(init)
        training.segmenter.end_scorer = None  # it knows the states of the encoder as it was
    return training


def _new(
    make: Callable[..., Training], found: Vocabulary, config: Config, *, embeddings: File | None
) -> Training:
    """Start from the transformer or the word vectors that the user names, if any."""
    if config.encoder == "transformer":
        if embeddings is not None:
            raise ParserError("a transformer brings its own vectors: it takes no --embeddings")
        pretrained, weights = fetch(config.transformer)
        found.pieces = pretrained.pieces
        training = make(found, None, pretrained)
        assert isinstance(training.scorer.reader, PieceReader)
        take_encoder_weights(training.scorer.reader.transformer, weights, config.transformer)
        return training
    if config.transformer:
        raise ParserError(
            f"transformer is {config.transformer}, which the encoder {config.encoder} does not "
            "read with: --set encoder=transformer does"
        )
    if embeddings is None:
        return make(found, None, None)
    words, vectors = read_vectors(embeddings)
    return make(found.with_vectors(words), vectors, None)


def _training(
    vocabulary: Vocabulary,
    vectors: Tensor | None,
    pretrained: Pretrained | None,
    *,
    config: Config,
    prepared: Prepared,
    dev: Sequence[Sentence],
    device: torch.device,
    teachers: Sequence[str],
) -> Training:
    """A training of a network with random weights, which are made only if they fit in memory."""
    if not vocabulary.relations:
        raise ParserError("no word of the training data has a head and a relation")
    make = partial(Scorer, config, vocabulary.sizes, vectors=vectors, pretrained=pretrained)
    check_training(make_blank(make), prepared.sentences, config, device)
    torch.manual_seed(config.seed)
    return Training(
        config=config,
        vocabulary=vocabulary,
        vectors=vectors,
        pretrained=pretrained,
        prepared=prepared,
        dev=dev,
        scorer=make(),
        device=device,
        teachers=teachers,
    )


def _check_punctuation(dev: Sequence[Sentence], config: Config, *, name: str) -> None:
    """Raise an error if no word is punctuation by its tag; by its form that may be so."""
    if config.punct == "tag" and not any(any(punctuation(one, "tag")) for one in dev):
        raise ParserError(
            f"{name}: by its tags no word is punctuation; punct = unicode goes by the form of words"
        )


def _check_folder(folder: Path, config: Config, *, resume: bool, overwrite: bool) -> bool:
    """Whether to resume; raises an error if something in the folder would be lost."""
    check_is_folder(folder)
    if config.epochs < 1:
        raise ParserError("epochs is 0, and without an epoch there is no model: --set epochs=N")
    if not overwrite:
        checkpoint.check_whole(folder)
    if resume:
        if not (folder / checkpoint.CONFIG).exists():
            return False
        saved = load_config(folder / checkpoint.CONFIG)
        names = [setting.name for setting in fields(Config) if setting.name not in _RESUMABLE]
        changed = [name for name in names if getattr(saved, name) != getattr(config, name)]
        if set(saved.predict) <= set(config.predict):  # the data does not have the others
            changed = [name for name in changed if name != "predict"]
        if changed:
            more = [f"{len(changed) - 3} more"] if len(changed) > 3 else []
            raise ParserError(
                f"{folder}: training began with another {' and '.join(changed[:3] + more)}; "
                f"resumed, only {', '.join(_RESUMABLE)} may change"
            )
        return True
    encoder, settings = folder / checkpoint.ENCODER, folder / checkpoint.CONFIG
    if config.encoder == "transformer" and encoder.exists() and not settings.exists():
        raise ParserError(
            f"{encoder}: the model would have its encoder there; choose another --out"
        )
    existing = [name for name in checkpoint.FILES if (folder / name).exists()]
    if existing and not overwrite:
        # Settings and a checkpoint come before the first epoch, which makes the model.
        begun = checkpoint.CHECKPOINT in existing and checkpoint.WEIGHTS not in existing
        what = "a training that has made no model yet" if begun else "a model already"
        raise ParserError(
            f"{folder}: there is {what}; --resume goes on with it, --overwrite trains anew"
        )
    return False


def _check_architecture(config: Config, init: Config, folder: Path) -> None:
    differing = [name for name in ARCHITECTURE if getattr(config, name) != getattr(init, name)]
    if differing:
        name = differing[0]
        raise ParserError(
            f"{folder}: its weights are for {name} = {getattr(init, name)}, and the settings say "
            f"{getattr(config, name)}; leave it out to take that of the model"
        )
