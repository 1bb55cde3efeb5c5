"""Parameters of requests in the ways that clients of UDPipe send them: a query or a form."""

import email.parser
import email.policy
from urllib.parse import parse_qsl

from starlette.requests import Request

from treecrf.serve.errors import ServeError

__all__ = ["read_parameters"]


async def read_parameters(request: Request) -> dict[str, str]:
    """Those of the address and, before them, those of the body."""
    parameters = _decoded_pairs(request.url.query, "the query")
    if request.method == "POST":
        body = await request.body()
        kind = request.headers.get("content-type", "")
        if kind.startswith("multipart/form-data"):
            parameters |= _multipart(kind, body)
        elif kind.startswith("application/x-www-form-urlencoded"):
            parameters |= _decoded_pairs(_text(body, "the form"), "the form")
        elif body:
            raise ServeError(
                400,
                "send parameters as multipart/form-data or application/x-www-form-urlencoded, not "
                f"as {kind[:100] or 'a body of no type'!r}",
            )
    return parameters


def _decoded_pairs(text: str, what: str) -> dict[str, str]:
    try:
        return dict(parse_qsl(text, keep_blank_values=True, errors="strict"))
    except ValueError:
        raise ServeError(400, f"{what} is not URL-encoded UTF-8") from None


def _multipart(kind: str, body: bytes) -> dict[str, str]:
    """The parts of a form, with line breaks of either kind between them."""
    parser = email.parser.BytesFeedParser(policy=email.policy.HTTP)
    try:
        parser.feed(b"Content-Type: " + kind.encode("latin-1") + b"\r\n\r\n")
        parser.feed(body)
        message = parser.close()
        parts = message.get_payload() if message.is_multipart() else []
        found: dict[str, str] = {}
        for part in parts:
            name = part.get_param("name", header="Content-Disposition")  # type: ignore[union-attr]
            content = part.get_payload(decode=True)  # type: ignore[union-attr]
            if isinstance(name, str) and isinstance(content, bytes):
                found[name] = _text(content, f"the part {name[:100]!r}")
    except ServeError:
        raise
    except Exception:  # whatever the parser of mails makes of bytes that are none
        found = {}
    if not found:
        raise ServeError(400, "the body is not multipart/form-data as its headers say")
    return found


def _text(content: bytes, what: str) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ServeError(
            400, f"{what} is not UTF-8: {error.reason} at byte {error.start:,}"
        ) from None
