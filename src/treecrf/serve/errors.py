"""The one exception of this layer."""

__all__ = ["ServeError"]


class ServeError(ValueError):
    """An answer instead of a result: an HTTP status, and one line for the client."""

    def __init__(self, status: int, detail: str, *, retry_after: int | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.retry_after = retry_after

    @property
    def headers(self) -> dict[str, str]:
        return {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}
