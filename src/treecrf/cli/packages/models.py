"""`treecrf models`: the models that can be named."""

from typing import TYPE_CHECKING

from treecrf.cli.console import print_json, print_table, say
from treecrf.cli.options import Json

if TYPE_CHECKING:
    from treecrf.parser.packages.listing import ListedModel

__all__ = ["models"]


def models(json: Json = False) -> None:
    """List the models that --model and treecrf.load find by name.

    There is the English model that comes with treecrf, and those installed as packages, which
    `treecrf package` makes. LAS is that of the card, on dev data: on given words, and from raw
    text. Nothing is downloaded.

    \b
    Example:
      treecrf models
    """
    from treecrf.parser.packages.listing import list_models

    found = list_models()
    if json:
        print_json([model.to_dict() for model in found])
        return
    if not found:
        say("there are none: install one, or train one with `treecrf train`")
        return
    columns = ("name", "language", "columns", "LAS", "raw LAS", "size", "licence", "package")
    print_table(columns, [_row(model) for model in found])
    for model in found:
        if model.problem:
            say(f"warning: {model.name} is damaged: {model.problem}", err=True)


def _row(model: "ListedModel") -> list[str]:
    card = model.card
    figures = (card.gold_words.get("LAS"), card.raw_text.get("LAS"))
    return [
        model.name,
        model.language or "-",
        " ".join(name.upper() for name in model.columns) or "-",
        *("-" if figure is None else f"{figure:.2f}" for figure in figures),
        f"{model.size / 1e6:,.1f} MB",
        card.licence or "-",
        f"{model.package} {model.version}",
    ]
