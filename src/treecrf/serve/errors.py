"""The one exception of this layer."""

from starlette.exceptions import HTTPException

__all__ = ["ServeError"]


class ServeError(HTTPException):
    """An answer instead of a result: an HTTP status, and one line for the client."""

    def __init__(self, status: int, detail: str, *, retry_after: int | None = None) -> None:
        # JSON may hold what UTF-8 has no bytes for.
        printable = detail.encode("utf-8", "replace").decode()
        headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
        super().__init__(status, printable, headers)
