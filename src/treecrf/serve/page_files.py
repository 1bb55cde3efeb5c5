"""Files for browsers, with 405 instead of 404 where an address is known by another method."""

from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Mount
from starlette.types import Scope

__all__ = ["PageFiles"]

_OWN_METHODS = {"GET", "HEAD"}
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


class PageFiles(StaticFiles):
    """Static files; mounted at `/`, they get whatever no route takes, by its method or at all."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """The file; an error says by which methods there is something at its address."""
        allowed = _methods(scope["app"].routes, scope)
        if not allowed and scope["method"] not in _OWN_METHODS:
            full, _ = self.lookup_path(path)
            allowed = _OWN_METHODS if full else set()
            if not allowed:
                raise HTTPException(404)
        if allowed:
            methods = ", ".join(sorted(allowed))
            detail = f"there is no {scope['method']} here, but {methods}"
            raise HTTPException(405, detail, headers={"Allow": methods})
        return await super().get_response(path, scope)


def _methods(routes: list[BaseRoute], scope: Scope) -> set[str]:
    """The methods by which routes have the address of a request."""
    # Inside a mount the path is what is left; the routes know it whole.
    whole = {**scope, "root_path": scope.get("app_root_path", "")}
    own = [route for route in routes if not isinstance(route, Mount)]
    return {
        method
        for method in _METHODS
        if any(route.matches({**whole, "method": method})[0] == Match.FULL for route in own)
    }
