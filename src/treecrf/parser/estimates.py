"""Memory estimates, made before anything is computed; loads torch only for networks."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

from treecrf.memory import available_memory, available_on, gibibytes
from treecrf.parser.config import Config
from treecrf.parser.errors import ParserError
from treecrf.treebank import Sentence

if TYPE_CHECKING:
    import torch
    from torch import nn

__all__ = [
    "FACTORED_CELLS",
    "LONG",
    "TooLongError",
    "check_lists",
    "check_training",
    "make_blank",
    "needed_bytes",
]

Module = TypeVar("Module", bound="nn.Module")

FACTORED_CELLS = 1 << 28
"""Most cells `[dependent, head, sibling]` of sibling scores in memory; three tensors of them take
3 GiB. The scores of a longer sentence are computed as they are needed."""

LONG = 300
"""Words from which on memory is checked before a sentence is parsed."""

# Weights, gradients, and Adam's two moments.
_TRAINING_COPIES = 4
# Bytes of a cell [dependent, head, sibling] or [dependent, head]. Sibling scores exist in single
# precision, divided by the temperature, and as doubles; in training also as gradients. Charts are
# some ten tensors in double precision.
_SIBLING_BYTES = 16
_TRAINED_SIBLING_BYTES = 24
_CHART_BYTES = 128
_GRANDPARENT_CHART_BYTES = 120  # three charts of scaled numbers, their flows and marginals
_FEATURE_BYTES = 4  # of the product of a head and a sibling, or of a number in a head's form
_BLOCK_BYTES = 1 << 30  # the sibling scores of a block of widths, and the terms made from them
_LIST_BYTES = 48  # at most three lists of the k best trees for each span: scores and choices


class TooLongError(ParserError):
    """A sentence needs more memory than is available; `row` is the sentence."""

    def __init__(self, row: int, words: int, needed: int, available: int) -> None:
        self.row = row
        self.problem = (
            f"a sentence of {words:,} words needs about {gibibytes(needed)} of memory, and "
            f"{gibibytes(available)} are available; split it, or use a machine with more"
        )
        super().__init__(f"sentence {row + 1}: {self.problem}")

    def named(self, where: str, *, forbidden: bool = False) -> ParserError:
        """The same with the name of the sentence in it."""
        return ParserError(f"{where}: {self.problem}")


def make_blank(make: Callable[[], Module], where: str = "") -> Module:
    """The network that `make` gives, without numbers; an error if this machine cannot hold it."""
    from treecrf.nn.blank import TooLargeError, blank_weights

    try:
        with blank_weights():
            return make()
    except TooLargeError as error:
        raise ParserError(f"{where}{error}: choose smaller sizes in the settings") from None


def needed_bytes(words: int, config: Config, *, training: bool = False) -> int:
    """Estimated memory of the scores and charts of one sentence."""
    tokens = words + 1
    needed = _CHART_BYTES * tokens**2
    if config.uses_grandparents(tokens):
        needed += (_SIBLING_BYTES + _GRANDPARENT_CHART_BYTES) * tokens**3
    if not config.scores_siblings:
        return needed
    features = config.pair_size + 1
    if training:
        pairs = _FEATURE_BYTES * features * tokens**2
        return needed + 4 * pairs + _TRAINED_SIBLING_BYTES * tokens**3
    if tokens**3 > FACTORED_CELLS:
        return needed + _BLOCK_BYTES + _FEATURE_BYTES * features**2 * tokens
    return needed + _SIBLING_BYTES * tokens**3


def check_training(
    network: "nn.Module",
    sentences: Iterable[Sentence],
    config: Config,
    device: "torch.device",
    *,
    available: int | None = None,
) -> None:
    """Raise an error if training takes more memory than is available now.

    It takes some copies of the weights, which need not exist yet, and on a CPU also the scores of
    the longest sentence.
    """
    copies = _TRAINING_COPIES + (config.average > 0)
    weights = copies * sum(parameter.nbytes for parameter in network.parameters())
    if available is None:
        available = available_on(device)
    if weights > available:
        raise ParserError(
            f"training needs at least {gibibytes(weights)} of memory ({copies} times the weights), "
            f"and {gibibytes(available)} are available on {device}: choose smaller sizes in the "
            "settings"
        )
    longest = max(sentences, key=len, default=None)
    if longest is None or device.type != "cpu":
        return
    needed, left = needed_bytes(len(longest), config, training=True), available - weights
    if needed > left:
        raise TooLongError(0, len(longest), needed, left).named(longest.where)


def check_lists(
    sentence: Sentence, k: int, config: Config, *, available: int | None = None
) -> None:
    """Raise an error if the k best trees take more than half of the available memory."""
    tokens = len(sentence) + 1
    needed = _LIST_BYTES * k * tokens**2
    if config.scores_siblings:
        needed += _SIBLING_BYTES * tokens**3
    if config.uses_grandparents(tokens):  # lists for each grandparent of a span
        needed += (_SIBLING_BYTES + _LIST_BYTES * k) * tokens**3
    available = available_memory() if available is None else available
    if needed > available // 2:
        raise ParserError(
            f"{sentence.where}: a list of the {k:,} best trees (--topk) of a sentence of "
            f"{len(sentence):,} words needs about {gibibytes(needed)}, more than half of the "
            f"{gibibytes(available)} that are available; ask for fewer, or parse it without"
        )
