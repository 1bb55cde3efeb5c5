"""`treecrf serve`: a service that parses, for programs and for a page in a browser."""

from typing import Annotated

import typer

from treecrf.cli.options import Device, Host, Port, number
from treecrf.extras import needs_extra

__all__ = ["serve"]


def serve(
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            "-m",
            metavar="[NAME=]DIR",
            help="A model folder, and the name to serve it under instead of the folder's; repeat "
            "for several models, the default first. Without it, the English model of treecrf.",
        ),
    ] = None,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Another host name of the service, behind a proxy. On other addresses than the "
            "loopback, requests to every name are answered unless this is given.",
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
        number(
            "Most words that wait for a model; requests beyond that are told to retry.",
            unset="12,000 on a CPU, 300,000 on a GPU",
        ),
    ] = None,
    request_words: Annotated[int, number("Most words of a request to /api/parse.")] = 10_000,
    process_words: Annotated[
        int | None,
        number("Most words of a request to /process.", unset="as many as fit in its bytes"),
    ] = None,
    sentence_words: Annotated[int, number("Most words of a sentence.")] = 400,
    word_characters: Annotated[int, number("Most characters of a word.")] = 1_000,
    body_bytes: Annotated[int, number("Most bytes of a request.")] = 1 << 20,
    process_bytes: Annotated[int, number("Most bytes of a request to /process.")] = 5 << 20,
    device: Device = "auto",
) -> None:
    """Serve parsers over HTTP, to programs and in a web page.

    The page is at /, JSON at /api/parse, and UDPipe's REST interface at /process; /docs describes
    them. It runs until Ctrl-C.

    \b
    Example:
      treecrf serve --port 8080
    """
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
