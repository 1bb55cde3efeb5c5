"""The process of a service: models loaded, an address listened on, an end without loss."""

import contextlib
import ipaddress
import os
import socket
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

import treecrf
from treecrf.parser import Parser, ParserError
from treecrf.parser.bundled import DEFAULT
from treecrf.serve.middleware import KnownHosts
from treecrf.signals import on_end_signals

__all__ = ["load_models", "run_server"]

# What may still be in hand when the process is told to end, before it ends all the same.
_GRACE_SECONDS = 60


def load_models(named: Sequence[str], *, device: str) -> dict[str, Parser]:
    """The models of `NAME=DIR` or `DIR` items, the default first; without any, the English one."""
    if not named:
        return {DEFAULT: treecrf.load(device=device)}
    folders: dict[str, str] = {}
    for item in named:
        name, equals, folder = item.partition("=")
        if not equals:
            name, folder = Path(item).resolve().name, item
        if not (name and folder):
            raise ParserError(
                f"--model takes DIR or NAME=DIR, such as en=models/english, not {item!r}"
            )
        if name in folders:
            raise ParserError(f"two models are called {name!r}; give one of them another name")
        folders[name] = folder
    return {name: treecrf.load(folder, device=device) for name, folder in folders.items()}


def run_server(
    app: ASGIApp, *, host: str, port: int, allowed_hosts: Collection[str] | None = None
) -> None:
    """Serve until SIGTERM, SIGHUP or Ctrl-C; what is in hand then is finished first.

    On the loopback it answers to names of the loopback and to `allowed_hosts`, which are None where
    the user has no way to give any.
    """
    listener = _listen(host, port)
    port = listener.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    if _is_loopback(host):
        hosts = {"localhost", "127.0.0.1", "[::1]", shown.lower(), *(allowed_hosts or ())}
        advice = "" if allowed_hosts is None else ", and to others with --allow-host"
        app = KnownHosts(app, hosts=hosts, advice=advice)
    _allow_connections()
    config = uvicorn.Config(
        app, log_level="warning", timeout_graceful_shutdown=_GRACE_SECONDS, server_header=False
    )
    server = _Server(config, said=f"serving at http://{shown}:{port}")

    def end(*_: object) -> None:
        """Ask the server to end; once it has ended it sends itself the signal again."""
        if not server.started:
            sys.exit(0)
        server.should_exit = True

    on_end_signals(end)
    server.run(sockets=[listener])


class _Server(uvicorn.Server):
    """A server that says so when it serves: whoever reads that may end it at once."""

    def __init__(self, config: uvicorn.Config, *, said: str) -> None:
        super().__init__(config)
        self.said = said

    async def main_loop(self) -> None:
        print(self.said, file=sys.stderr, flush=True)
        await super().main_loop()


def _listen(host: str, port: int) -> socket.socket:
    """Listen before anything is said, so that an address that is taken is a clean error."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        number = error.errno or 0  # below 0 it is about finding the host
        reason = os.strerror(number) if number > 0 else error.strerror or str(error)
        raise ParserError(
            f"{host}:{port}: {reason}; choose another with --host and --port"
        ) from None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _allow_connections() -> None:
    """As many open connections as the system lets us have: idle ones must not use them up."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows, where there is no such limit
        return
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
