"""The process of a service: models loaded, an address listened on, an end without loss."""

import signal
from collections.abc import Mapping, Sequence

import uvicorn
from fastapi import APIRouter

import treecrf
from treecrf.parser import Parser, ParserError
from treecrf.serve.app import create_app
from treecrf.serve.limits import Limits

__all__ = ["load_models", "run_server"]


def load_models(named: Sequence[str], *, device: str) -> dict[str, Parser]:
    """The models of `NAME=DIR` items, the default first."""
    if not named:
        raise ParserError("give a model: --model NAME=DIR, such as --model en=models/english")
    folders: dict[str, str] = {}
    for item in named:
        name, equals, folder = item.partition("=")
        if not (name and equals and folder):
            raise ParserError(f"--model takes NAME=DIR, such as en=models/english, not {item!r}")
        if name in folders:
            raise ParserError(f"two models are called {name!r}; give one of them another name")
        folders[name] = folder
    return {name: treecrf.load(folder, device=device) for name, folder in folders.items()}


def run_server(
    parsers: Mapping[str, Parser],
    *,
    host: str,
    port: int,
    limits: Limits | None = None,
    routers: Sequence[APIRouter] = (),
) -> None:
    """Serve until SIGTERM or Ctrl-C; what is in hand then is finished first."""
    app = create_app(parsers, limits=limits, routers=routers)
    # uvicorn ends in order and then sends itself the signal again, which shall do no more.
    signal.signal(signal.SIGTERM, lambda *_: None)
    uvicorn.run(app, host=host, port=port, log_level="warning")
