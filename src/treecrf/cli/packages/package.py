"""`treecrf package`: a wheel of a model, to hand to others."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from treecrf import treebank
from treecrf.cli.console import print_table, say
from treecrf.cli.options import Device

if TYPE_CHECKING:
    from treecrf.parser.packages.build import Package
    from treecrf.parser.packages.card import Card

__all__ = ["package"]


def package(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="The model folder, or the name of a model.")
    ],
    name: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Name of the package: treecrf-model-fr makes a model called fr.",
        ),
    ],
    version: Annotated[str, typer.Option(metavar="N.N.N", help="Version of the package.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="The folder for the wheel.")
    ] = Path("dist"),
    weights: Annotated[
        Literal["float32", "float16", "int8"],
        typer.Option(help="Precision of the weights in the wheel: as trained, half, or bytes."),
    ] = "float32",
    dev: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="A treebank to measure the figures of the card on, before and after rounding.",
            show_default="figures of the model's card, if weights are as there",
        ),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(metavar="CODE", help="Language of the model.", show_default="as it says"),
    ] = None,
    licence: Annotated[
        str | None,
        typer.Option(
            "--licence",
            "--license",
            metavar="SPDX",
            help="Licence of the weights, such as MIT.",
            show_default="as the model's card says",
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            "--data",
            metavar="TEXT",
            help="Name of the training data.",
            show_default="as the model's card says",
        ),
    ] = None,
    device: Device = "auto",
) -> None:
    """Make a wheel of a model, which pip installs.

    It has a card of the model's data, licence and figures. Once it is installed, `--model fr` and
    `treecrf.load("fr")` find the model of the package treecrf-model-fr. Weights are rounded to
    --weights, and are computed with in single precision all the same.

    \b
    Example:
      treecrf package model --name treecrf-model-tiny --version 1.0.0
    """
    from treecrf.parser.packages.build import build_package

    sentences = None
    if dev is not None:
        sentences = list(treebank.read_conllu(dev))
        if not any(head >= 0 for sentence in sentences for head in sentence.heads):
            problem = "no word has a head, so there is nothing to measure"
            raise treebank.TreebankError(problem, source=dev)
    made = build_package(
        model,
        name=name,
        version=version,
        folder=out,
        stored=weights,
        dev=sentences,
        language=language,
        licence=licence,
        treebank=data,
        device=device,
    )
    _print(made)


def _print(made: "Package") -> None:
    card = made.card
    before, after = (f"{size / 1e6:,.1f} MB" for size in made.sizes)
    say(f"weights {card.stored}: {before} -> {after}")
    _print_figures(made.before, card)
    rounded = "" if card.stored == "float32" else " of the rounded weights"
    wanted = {
        "--dev": not card.gold_words and f"figures{rounded}",
        "--licence": not card.licence and "licence",
        "--data": not card.treebank and "training data",
    }
    if missing := {option: what for option, what in wanted.items() if what}:
        say(f"note: the card states no {', no '.join(missing.values())}: {', '.join(missing)}")
    say(f"{made.path}: {made.path.stat().st_size / 1e6:,.1f} MB")
    say(f'install it with pip; then --model {made.name} and treecrf.load("{made.name}") find it')


def _print_figures(before: "Card | None", card: "Card") -> None:
    """Print dev scores, if there are some; with those before rounding where they were measured."""
    if not card.gold_words:
        return
    cards = {"": card} if before is None else {" before": before, " after": card}
    columns = [
        (f"{what}{when}", figures)
        for what, kind in (("words", "gold_words"), ("text", "raw_text"))
        for when, figures in ((when, getattr(one, kind)) for when, one in cards.items())
        if figures
    ]
    names = dict.fromkeys(name for _, figures in columns for name in figures)
    rows = [
        [name, *(f"{figures[name]:.2f}" if name in figures else "" for _, figures in columns)]
        for name in names
    ]
    print_table(("dev F1 from", *(title for title, _ in columns)), rows)
