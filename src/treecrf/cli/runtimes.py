"""What computes the scores of a parser: torch from its weights, or onnxruntime from its graph."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from treecrf.parser import Parser
    from treecrf.parser.options import Products as ProductsName

__all__ = ["OnnxGraph", "Runtime", "load_parser"]

Runtime = Annotated[
    Literal["torch", "onnx"],
    typer.Option(help="What computes scores; onnx: the graph of `treecrf export`, on the CPU."),
]
OnnxGraph = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="The graph of --runtime onnx.",
        show_default="model.onnx in the model's folder",
    ),
]


def load_parser(
    model: str | None,
    *,
    device: str,
    products: "ProductsName | None",
    runtime: Runtime,
    onnx: OnnxGraph,
) -> "Parser":
    """The parser of a model folder by this runtime."""
    if runtime == "torch":
        if onnx is not None:
            raise typer.BadParameter("--onnx names a graph for --runtime onnx")
        from treecrf.parser import load

        return load(model, device=device, products=products)
    if products is not None:
        raise typer.BadParameter("--runtime onnx takes no --products: a graph has its own")
    from treecrf.integrations.onnx.runtime import load_onnx

    return load_onnx(model, graph=onnx, device=device)
