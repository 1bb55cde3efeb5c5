"""The description of the interface at `/docs`: Swagger UI, with no resource from elsewhere."""

from collections.abc import Iterable

from fastapi import APIRouter, FastAPI, Response
from fastapi.responses import HTMLResponse
from fastapi.staticfiles import StaticFiles

from treecrf.serve.page_files import PageFiles

__all__ = ["name_models", "reference_files", "reference_routes"]

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>treecrf: the interface</title>
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="reference"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
"""

_START = """SwaggerUIBundle({url: "openapi.json", dom_id: "#reference", validatorUrl: null});
"""


# Swagger UI has styles in its elements and pictures in its styles; scripts are barred as elsewhere.
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
}


def name_models(app: FastAPI, names: Iterable[str]) -> None:
    """Have the description of the interface say which models there are."""
    request = app.openapi()["components"]["schemas"]["ParseRequest"]
    named = {"type": "string", "enum": list(names)}
    request["properties"]["model"]["anyOf"] = [named, {"type": "null"}]


def reference_routes() -> APIRouter:
    """The page and the script that fills it: a file of its own, as scripts in pages are barred."""
    routes = APIRouter(include_in_schema=False)

    @routes.get("/docs")
    async def page() -> HTMLResponse:
        return HTMLResponse(_PAGE, headers=_HEADERS)

    @routes.get("/docs/start.js")
    async def start() -> Response:
        return Response(_START, media_type="text/javascript")

    return routes


def reference_files() -> StaticFiles:
    """The files of Swagger UI, which the package fastapi-offline carries."""
    return PageFiles(packages=[("fastapi_offline", "static")])
