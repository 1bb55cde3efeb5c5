"""Whether the k best trees of a sentence fit in memory, which is known before they are computed."""

import os

from treecrf.parser.errors import ParserError
from treecrf.treebank import Sentence

__all__ = ["check_memory"]

# Sibling scores are there in single precision, divided by the temperature, and as doubles.
_SIBLING_BYTES = 16
# At most three lists for each span: scores and choices.
_LIST_BYTES = 48
# Where the machine does not say how much it has.
_USUAL_BYTES = 16 << 30


def check_memory(sentence: Sentence, k: int, *, siblings: bool) -> None:
    """An error where the k best trees take more than half of the memory there is."""
    tokens = len(sentence) + 1
    needed = _LIST_BYTES * k * tokens**2
    if siblings:
        needed += _SIBLING_BYTES * tokens**3
    memory = _memory()
    if needed > memory // 2:
        raise ParserError(
            f"{sentence.where}: a list of the {k:,} best trees (--topk) of a sentence of "
            f"{len(sentence):,} words needs about {needed / 2**30:,.0f} GiB, more than half of the "
            f"{memory / 2**30:,.0f} GiB that this machine has; ask for fewer, or parse it without"
        )


def _memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return _USUAL_BYTES
