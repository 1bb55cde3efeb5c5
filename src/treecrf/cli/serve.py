"""`treecrf serve`: a service that parses, for programs and for a page in a browser."""

from typing import Annotated

import typer

from treecrf.cli.options import Device
from treecrf.extras import needs_extra

__all__ = ["serve"]


def serve(
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            "-m",
            metavar="[NAME=]DIR",
            help="A model folder and the name to serve it under, else that of the folder; several "
            "for several models, the default first. Without it, the English model that comes with "
            "treecrf.",
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(help="The address to listen on; 0.0.0.0 is every one of this machine.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes one that is free.")] = 8000,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Another name that the service is called by, behind a proxy. It is needed on the "
            "loopback alone: on any other address every name is answered to.",
        ),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ORIGIN",
            help="Let pages of this origin, such as https://example.org, use /process and /models "
            "from a browser; * lets those of every site.",
        ),
    ] = None,
    queue_words: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Words that may wait for a model; whoever brings more is told to come again.",
            show_default="12,000 on a CPU, 300,000 on a GPU",
        ),
    ] = None,
    request_words: Annotated[
        int, typer.Option(min=1, metavar="N", help="Words of a request to /api/parse at most.")
    ] = 10_000,
    process_words: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Words of a request to /process at most.",
            show_default="as many as fit in its bytes",
        ),
    ] = None,
    sentence_words: Annotated[
        int, typer.Option(min=1, metavar="N", help="Words of a sentence at most.")
    ] = 400,
    word_characters: Annotated[
        int, typer.Option(min=1, metavar="N", help="Characters of a word at most.")
    ] = 1_000,
    body_bytes: Annotated[
        int, typer.Option(min=1, metavar="N", help="Bytes of a request at most.")
    ] = 1 << 20,
    process_bytes: Annotated[
        int, typer.Option(min=1, metavar="N", help="Bytes of a request to /process at most.")
    ] = 5 << 20,
    device: Device = "auto",
) -> None:
    """Serve parsers over HTTP: a page at /, JSON at /api/parse, and the interface of UDPipe."""
    with needs_extra("serve", "a service"):
        from treecrf.serve.app import create_app
        from treecrf.serve.server import load_models, run_server
    from treecrf.serve.limits import Limits

    limits = Limits(
        queue_words=queue_words,
        request_words=request_words,
        sentence_words=sentence_words,
        word_characters=word_characters,
        body_bytes=body_bytes,
        process_words=process_words,
        process_bytes=process_bytes,
    )
    origins = [origin.rstrip("/").lower() for origin in allow_origin or []]
    models = load_models(model or [], device=device)
    app = create_app(models, limits=limits, allowed_origins=origins)
    run_server(app, host=host, port=port, allowed_hosts=allow_host or [])
