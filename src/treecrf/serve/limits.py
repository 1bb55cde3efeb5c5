"""What a service takes at most, so that no request brings it down or holds up others for long."""

from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds on requests; what is over one of them is refused with a message that names it."""

    body_bytes: int = 1 << 20
    """Of a request as it is sent."""
    request_words: int = 10_000
    """Of all the sentences of a request; text counts as a word for four characters until it is
    cut, and is then counted again."""
    sentence_words: int = 400
    """A sentence takes time and memory with the cube of its length, and while it is parsed
    everybody waits."""
    batch_words: int | None = None
    """Words of short sentences that take as long as what is parsed at once; None suits the device:
    500 on a CPU, 20,000 on a GPU. A sentence that takes longer is parsed alone."""
    queue_words: int | None = None
    """That wait for a model, past which requests are refused with 503; None suits the device:
    12,000 on a CPU, 300,000 on a GPU."""
    receive_seconds: float = 30.0
    """Without a byte of a body that was announced."""
