"""The process of a service: loading models, listening, graceful shutdown."""

import contextlib
import gc
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
            known = "DIR or NAME=DIR, such as en=models/english"
            raise ParserError(f"--model takes {known}, not {item!r}")
        if name in folders:
            raise ParserError(f"two models are called {name!r}; give one of them another name")
        folders[name] = folder
    return {name: treecrf.load(folder, device=device) for name, folder in folders.items()}


def run_server(
    app: ASGIApp,
    *,
    host: str,
    port: int,
    allowed_hosts: Collection[str] = (),
    private: bool = False,
) -> None:
    """Serve until SIGTERM, SIGHUP or Ctrl-C, then finish the accepted requests.

    On the loopback it answers to names of the loopback and to `allowed_hosts`. On other addresses
    it answers to every name, unless there are `allowed_hosts` or it is `private`: then to addresses
    and to `allowed_hosts`.
    """
    listener = _listen(host, port)
    address, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    on_loopback = _is_loopback(address)  # of the socket: many a name may mean the loopback
    if on_loopback or private or allowed_hosts:
        own = f"[{address}]" if ":" in address else address
        hosts = {"localhost", "127.0.0.1", "[::1]", *allowed_hosts}
        # The name of the loopback that was asked for; 127.1 and the like are addresses.
        hosts |= {shown, own} if on_loopback else set()
        app = KnownHosts(app, hosts=hosts, addresses=not on_loopback)
    _allow_connections()
    config = uvicorn.Config(
        app, log_level="warning", timeout_graceful_shutdown=_GRACE_SECONDS, server_header=False
    )
    server = _Server(config)
    server.said = f"serving at http://{shown}:{port}"

    def end(*_: object) -> None:
        """Ask the server to end; once it has ended it sends itself the signal again."""
        if not server.started:
            sys.exit(0)
        server.should_exit = True

    on_end_signals(end)
    # Models and libraries stay: to look through them for garbage holds everybody up, and a request
    # of many small lists makes that happen several times.
    gc.freeze()
    server.run(sockets=[listener])


class _Server(uvicorn.Server):
    """Server that prints its address once it can be stopped by a signal."""

    said = ""

    async def main_loop(self) -> None:
        print(self.said, file=sys.stderr, flush=True)
        await super().main_loop()


def _listen(host: str, port: int) -> socket.socket:
    """Bind before anything is printed, so that an address in use is a one-line error."""
    if not host.strip():
        known = "an address such as 127.0.0.1, or 0.0.0.0 for every one of this machine"
        raise ParserError(f"--host is empty; give {known}")
    try:
        # The first address of a name; of those of both kinds, the older kind.
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, *_, address = min(found, key=lambda item: item[0] != socket.AF_INET)
        return socket.create_server(address[:2], family=family, backlog=2048)
    except (OSError, UnicodeError) as error:
        number = getattr(error, "errno", 0) or 0  # below 0 it is about finding the host
        reason = os.strerror(number) if number > 0 else getattr(error, "strerror", "") or str(error)
        hint = "choose another with --host and --port"
        raise ParserError(f"{host}:{port}: {reason}; {hint}") from None


def _is_loopback(address: str) -> bool:
    """Whether only this machine reaches an address that a socket has."""
    found = ipaddress.ip_address(address.partition("%")[0])
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return (mapped or found).is_loopback


def _allow_connections() -> None:
    """Raise the limit of open files: idle connections must not use it up."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows, where there is no such limit
        return
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
