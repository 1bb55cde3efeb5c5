"""`treecrf calibrate`: fit the temperatures of a model to held-out trees."""

from typing import Annotated

import typer

from treecrf import treebank
from treecrf.cli.console import counted, say
from treecrf.cli.options import Device

__all__ = ["calibrate"]


def calibrate(
    model: Annotated[
        str, typer.Argument(metavar="DIR", help="The model folder, whose config.toml is changed.")
    ],
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Whole trees that the model was not trained on, such as a development set; - is "
            "standard input.",
        ),
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the temperatures without writing them.")
    ] = False,
    device: Device = "auto",
) -> None:
    """Fit a model's probabilities to how often it is right.

    There is a temperature each for heads, relations and universal tags. It divides the scores
    before probabilities are computed; trees and tags stay the same. The calibration error is the
    mean distance between a probability and how often predictions of that probability are right,
    over 15 bins; of relations, it is over the words whose head is right. Temperatures minimise the
    mean -log p, so a calibration error that was low may rise a little.

    \b
    Example:
      treecrf calibrate model dev.conllu --dry-run
    """
    from treecrf.parser import ParserError, load
    from treecrf.parser.bundled import is_packaged, model_folder
    from treecrf.parser.folder import CONFIG, change_settings
    from treecrf.parser.training.calibration import calibration_errors, fit_temperatures

    folder = model_folder(model)
    if not dry_run and is_packaged(folder):
        raise ParserError(
            f"{model}: belongs to an installed package and stays as it is; calibrate a copy of it"
        )
    sentences = list(treebank.read_conllu(file))
    if not sentences:
        raise treebank.TreebankError("there are no sentences to calibrate with", source=file)
    for sentence in sentences:
        if min(sentence.heads) < 0:
            word = sentence.heads.index(-1) + 1
            raise sentence.error(f"word {word} has no head; calibration needs whole trees")
    parser = load(folder, device=device)
    old, before = parser.config, calibration_errors(parser, sentences)
    fits = fit_temperatures(parser, sentences)
    temperatures = {name: fit.temperature for name, fit in fits.items()}
    parser.config = old.changed(temperatures)
    after = calibration_errors(parser, sentences)
    words = counted(fits["temperature"].words, "word")
    say(f"fitted to {words} of {counted(len(sentences), 'sentence')}")
    for name in before:
        change = f"{getattr(old, name):g} -> {getattr(parser.config, name):g}"
        errors = f"calibration error {before[name]:.4f} -> {after[name]:.4f}"
        kept = "" if name in fits else ", kept: these sentences do not tell a better one"
        say(f"{name:<22}{change:<16}{errors}{kept}")
    if dry_run:
        say("nothing is written (--dry-run)")
        return
    change_settings(folder, temperatures)
    say(f"the temperatures are in {folder / CONFIG}")
