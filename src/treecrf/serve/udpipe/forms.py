"""Parameters of requests in the ways that clients of UDPipe send them: a query or a form."""

import email.message
import email.parser
import re
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from treecrf.serve.errors import ServeError

__all__ = ["read_parameters"]

# There are seven, and clients may have some of their own.
_MOST_PARAMETERS = 50
_HEADER_BYTES = 4096  # of a part of a form
_BLANK_LINE = re.compile(rb"\r?\n\r?\n")


async def read_parameters(request: Request) -> dict[str, str]:
    """Those of the address and, before them, those of the body."""
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
            raise ServeError(
                400,
                "send parameters as multipart/form-data or application/x-www-form-urlencoded, not "
                f"as {kind[:100] or 'a body of no type'!r}",
            )
    return parameters


def _decoded_pairs(text: str, what: str) -> dict[str, str]:
    if text.count("&") >= _MOST_PARAMETERS:
        raise _too_many(what)
    try:
        return dict(parse_qsl(text, keep_blank_values=True, errors="strict"))
    except ValueError:
        raise ServeError(400, f"{what} is not URL-encoded UTF-8") from None


def _multipart(kind: str, body: bytes) -> dict[str, str]:
    """The parts of a form, with line breaks of either kind between them."""
    found: dict[str, str] = {}
    for part in _parts(kind, body):
        name, content = _named(part)
        if name is not None:
            found[name] = _text(content, f"the part {name[:100]!r}")
    if not found:
        raise ServeError(400, "the body is not multipart/form-data as its headers say")
    return found


def _named(part: bytes) -> tuple[str | None, bytes]:
    """The name of a part, None where it has none, and its content."""
    head, *rest = _BLANK_LINE.split(part, maxsplit=1)
    if len(head) > _HEADER_BYTES:
        raise ServeError(400, "the headers of a part of the body are too long")
    try:
        message = email.parser.BytesHeaderParser().parsebytes(head.strip())
        message.set_payload(b"".join(rest).decode("ascii", "surrogateescape"))
        name = message.get_param("name", header="Content-Disposition")
        content = message.get_payload(decode=True)
    except Exception:  # whatever the parser of mails makes of bytes that are none
        return None, b""
    return (name, content) if isinstance(name, str) and isinstance(content, bytes) else (None, b"")


def _parts(kind: str, body: bytes) -> list[bytes]:
    """What is between the boundaries; none where there are no boundaries.

    Parts of parts are not looked for: the parser of mails would, for as long as it takes.
    """
    mail = email.message.Message()
    mail["Content-Type"] = kind
    boundary = mail.get_boundary()
    if not boundary:
        return []
    mark = re.escape(b"--" + boundary.encode("latin-1", "replace"))
    # What follows the boundary: two hyphens after the last one, else nothing but the end of a line.
    between = re.compile(rb"(?:\A|\r?\n)" + mark + rb"(?=(?:--)?[ \t]*(?:\r?\n|\Z))")
    pieces = between.split(body, maxsplit=_MOST_PARAMETERS + 1)[1:]
    if len(pieces) > _MOST_PARAMETERS:
        raise _too_many("the body")
    return [piece for piece in pieces if not piece.startswith(b"--")]


def _too_many(what: str) -> ServeError:
    return ServeError(400, f"{what} has more than {_MOST_PARAMETERS} parameters")


def _text(content: bytes, what: str) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ServeError(
            400, f"{what} is not UTF-8: {error.reason} at byte {error.start:,}"
        ) from None
