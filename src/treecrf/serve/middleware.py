"""Middleware: bounds on bodies, headers for browsers, counts, and names of the service."""

import asyncio
import ipaddress
import re
import time
from collections.abc import Collection
from dataclasses import dataclass

from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from treecrf.serve.errors import ServeError
from treecrf.serve.limits import Limits
from treecrf.serve.metrics import Metrics

__all__ = ["Counting", "KnownHosts", "LimitedBody", "SafeHeaders"]

# The page loads nothing from elsewhere and runs no script that is not a file of ours. Its own
# pictures (`blob:`) become PNG files.
_HEADERS = {
    b"content-security-policy": b"default-src 'self'; img-src 'self' blob:; object-src 'none'; "
    b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
}


@dataclass(eq=False)
class LimitedBody:
    """Refuse bodies that are too long, as early as possible, and clients that stop sending."""

    app: ASGIApp
    limits: Limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope.get("headers", ()))
        if b"content-length" in headers and b"transfer-encoding" in headers:
            # Of two lengths a proxy may take the other one, and smuggle a request past it.
            detail = "the request has both Content-Length and Transfer-Encoding; send one of them"
            refusal = JSONResponse({"detail": detail}, 400, {"Connection": "close"})
            await refusal(scope, receive, send)
            return
        limits = self.limits
        most = limits.process_bytes if scope.get("path") == "/process" else limits.body_bytes
        announced = headers.get(b"content-length", b"0")
        too_long = announced.isdigit() and (len(announced) > 20 or int(announced) > most)
        received = 0
        whole = False

        async def limited() -> Message:
            nonlocal received, whole
            if whole:  # what comes now is that the client has gone
                return await receive()
            if not too_long:
                try:
                    message = await asyncio.wait_for(receive(), limits.receive_seconds)
                except TimeoutError:
                    seconds = f"{limits.receive_seconds:g} seconds"
                    raise ServeError(408, f"nothing of the body came for {seconds}") from None
                received += len(message.get("body", b""))
            if too_long or received > most:
                problem = f"the body has more than {most:,} bytes"
                raise ServeError(413, f"{problem}; send the text in pieces")
            whole = not message.get("more_body", False)
            return message

        await self.app(scope, limited if scope["type"] == "http" else receive, send)


@dataclass(eq=False)
class SafeHeaders:
    """Add security headers for browsers."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                added = [(n, value) for n, value in _HEADERS.items() if n not in present]
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        await self.app(scope, receive, with_headers)


@dataclass(eq=False)
class Counting:
    """Count requests by path and status, and time them."""

    app: ASGIApp
    metrics: Metrics
    paths: frozenset[str]  # others count as one, so that no client can make any number of them

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        status = 500

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, watched)
        finally:
            if scope["type"] == "http":
                path = scope["path"] if scope["path"] in self.paths else "other"
                self.metrics.observe_request(path, status, time.perf_counter() - started)


class KnownHosts:
    """Accept only these host names, as a protection against DNS rebinding.

    An address is no name, and with `addresses` every one is answered to.
    """

    def __init__(self, app: ASGIApp, *, hosts: Collection[str], addresses: bool = False) -> None:
        self.app = app
        self.hosts = frozenset(host.lower() for host in hosts)
        self.addresses = addresses

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            named = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
            if not self._knows(re.sub(r":[0-9]*$", "", named).lower()):
                known = sorted(self.hosts) + ["any address"] * self.addresses
                problem = f"this service is not called {named[:100]!r}; it answers to "
                answer = f"{problem}{', '.join(known)}, and to others with --allow-host\n"
                await PlainTextResponse(answer, 400)(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def _knows(self, host: str) -> bool:
        if host in self.hosts or not self.addresses:
            return host in self.hosts
        try:
            ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))
        except ValueError:
            return False
        return True
