"""`treecrf export`: a model for other runtimes."""

from typing import Annotated

import typer

from treecrf.cli.console import say
from treecrf.cli.options import Model
from treecrf.cli.parsing.files import check_target

__all__ = ["export"]


def export(
    model: Model = None,
    onnx: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="The graph to write.",
            show_default="model.onnx in the model's folder, where parse looks",
        ),
    ] = None,
) -> None:
    """Write the network of a parser as an ONNX graph.

    The graph scores sentences of any number and length, and is checked against torch; trees are
    decoded from its scores.

    \b
    Example:
      treecrf export --model model --onnx model.onnx
    """
    check_target(onnx or "-")
    from treecrf.integrations.onnx.export import export_onnx

    path, difference = export_onnx(model, graph=onnx)
    size = path.stat().st_size / 1e6
    say(f"{path}: {size:,.1f} MB; scores differ from torch's by at most {difference:.1e}")
