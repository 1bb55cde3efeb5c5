"""Exact draws of spanning trees, compiled with Numba.

Wilson's algorithm draws a tree by loop-erased random walks from words to heads, in microseconds,
unless words that point at each other keep the walk for ever. The cycles that a run erases, and so
its number of steps, are independent of its tree (Propp and Wilson, 1998). So a run that takes too
many steps can be given up without a bias, and the tree is drawn word by word from exact conditional
probabilities instead.

Single root: the root symbol's child is drawn from its marginals first. Each draw has a random
stream of its own, so the trees do not depend on threads.
"""

import numpy as np
import numpy.typing as npt

from treecrf.ops.constants import ZERO
from treecrf.ops.nonprojective.matrix_tree import copy, eliminate, fill_shares, load_weights
from treecrf.ops.nonprojective.widefloat import Floats, Integers, Numbers, part
from treecrf.ops.numba.compiling import compiled, kernel

Stream = npt.NDArray[np.uint64]
"""State of a random stream, one number."""

UNDECIDED = -1


@compiled
def uniform(stream: Stream) -> float:
    """Next number of a stream, in [0, 1): SplitMix64."""
    stream[0] += np.uint64(0x9E3779B97F4A7C15)
    bits = stream[0]
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    bits ^= bits >> np.uint64(31)
    return np.float64(bits >> np.uint64(11)) * 2.0**-53


@compiled
def draw(cumulative: Floats, stream: Stream) -> int:
    """Draw an index by its weight, from the running sums of the weights."""
    count = cumulative.shape[0]
    low = count
    # A product rounded up to the sum itself is drawn again; from NaN nothing can be drawn.
    while low == count and cumulative[-1] > 0:
        point = uniform(stream) * cumulative[-1]
        low, high = 0, count
        while low < high:
            middle = (low + high) // 2
            if cumulative[middle] > point:
                high = middle
            else:
                low = middle + 1
    return min(low, count - 1)


@compiled
def cumulative_weights(arc_scores: Floats, words: int, multiroot: bool) -> Floats:
    """Running sums over heads `[dependent, head]`, by row; the root has weight 0 if drawn apart."""
    first = 0 if multiroot else 1
    sums = np.zeros((words + 1, words + 1))
    for word in range(1, words + 1):
        scores = arc_scores[word, : words + 1]
        largest = scores[first:].max()
        if largest > -np.inf:
            weights = np.exp(scores[first:] - largest)
            sums[word, first:] = np.cumsum(weights)
    return sums


@compiled
def draw_by_walks(sums: Floats, heads: Integers, stream: Stream) -> bool:
    """Fill the undecided `heads [words + 1]` by Wilson's algorithm; False when it takes long."""
    tokens = heads.shape[0]
    reached = heads != UNDECIDED
    # Drawing word by word takes O(n^4).
    steps_left = 100 * tokens + tokens**3
    chosen = heads.copy()
    for start in range(1, tokens):
        word = start
        while not reached[word]:
            chosen[word] = draw(sums[word], stream)
            word = chosen[word]
            steps_left -= 1
            if steps_left < 0:
                return False
        word = start
        while not reached[word]:
            reached[word] = True
            word = chosen[word]
    heads[:] = chosen
    return True


@compiled
def draw_word_by_word(given: Numbers, heads: Integers, stream: Stream) -> None:
    """Fill the undecided `heads [words + 1]` in order, each given those before."""
    words = heads.shape[0] - 1
    weights = given[0].copy(), given[1].copy()
    order = np.arange(words + 1)
    work = np.empty_like(weights[0]), np.empty_like(weights[1])
    escapes = np.ones(words + 1), np.zeros(words + 1, dtype=np.int64)
    shares = np.empty(words + 1)
    for word in range(words):
        if heads[word + 1] != UNDECIDED:
            keep_one_arc(part(weights, word, 0, words + 1), heads[word + 1])
    for word in range(words):
        if heads[word + 1] != UNDECIDED:
            continue
        # e(h) is the probability that the walk from h ends before this word, which goes last.
        order[word], order[words - 1] = words - 1, word
        for row in range(words):
            for column in range(words + 1):
                copy(weights, (order[row], order[column]), work, (row, column))
        order[word], order[words - 1] = word, words - 1
        eliminate(work, words, words - 1, True)
        escapes[0][:words], escapes[1][:words] = work[0][:, words], work[1][:, words]
        escapes[0][words - 1], escapes[1][words - 1] = escapes[0][word], escapes[1][word]
        escapes[0][word], escapes[1][word] = 0.0, ZERO
        row_weights = part(weights, word, 0, words + 1)
        fill_shares(row_weights, escapes, shares)
        heads[word + 1] = draw(np.cumsum(shares), stream)
        keep_one_arc(row_weights, heads[word + 1])


@compiled
def keep_one_arc(weights: Numbers, head: int) -> None:
    """Leave a word `[word + root]` its arc from one head only."""
    weights[0][:], weights[1][:] = 0.0, ZERO
    weights[0][head - 1], weights[1][head - 1] = 1.0, 0  # the root symbol, head 0, is the last


@kernel
def draw_trees(
    sentences: Integers,
    arc_scores: Floats,
    lengths: Integers,
    multiroot: bool,
    root_marginals: Floats,
    seeds: Integers,
    heads: Integers,
) -> None:
    """Fill `heads [k, batch, N]`, which holds zeros, for these sentences, which have trees.

    There is one of `seeds [k, batch]` for each tree; `root_marginals [batch, N]` are p(0 -> m).
    """
    stream = np.empty(1, dtype=np.uint64)
    for sentence in sentences:
        words = lengths[sentence]
        root_sums = np.cumsum(root_marginals[sentence, : words + 1])
        sums = cumulative_weights(arc_scores[sentence], words, multiroot)
        weights = load_weights(arc_scores[sentence], words, True)
        if not multiroot:
            weights[0][:, words], weights[1][:, words] = 0.0, ZERO
        for index in range(heads.shape[0]):
            stream[0] = np.uint64(seeds[index, sentence])
            tree = heads[index, sentence, : words + 1]
            tree[1:] = UNDECIDED
            if not multiroot and words > 0:
                tree[draw(root_sums, stream)] = 0
            if not draw_by_walks(sums, tree, stream):
                draw_word_by_word(weights, tree, stream)
