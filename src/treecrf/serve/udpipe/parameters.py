"""Parameters of requests in the ways that clients of UDPipe send them: a query or a form."""

import logging
from urllib.parse import parse_qsl

from python_multipart import create_form_parser
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import Field, File
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from treecrf.serve.errors import ServeError

__all__ = ["read_parameters"]

# There are seven, and clients may have some of their own.
_MOST_PARAMETERS = 50

# What is wrong with a form is told to the client; no client writes to our log.
logging.getLogger("python_multipart").setLevel(logging.CRITICAL)


async def read_parameters(request: Request) -> dict[str, str]:
    """Read the parameters of the body and of the query; the body takes precedence."""
    query = request.url.query
    body = await request.body()  # of whatever method: one that is too long is refused here
    return await run_in_threadpool(_read, request, query, body)


def _read(request: Request, query: str, body: bytes) -> dict[str, str]:
    parameters = _decoded_pairs(query, "the query")
    if request.method == "POST":
        kind = request.headers.get("content-type", "")
        name = kind.partition(";")[0].strip().lower()
        if name == "multipart/form-data":
            parameters |= _multipart(kind, body)
        elif name == "application/x-www-form-urlencoded":
            parameters |= _decoded_pairs(_text(body, "the form"), "the form")
        elif body:
            known = "multipart/form-data or application/x-www-form-urlencoded"
            given = repr(kind[:100] or "a body of no type")
            raise ServeError(400, f"send parameters as {known}, not as {given}")
    return parameters


def _decoded_pairs(text: str, what: str) -> dict[str, str]:
    if text.count("&") >= _MOST_PARAMETERS:
        raise _too_many(what)
    try:
        return dict(parse_qsl(text, keep_blank_values=True, errors="strict"))
    except ValueError:
        raise ServeError(400, f"{what} is not URL-encoded UTF-8") from None


def _multipart(kind: str, body: bytes) -> dict[str, str]:
    """Parse a multipart form in linear time."""
    parts: list[tuple[bytes, bytes]] = []

    def add(part: Field | File) -> None:
        if len(parts) == _MOST_PARAMETERS:
            raise _too_many("the body")
        if isinstance(part, File):
            part.file_object.seek(0)
        value = part.file_object.read() if isinstance(part, File) else part.value
        parts.append((part.field_name or b"", value or b""))

    # Some clients end lines with one byte, where the standard has two.
    has_short_ends = b"\r\n" not in body
    whole = body.replace(b"\n", b"\r\n") if has_short_ends else body
    in_memory = {"MAX_MEMORY_FILE_SIZE": len(whole) + 1}
    try:
        parser = create_form_parser({"Content-Type": kind.encode()}, add, add, in_memory)
        parser.write(whole)
        parser.finalize()
    except FormParserError as error:
        raise ServeError(400, f"the body is not multipart/form-data: {error}") from None
    if not parts:
        raise ServeError(400, "the body is not multipart/form-data as its headers say")
    found = {}
    for name, value in parts:
        key = _text(name, "the name of a part")
        text = _text(value, f"the part {key[:100]!r}")
        found[key] = text.replace("\r\n", "\n") if has_short_ends else text
    return found


def _too_many(what: str) -> ServeError:
    return ServeError(400, f"{what} has more than {_MOST_PARAMETERS} parameters")


def _text(content: bytes, what: str) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"{what} is not UTF-8: {error.reason} at byte {error.start:,}"
        raise ServeError(400, problem) from None
