"""`treecrf calibrate`: fit the temperature of a model to held-out trees."""

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
        bool, typer.Option("--dry-run", help="Print the temperature without writing it.")
    ] = False,
    device: Device = "auto",
) -> None:
    """Fit the temperature of a model, so that its probabilities are as often right as they say.

    The temperature divides the scores before probabilities are computed; the trees stay the same.
    The calibration error is the mean distance between the probability of a head and how often
    heads of that probability are right, over 15 bins.
    """
    from treecrf.parser import ParserError, load
    from treecrf.parser.bundled import BUNDLED, model_folder
    from treecrf.parser.folder import CONFIG, change_settings
    from treecrf.parser.training.calibration import calibration_error, fit_temperature

    folder = model_folder(model)
    if not dry_run and folder.resolve().is_relative_to(BUNDLED.resolve()):
        raise ParserError(f"{model}: comes with treecrf and stays as it is; calibrate a copy of it")
    sentences = list(treebank.read_conllu(file))
    if not sentences:
        raise treebank.TreebankError("there are no sentences to calibrate with", source=file)
    for sentence in sentences:
        if min(sentence.heads) < 0:
            word = sentence.heads.index(-1) + 1
            raise sentence.error(f"word {word} has no head; calibration needs whole trees")
    parser = load(folder, device=device)
    old, before = parser.config.temperature, calibration_error(parser, sentences)
    fit = fit_temperature(parser, sentences)
    parser.config = parser.config.changed({"temperature": fit.temperature})
    after = calibration_error(parser, sentences)
    trees = f"{counted(fit.words, 'word')} of {counted(len(sentences), 'sentence')}"
    say(f"temperature        {old:g} -> {fit.temperature:g}, fitted to {trees}")
    say(f"calibration error  {before:.4f} -> {after:.4f}")
    if dry_run:
        say("nothing is written (--dry-run)")
        return
    change_settings(folder, {"temperature": fit.temperature})
    say(f"the temperature is in {folder / CONFIG}")
