"""Middleware: bounds on bodies, headers for browsers, counts, and names of the service."""

import asyncio
import ipaddress
import re
import time
from collections.abc import Collection

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from treecrf.serve.limits import Limits
from treecrf.serve.metrics import Metrics

__all__ = ["Counting", "KnownHosts", "LimitedBody", "SafeHeaders"]

# The page loads nothing from elsewhere and runs no script that is not a file of ours.
_HEADERS = {
    b"content-security-policy": b"default-src 'self'; object-src 'none'; base-uri 'none'; "
    b"form-action 'none'; frame-ancestors 'none'",
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
}


class LimitedBody:
    """Refuses bodies that are too long as soon as that is known, and clients that stop sending."""

    def __init__(self, app: ASGIApp, *, limits: Limits) -> None:
        self.app = app
        self.limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path, limits = scope["path"], self.limits
        most = limits.process_bytes if path == "/process" else limits.body_bytes
        headers = dict(scope["headers"])
        if b"content-length" in headers and b"transfer-encoding" in headers:
            await _two_lengths()(scope, receive, send)
            return
        announced = headers.get(b"content-length", b"0")
        too_long = announced.isdigit() and (len(announced) > 20 or int(announced) > most)
        received = 0
        whole = False

        async def limited() -> Message:
            nonlocal received, whole
            if whole:  # what comes now is that the client has gone
                return await receive()
            if too_long:
                raise _too_long(most)
            try:
                message = await asyncio.wait_for(receive(), limits.receive_seconds)
            except TimeoutError:
                raise HTTPException(
                    408, f"nothing of the body came for {limits.receive_seconds:g} seconds"
                ) from None
            received += len(message.get("body", b""))
            if received > most:
                raise _too_long(most)
            whole = not message.get("more_body", False)
            return message

        await self.app(scope, limited, send)


def _two_lengths() -> JSONResponse:
    """A refusal: of two lengths a proxy may take the other one, and smuggle a request past it."""
    detail = "the request has both Content-Length and Transfer-Encoding; send one of them"
    return JSONResponse({"detail": detail}, 400, {"Connection": "close"})


def _too_long(most: int) -> HTTPException:
    return HTTPException(413, f"the body has more than {most:,} bytes; send the text in pieces")


class SafeHeaders:
    """Tells browsers what the pages of this service may do."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                added = [(n, value) for n, value in _HEADERS.items() if n not in present]
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        await self.app(scope, receive, with_headers)


class Counting:
    """Counts requests by path and status, and times them."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics, paths: frozenset[str]) -> None:
        self.app = app
        self.metrics = metrics
        self.paths = paths  # others count as one, so that no client can make any number of them

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
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
            path = scope["path"] if scope["path"] in self.paths else "other"
            self.metrics.observe_request(path, status, time.perf_counter() - started)


class KnownHosts:
    """Answers to these names only: no page from elsewhere can reach the service by one of its own.

    A page whose host name is made to point at this machine would otherwise pass for one of ours. An
    address is no name, and with `addresses` every one is answered to.
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
                problem = (
                    f"this service is not called {named[:100]!r}; it answers to "
                    f"{', '.join(known)}, and to others with --allow-host\n"
                )
                await PlainTextResponse(problem, 400)(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def _knows(self, host: str) -> bool:
        return host in self.hosts or (self.addresses and _is_address(host))


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True
