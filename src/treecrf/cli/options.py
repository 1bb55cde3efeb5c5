"""Options that several commands have."""

from typing import Annotated

import typer

from treecrf.parser.options import Decoder as DecoderName
from treecrf.parser.options import Products as ProductsName

__all__ = ["Decoder", "Device", "Model", "Products"]

Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        metavar="DIR",
        help="The folder that training wrote; without it, the English model of treecrf.",
    ),
]
Device = Annotated[
    str, typer.Option(metavar="NAME", help="cpu, cuda or cuda:1; auto takes a GPU if there is one.")
]
Decoder = Annotated[
    DecoderName | None,
    typer.Option(help="How to choose the tree; without it, as the model was trained to."),
]
Products = Annotated[
    ProductsName | None,
    typer.Option(
        help="What numbers a CPU multiplies; int8 is faster where it has VNNI, and rounds.",
        show_default="as the model says",
    ),
]
