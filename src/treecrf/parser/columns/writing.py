"""Columns with their trees, as the bytes of CoNLL-U."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from treecrf.parser.columns.columns import Columns, as_array, as_strings
from treecrf.parser.columns.kernels import write_words
from treecrf.parser.constraints import Constraints
from treecrf.parser.decoding.names import Named
from treecrf.parser.decoding.sentences import OWN_COMMENTS, TreeNamer, tree_comments
from treecrf.parser.decoding.trees import Trees
from treecrf.treebank.probs import KEYS, with_written_probs
from treecrf.treebank.tokens import COLUMNS

__all__ = ["write_columns"]

_DIGITS = 10_000  # of probabilities: four
_MOST_DIGITS = 20  # of a head, or of a probability and what is around it


def write_columns(
    namer: TreeNamer,
    columns: Columns,
    constraints: Sequence[Constraints],
    trees: Trees,
    *,
    write_probs: bool,
) -> bytes:
    """The sentences with these trees; `TreeNamer.with_trees` and `to_conllu` give the same."""
    named = namer.named(columns, constraints, trees)
    probs = named.probs if write_probs else {}
    # What cannot be written again is an error of `Sentence`.
    if b"\r" in columns.data or any(map(_is_odd, probs.values())):
        parsed = namer.with_trees(columns.sentences(), constraints, trees)
        if write_probs:
            parsed = [with_written_probs(sentence) for sentence in parsed]
        return "".join([sentence.to_conllu() for sentence in parsed]).encode()
    comments = ["".join(f"{line}\n" for line in lines) for lines in tree_comments(trees)]
    return _write(columns, named, comments, {KEYS[name]: _rounded(probs[name]) for name in probs})


def _write(
    columns: Columns, named: Named, comments: list[str], probs: dict[str, npt.NDArray[np.int64]]
) -> bytes:
    replaced = sorted(named.columns, key=COLUMNS.index)
    names: list[str] = []
    numbers = np.empty((len(replaced), len(columns.cells)), np.int64)
    for place, name in enumerate(replaced):
        own, each = named.columns[name]
        numbers[place] = each + len(names)
        names += own
    written, added = as_strings(names), as_strings(comments)
    size = len(columns.data) + len(added[0]) + int(np.diff(written[1]).take(numbers).sum())
    size += len(columns.cells) * (_MOST_DIGITS + sum(len(key) + _MOST_DIGITS for key in probs))
    target = np.empty(size, np.uint8)
    end = write_words(
        as_array(columns.data),
        columns.cells,
        columns.bounds,
        target,
        named.heads,
        np.array([COLUMNS.index(name) for name in replaced]),
        numbers,
        written,
        as_strings(OWN_COMMENTS),
        added,
        as_strings(KEYS.values()),
        as_strings(probs),
        np.array([*probs.values()], np.int64).reshape(len(probs), len(columns.cells)),
    )
    return target[:end].tobytes()


def _is_odd(probs: npt.NDArray[np.float64]) -> bool:
    """Whether these are no probabilities."""
    return not bool(np.all((probs >= 0) & (probs < 2) & ~np.signbit(probs)))


def _rounded(probs: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Probabilities in units of the last digit, rounded as Python writes them."""
    scaled = probs * _DIGITS
    rounded = np.rint(scaled).astype(np.int64)
    # Where rounding might go either way, Python decides by the exact number.
    for place in np.flatnonzero(np.abs(scaled - np.floor(scaled) - 0.5) < 1e-6).tolist():
        rounded[place] = int(f"{probs[place]:.4f}".replace(".", ""))
    return rounded
