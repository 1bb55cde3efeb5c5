"""Files for browsers, and the description of the interface at `/docs` (Swagger UI)."""

from collections.abc import Iterable
from pathlib import Path

from fastapi import FastAPI, Response
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match, Mount
from starlette.types import Scope

__all__ = ["STATIC", "PageFiles", "add_reference"]

STATIC = Path(__file__).parent / "static"
"""The pages: plain files, served as they are."""

_OWN_METHODS = {"GET", "HEAD"}
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


class PageFiles(StaticFiles):
    """Static files; mounted at `/`, they get whatever no route takes, by its method or at all."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Serve a file; errors name the methods that the path supports."""
        allowed = _methods(scope["app"].routes, scope)
        if not allowed and scope["method"] not in _OWN_METHODS:
            if not self.lookup_path(path)[0]:
                raise HTTPException(404)
            allowed = _OWN_METHODS
        if allowed:
            methods = ", ".join(sorted(allowed))
            detail = f"there is no {scope['method']} here, but {methods}"
            raise HTTPException(405, detail, headers={"Allow": methods})
        return await super().get_response(path, scope)


def _methods(routes: list[BaseRoute], scope: Scope) -> set[str]:
    # Inside a mount the path is what is left; the routes know it whole.
    whole = {**scope, "root_path": scope.get("app_root_path", "")}
    own = [route for route in routes if not isinstance(route, Mount)]
    return {
        method
        for method in _METHODS
        if any(route.matches({**whole, "method": method})[0] == Match.FULL for route in own)
    }


# Swagger UI has styles in its elements and pictures in its styles.
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
}


def add_reference(app: FastAPI, models: Iterable[str]) -> None:
    """Add the description of all routes so far, which names the models."""
    request = app.openapi()["components"]["schemas"]["ParseRequest"]
    named = {"type": "string", "enum": list(models)}
    request["properties"]["model"]["anyOf"] = [named, {"type": "null"}]

    @app.get("/docs", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(STATIC / "docs.html", headers=_HEADERS)

    app.mount("/docs", PageFiles(packages=[("fastapi_offline", "static")]))
