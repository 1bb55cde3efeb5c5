"""The application: routes, pages and error handlers."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exception_handlers import http_exception_handler
from fastapi.exceptions import RequestValidationError
from fastapi.responses import PlainTextResponse

import treecrf
from treecrf.parser import Parser
from treecrf.serve.errors import ServeError
from treecrf.serve.limits import Limits
from treecrf.serve.metrics import Metrics
from treecrf.serve.middleware import Counting, LimitedBody, SafeHeaders
from treecrf.serve.pages import STATIC, PageFiles, add_reference
from treecrf.serve.parse.routes import parsing_routes
from treecrf.serve.registry import Registry
from treecrf.serve.udpipe.routes import udpipe_routes

__all__ = ["create_app"]

_PATHS = frozenset(
    {
        "/api/parse",
        "/api/models",
        "/api/glossary",
        "/process",
        "/models",
        "/healthz",
        "/metrics",
    }
)


def create_app(
    parsers: Mapping[str, Parser],
    *,
    limits: Limits | None = None,
    routers: Sequence[APIRouter] = (),
    allowed_origins: Collection[str] = (),
) -> FastAPI:
    """The service for these models by name; the first is the default.

    `routers` come before the files of the page. Pages of `allowed_origins` may use UDPipe's
    interface, any page if there is a `*` among them. At shutdown what is in hand is finished.
    """
    limits = limits or Limits()
    metrics = Metrics()
    registry = Registry(parsers, limits=limits, metrics=metrics)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        with ExitStack() as running:
            for batcher in registry.batchers.values():
                batcher.start()
                running.callback(batcher.close)
            yield

    app = FastAPI(
        title="treecrf",
        version=treecrf.__version__,
        description="Dependency trees, and how probable each head is.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )
    app.state.registry = registry
    app.add_middleware(LimitedBody, limits=limits)
    app.add_middleware(SafeHeaders)
    app.add_middleware(Counting, metrics=metrics, paths=_PATHS)
    app.add_exception_handler(RequestValidationError, _answer_invalid)
    app.add_exception_handler(400, _answer_unread)
    app.include_router(parsing_routes(registry, limits))
    app.include_router(udpipe_routes(registry, limits, allowed_origins=allowed_origins))
    _add_health(app, registry, metrics)
    for router in routers:
        app.include_router(router)
    add_reference(app, registry.batchers)
    app.mount("/", PageFiles(directory=STATIC, html=True))
    return app


def _add_health(app: FastAPI, registry: Registry, metrics: Metrics) -> None:
    @app.get("/healthz", response_class=PlainTextResponse, tags=["health"])
    async def healthz() -> str:
        """Whether the service answers."""
        return "ok\n"

    @app.get("/metrics", response_class=PlainTextResponse, tags=["health"])
    async def metrics_text() -> Response:
        """Counts and times, for Prometheus."""
        waiting = {name: batcher.queued_words for name, batcher in registry.batchers.items()}
        return Response(metrics.text(waiting), media_type="text/plain; version=0.0.4")


async def _answer_invalid(request: Request, error: Any) -> Response:
    """Answer an invalid request with one line about its first error."""
    first = error.errors()[0]
    place = ".".join(str(part)[:100] for part in first["loc"] if part != "body")
    problem = first["msg"].removeprefix("Value error, ")
    if first["type"] == "json_invalid":
        detail = f"the body is no JSON (character {place}: {first['ctx']['error']})"
    elif not place and first["type"] in ("missing", "model_attributes_type"):
        kind = request.headers.get("content-type", "")
        is_json = kind.partition(";")[0].strip().lower() == "application/json"
        found = (
            "is no object" if is_json else f"has {f'the type {kind[:100]}' if kind else 'no type'}"
        )
        detail = (
            "send a JSON object as the body, and the header `Content-Type: application/json`; this "
            f"{found}"
        )
    elif first["type"] == "extra_forbidden":
        detail = f"{place}: there is no such field; /docs lists all of them"
    else:
        detail = f"{place}: {problem}" if place else problem
    return await http_exception_handler(request, ServeError(422, detail))


async def _answer_unread(request: Request, error: Any) -> Response:
    """Answer a request whose body fastapi cannot read with one line that says why."""
    if isinstance(error.__cause__, UnicodeDecodeError):
        hint = "for Latin-1: iconv -f latin1 -t utf-8 FILE > NEW"
        error = ServeError(400, f"the body is not UTF-8 ({error.__cause__.reason}); {hint}")
    elif isinstance(error.__cause__, RecursionError):
        error = ServeError(400, "the body has values that are nested too deeply")
    return await http_exception_handler(request, error)
