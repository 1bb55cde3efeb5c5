"""After training: a model is calibrated on the dev data, measured, and given its card."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from treecrf.parser.api import load
from treecrf.parser.errors import ParserError
from treecrf.parser.folder import change_settings, model_digest
from treecrf.parser.packages.card import Card, write_card
from treecrf.parser.packages.measures import counts, gold_word_figures, raw_text_figures
from treecrf.parser.training.calibration import Fit, fit_temperatures
from treecrf.parser.training.release import Release
from treecrf.treebank import Sentence

__all__ = ["Finished", "finish_model"]


@dataclass(frozen=True, slots=True)
class Finished:
    """Temperatures by the names of their settings, or why there are none; and the card."""

    fits: Mapping[str, Fit]
    problem: str
    card: Card


def finish_model(
    folder: Path,
    release: Release,
    *,
    train: Sequence[Sentence],
    dev: Sequence[Sentence],
    device: torch.device,
) -> Finished:
    """Fit the temperatures of a trained model, measure it, and write its card.

    All of it is on the dev data. Done again, it gives the same.
    """
    fits: Mapping[str, Fit] = {}
    problem = ""
    try:
        fits = fit_temperatures(load(folder, device=str(device)), dev)
    except ParserError as error:  # without them the probabilities are those of training
        problem = str(error)
    change_settings(folder, {name: fit.temperature for name, fit in fits.items()})
    parser = load(folder, device=str(device))
    card = Card(
        treebank=release.name,
        licence=release.licence,
        train=counts(train),
        dev=counts(dev),
        gold_words=gold_word_figures(parser, dev),
        raw_text=raw_text_figures(parser, dev),
        model=model_digest(folder),
    )
    write_card(folder, card, config=parser.config, title=f"A model of {release.name}")
    return Finished(fits, problem, card)
