"""The stages of `treecrf train`: the parser, the segmenter, and what finishes the model."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from treecrf import treebank
from treecrf.cli.console import counted, print_best, print_segmenter_epoch, print_training, say

if TYPE_CHECKING:
    import torch

    from treecrf.parser import Training
    from treecrf.parser.config import Config
    from treecrf.parser.training.loop import Epoch
    from treecrf.parser.training.release import Release
    from treecrf.segment import SegmenterConfig
    from treecrf.treebank import Sentence

__all__ = [
    "Files",
    "finish",
    "note_idle",
    "print_release",
    "segmenter_config",
    "split_settings",
    "train_parser",
    "train_segmenter",
    "warn_of_lost_segmenter",
]

_SEGMENTER = "segmenter."


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a training; parser, segmenter and card each read them."""

    train: list[str]
    dev: str

    def check_read_twice(self) -> None:
        """Raise an error about a pipe; a missing file is reported later."""
        for file in (*self.train, self.dev):
            if file == "-" or (Path(file).exists() and not Path(file).is_file()):
                problem = f"reads the data again, and {file} can be read once: make a file of it"
                raise typer.BadParameter(f"--segmenter {problem}")

    def note_if_same(self) -> None:
        """Say that dev data is training data too, where one file is both."""
        paths = map(os.path.realpath, self.train)
        if os.path.isfile(self.dev) and os.path.realpath(self.dev) in paths:
            say(f"note   {self.dev} is training data too, so dev scores say nothing of other text")

    def sentences(self) -> tuple[list["Sentence"], list["Sentence"]]:
        """Those to train on, and the dev sentences."""
        train = [sentence for file in self.train for sentence in treebank.read_conllu(file)]
        return train, list(treebank.read_conllu(self.dev))


def split_settings(settings: Sequence[str]) -> tuple[list[str], list[str]]:
    """Settings of the parser and of the segmenter, the latter without `segmenter.`."""
    given = [item.lstrip() for item in settings]
    own = [item for item in given if not item.startswith(_SEGMENTER)]
    return own, [item.removeprefix(_SEGMENTER) for item in given if item.startswith(_SEGMENTER)]


def segmenter_config(settings: Sequence[str]) -> "SegmenterConfig":
    """Settings of a segmenter; an error says that it is one of these, not of the parser's."""
    from treecrf.segment import SegmenterConfig, SegmentError

    try:
        return SegmenterConfig().changed(SegmenterConfig.parsed(settings))
    except SegmentError as error:
        raise SegmentError(f"of the segmenter: {error}") from None


def note_idle(config: "Config", given: Sequence[str]) -> None:
    """Say which of the given settings change nothing beside the others."""
    for name, use in config.idle(given).items():
        say(f"note: {name} changes nothing: it is for {use}", err=True)


def print_release(release: "Release", language: str) -> None:
    """Say what the card will say: what the README of a treebank tells, and the model's language."""
    language = language or "not known (--set language=CODE)"
    licence = release.licence or "not stated in README.md"
    say(f"data   {release.name}: language {language}, licence {licence}")


def train_parser(
    training: "Training", out: Path, *, device: str, resume: bool, init: str | None
) -> None:
    """Train, and say what it came to; with `init`, against the model that it starts from."""
    from treecrf.parser.device import choose_device
    from treecrf.parser.training.loop import train as run

    if not training.ranks.leads:
        training.device = choose_device(device)  # what came from the leader has its device
        run(training, out, resume=resume)
        return
    start = None
    if init is not None:
        start = training.starting_scores()
        _print_inheritance(training, init)
    with print_training(training, start=start) as printed:
        last = run(training, out, resume=resume)
    if not printed:
        say(_why_ended(training, last))
    print_best(last, out, config=training.config, start=start)


def _print_inheritance(training: "Training", init: str) -> None:
    """Say what the model keeps of the one that it starts from, and what it drops."""
    from treecrf.parser.bundled import model_folder
    from treecrf.parser.folder import load_settings
    from treecrf.parser.training.warm_start import inheritance_note
    from treecrf.segment.segmenter import has_segmenter

    folder = model_folder(init)
    kept = training.segmenter is not None if has_segmenter(folder) else None
    note = inheritance_note(load_settings(folder)[0], training.config, segmenter=kept)
    if note:
        say(f"init   {init}: {note}")


def warn_of_lost_segmenter(training: "Training", out: Path) -> None:
    """Say that the model to be replaced can cut raw text and the new one will not."""
    from treecrf.segment.segmenter import has_segmenter

    if has_segmenter(out) and training.segmenter is None:
        lost = f"the segmenter in {out} goes with the model that is replaced"
        say(f"warning: {lost}; --segmenter trains another", err=True)


def _why_ended(training: "Training", last: "Epoch") -> str:
    """Message for --resume without anything left to do."""
    if last.epoch >= training.config.epochs:
        reason = f"{last.epoch} epochs are done; --set epochs=N goes on up to N"
    elif last.epoch - last.best_epoch >= training.config.patience:
        since = last.epoch - last.best_epoch
        reason = f"no new best in {since} epochs; --set patience=N goes on after as many as N"
    else:
        spent = f"after {last.seconds / 60:.1f} minutes there is no time for another epoch"
        reason = f"{spent}; a larger --max-minutes goes on"
    return f"this training had ended already: {reason}"


def train_segmenter(
    files: Files,
    out: Path,
    config: "SegmenterConfig",
    *,
    device: "torch.device",
    max_minutes: float | None,
) -> None:
    """Train a segmenter on the text of the same files, unless the folder has one already."""
    from treecrf.segment import train_segmenter as train
    from treecrf.segment.segmenter import has_segmenter

    if has_segmenter(out):
        say(f"segmenter: {out} has one already, which stays")
        return
    sentences, dev = files.sentences()
    train(
        sentences,
        dev,
        config,
        max_minutes=max_minutes,
        device=device,
        on_epoch=print_segmenter_epoch,
    ).save(out)


def finish(files: Files, out: Path, release: "Release", *, device: "torch.device") -> None:
    """Calibrate the model, measure it and write its card; say what that came to."""
    from treecrf.parser.packages.card import TEXT
    from treecrf.parser.training.finish import finish_model

    train, dev = files.sentences()
    say(f"calibrating and measuring on {counted(len(dev), 'dev sentence')} ...")
    done = finish_model(out, release, train=train, dev=dev, device=device)
    if done.problem:
        say(f"warning: not calibrated: {done.problem}", err=True)
    for name, fit in done.fits.items():
        say(f"{name:<22}{fit.temperature:g}, -log p {fit.before:.4f} -> {fit.after:.4f}")
    for what, figures in (("words", done.card.gold_words), ("text", done.card.raw_text)):
        if figures:
            shown = ", ".join(f"{name} {figure:.2f}" for name, figure in figures.items())
            say(f"from {what:<6}{shown}")
    say(f"card   {out / TEXT}; `treecrf package {out} ...` makes a package of it")
