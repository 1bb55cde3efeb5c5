"""Bounds on requests, so that none brings a service down or holds up others for long."""

from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds on requests; larger ones are refused with a message that names the bound."""

    body_bytes: int = 1 << 20
    """Of a request as it is sent, to `/process` excepted."""
    process_bytes: int = 5 << 20
    """Of a request to `/process`: a file of 4 MiB, and the form around it."""
    word_characters: int = 1_000
    """A longer word is none of any language, and costs like a text."""
    request_words: int = 10_000
    """Of all the sentences of a request to `/api/parse`, whose answer is in memory as a whole; text
    counts as a word for four characters until it is cut, and is then counted again, and long words
    count as one for eight characters."""
    process_words: int | None = None
    """Of a request to `/process`, which is parsed in parts; None is as many as fit."""
    sentence_words: int = 400
    """A sentence takes time and memory with the cube of its length, and while it is parsed
    everybody waits."""
    batch_words: int | None = None
    """Words of short sentences that take as long as what is parsed at once; None suits the device:
    500 on a CPU, 20,000 on a GPU. A sentence that takes longer is parsed alone."""
    queue_words: int | None = None
    """That wait for a model, past which requests are refused with 503; None suits the device:
    12,000 on a CPU, 300,000 on a GPU. A request of more than half of it takes up an eighth."""
    receive_seconds: float = 30.0
    """Without a byte of a body that was announced."""
