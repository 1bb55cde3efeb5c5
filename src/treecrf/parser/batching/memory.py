"""Whether a sentence fits in memory, which is known before anything is computed."""

import os
from collections.abc import Iterable
from pathlib import Path

from treecrf.parser.config import Config
from treecrf.parser.errors import ParserError
from treecrf.treebank import Sentence

__all__ = [
    "FACTORED_CELLS",
    "LONG",
    "TooLongError",
    "available_memory",
    "check_lists",
    "check_training",
    "needed_bytes",
]

FACTORED_CELLS = 1 << 28
"""Sibling scores of a longer sentence are not kept but computed as they are needed: with more cells
`[dependent, head, sibling]` than these, three tensors of them would take over 3 GiB."""

LONG = 300
"""Words of a sentence that may take more memory than there is."""

# Bytes for each cell [dependent, head, sibling] and [dependent, head] of a sentence. Sibling scores
# are there in single precision, divided by the temperature, and as doubles; in training with their
# gradients. Charts are some ten tensors in double precision.
_SIBLING_BYTES = 16
_TRAINED_SIBLING_BYTES = 24
_CHART_BYTES = 128
_FEATURE_BYTES = 4  # of what a head and a sibling leave of a score
# At most three lists of the k best trees for each span: scores and choices.
_LIST_BYTES = 48
# Where the machine does not say how much it has.
_USUAL_BYTES = 16 << 30
_MEMORY_FILE = Path("/proc/meminfo")
# What a container may use and uses: of the second and the first version of control groups.
_GROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


class TooLongError(ParserError):
    """A sentence takes more memory than there is; `row` is the sentence."""

    def __init__(self, row: int, words: int, needed: int, available: int) -> None:
        self.row = row
        self.problem = (
            f"a sentence of {words:,} words needs about {_gibibytes(needed)} of memory, and "
            f"{_gibibytes(available)} are available; split it, or use a machine with more"
        )
        super().__init__(f"sentence {row + 1}: {self.problem}")

    def named(self, where: str, *, forbidden: bool = False) -> ParserError:
        """The same with the name of the sentence in it."""
        return ParserError(f"{where}: {self.problem}")


def needed_bytes(words: int, config: Config, *, training: bool = False) -> int:
    """About how much memory the scores and charts of one sentence take."""
    tokens = words + 1
    needed = _CHART_BYTES * tokens**2
    if config.loss != "crf2o":
        return needed
    features = _FEATURE_BYTES * (config.sibling_size + 1) * tokens**2
    if training:
        return needed + 4 * features + _TRAINED_SIBLING_BYTES * tokens**3
    if tokens**3 > FACTORED_CELLS:
        return needed + features
    return needed + _SIBLING_BYTES * tokens**3


def check_training(
    sentences: Iterable[Sentence], config: Config, *, available: int | None = None
) -> None:
    """An error where a sentence to train on takes more memory than there is."""
    longest = max(sentences, key=len, default=None)
    if longest is None:
        return
    needed = needed_bytes(len(longest), config, training=True)
    available = available_memory() if available is None else available
    if needed > available:
        raise TooLongError(0, len(longest), needed, available).named(longest.where)


def check_lists(
    sentence: Sentence, k: int, *, siblings: bool, available: int | None = None
) -> None:
    """An error where the k best trees take more than half of the memory there is."""
    tokens = len(sentence) + 1
    needed = _LIST_BYTES * k * tokens**2
    if siblings:
        needed += _SIBLING_BYTES * tokens**3
    available = available_memory() if available is None else available
    if needed > available // 2:
        raise ParserError(
            f"{sentence.where}: a list of the {k:,} best trees (--topk) of a sentence of "
            f"{len(sentence):,} words needs about {_gibibytes(needed)}, more than half of the "
            f"{_gibibytes(available)} that are available; ask for fewer, or parse it without"
        )


def available_memory() -> int:
    """Bytes that this process may still take: of the machine, and of its container."""
    found = [_of_machine()]
    for limit, used in _GROUPS:
        try:
            found.append(int(Path(limit).read_text()) - int(Path(used).read_text()))
        except (OSError, ValueError):  # there is none, or "max"
            continue
    return max(0, min(found))


def _of_machine() -> int:
    try:
        for line in _MEMORY_FILE.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return _USUAL_BYTES


def _gibibytes(count: int) -> str:
    return f"{count / 2**30:,.1f} GiB"
