"""`treecrf models`: the models that can be named."""

from typing import TYPE_CHECKING

from treecrf.cli.console import print_json, say
from treecrf.cli.options import PlainJson

if TYPE_CHECKING:
    from treecrf.parser.packages.listing import ListedModel

__all__ = ["models"]


def models(json: PlainJson = False) -> None:
    """List the models that --model and treecrf.load find by name.

    There is the English model that comes with treecrf, and those installed as packages, which
    `treecrf package` makes. LAS, in percent, is that of the card, on dev data: on given words, and
    from raw text. Nothing is downloaded.

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
    for model in found:
        first, *others = _lines(model)
        say(first)
        for line in others:
            say(f"    {line}")
        if model.problem:
            say(f"warning: {model.name} is damaged: {model.problem}", err=True)


def _lines(model: "ListedModel") -> list[str]:
    """What there is to say of a model, in lines that fit a terminal of 80 columns."""
    card = model.card
    columns = " ".join(name.upper() for name in model.columns) or "none"
    words, text = (figures.get("LAS") for figures in (card.gold_words, card.raw_text))
    scores = [
        *([] if words is None else [f"{words:.2f} on given words"]),
        *([] if text is None else [f"{text:.2f} from raw text"]),
    ]
    size, licence = f"{model.size / 1e6:,.1f} MB", card.licence or "no licence stated"
    data = card.treebank or "data that it does not state"
    return [
        f"{model.name}  {model.package} {model.version}, {size}, {licence}",
        f"language {model.language or 'not stated'}, trained on {data}",
        f"columns {columns}; {'takes' if model.raw_text else 'no'} raw text",
        f"dev LAS {', '.join(scores) or 'not measured'}",
    ]
