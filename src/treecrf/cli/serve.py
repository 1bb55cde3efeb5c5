"""`treecrf serve`: a service that parses, for programs and for a page in a browser."""

from typing import Annotated

import typer

from treecrf.cli.options import Device

__all__ = ["serve"]


def serve(
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            "-m",
            metavar="NAME=DIR",
            help="A model folder and the name to serve it under; give several for several models, "
            "the default first.",
            show_default="the bundled English model",
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(help="The address to listen on; 0.0.0.0 is every one of this machine.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes one that is free.")] = 8000,
    device: Device = "auto",
) -> None:
    """Serve parsers over HTTP: a page at /, JSON at /api/parse, and the interface of UDPipe."""
    from treecrf.serve.server import load_models, run_server

    run_server(load_models(model or [], device=device), host=host, port=port)
