"""What a service takes at most, so that no request can hold up or bring down the others."""

from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds on requests; what is over one of them is refused with a message that names it."""

    body_bytes: int = 1 << 20
    """Of a request as it is sent."""
    request_words: int = 20_000
    """Of all the sentences of a request; text counts as a word for four characters."""
    sentence_words: int = 400
    """A sentence takes memory with the cube of its length."""
    queue_words: int = 40_000
    """That wait for a model; past them requests are refused with 503."""
    batch_words: int | None = None
    """That are parsed at once; None suits the device."""
    receive_seconds: float = 30.0
    """Without a byte of a body that was announced."""
