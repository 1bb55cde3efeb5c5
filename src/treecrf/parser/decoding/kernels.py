"""Heads, probabilities and classes of a batch in two compiled calls, for a CPU.

For a single sentence, torch's many small operations would take longer than what they compute.
"""

import numpy as np
import numpy.typing as npt

from treecrf.ops.masking.cpu import mask_sentences
from treecrf.ops.numba.compiling import compiled, kernel, relaxed
from treecrf.ops.numba.lanes import LANES, Floats, Integers
from treecrf.ops.projective.greedy import greedy_heads
from treecrf.ops.projective.inside import inside_outside

__all__ = ["choose_classes", "find_heads"]

Flags = npt.NDArray[np.bool_]


@kernel
def find_heads(
    arcs: Floats,
    siblings: tuple[Floats | None, Floats | None],
    lengths: Integers,
    allowed: Flags,
    multiroot: bool,
    masked: Floats,
    marginals: Floats,
    log_partition: Floats,
    heads: Integers,
    settled: Flags,
) -> None:
    """Fill masked scores, marginals and log Z, and the most probable heads `[sentence, N]`.

    Arcs and siblings, both float32, are the scores of each sentence, and may go on with copies of
    them at another temperature: `[copy * sentence, ...]`, as are `masked`, `marginals` and
    `log_partition`, which is that of the masked scores. `siblings` are flat, with an empty array of
    their type; or both are None. The heads are by the first copy; `settled [sentence]` tells where
    they are a tree. An empty `allowed` allows everything.
    """
    count, tokens = heads.shape
    total = len(arcs)
    copies = total // count
    every = np.empty(total, np.int64)
    best = np.empty((total, tokens), np.float32)
    rows = np.arange(count)
    for first in range(0, total, count):
        copy = slice(first, first + count)
        every[copy] = lengths
        mask_sentences(arcs[copy], lengths, allowed, rows, masked[copy], best[copy])
    # All copies of a sentence share a group, so that its lanes end together.
    members = np.empty(-(-total // LANES) * LANES, np.int64)
    for place in range(len(members)):
        number = min(place, total - 1)
        members[place] = number // copies + number % copies * count
    groups = members.reshape(-1, LANES)
    flows = np.zeros(masked.size)
    batch = masked.astype(np.float64).reshape(-1), every, tokens, multiroot
    scores, no_marginals = siblings
    inside_outside(batch, scores, groups, log_partition, flows, no_marginals)
    marginals.reshape(-1)[:] = flows.astype(np.float32)
    greedy_heads(marginals[:count], lengths, multiroot, heads, settled)
    for sentence in range(count):
        # NaN where scores are: what is infinite or NaN was found when they were masked.
        for number in range(sentence, total, count):
            if not np.isfinite(best[number].sum()):
                log_partition[number] = np.nan
        if not log_partition[sentence] > -np.inf:
            settled[sentence] = False


@kernel
def choose_classes(
    places: Integers,
    lengths: Integers,
    heads: Integers,
    marginals: Floats,
    scores: tuple[Floats, ...],
    temperatures: tuple[float, ...],
    lemmas: Floats,
    weight: int,
    chosen: Integers,
    probs: Floats,
    rules: Integers,
) -> None:
    """Fill `chosen` and `probs`, `[1 + column, token]`, and the best lemma rules `[token, rule]`.

    The first row of both has heads and their marginals, the others the best classes by `scores
    [token, class]` and their probabilities at a temperature; an empty `probs` has none. Tokens go
    sentence by sentence; `places [sentence, N]` are those of scores. A rule is a number times
    `weight` plus its probability in parts of `weight`; an empty `lemmas` has none.
    """
    token = 0
    for sentence in range(len(heads)):
        for number in range(lengths[sentence] + 1):
            place, head = places[sentence, number], heads[sentence, number]
            chosen[0, token] = head
            if len(probs):
                probs[0, token] = marginals[sentence, number, max(head, 0)]
            for column in range(len(scores)):
                row = scores[column][place]
                best = row.argmax()
                chosen[1 + column, token] = best
                if len(probs):
                    factor = np.float32(1) / np.float32(temperatures[column])
                    share = np.float32(1) / total_weight(row, row[best], factor)
                    probs[1 + column, token] = share
            if len(lemmas):
                best_rules(lemmas[place], weight, rules[token])
            token += 1


@relaxed
def total_weight(row: Floats, largest: np.float32, factor: np.float32) -> np.float32:
    """Sum of the exponentials of scores less the largest, each times a factor."""
    total = np.float32(0)
    for place in range(len(row)):
        total += np.exp((row[place] - largest) * factor)
    return total


@compiled
def best_rules(row: Floats, weight: int, rules: Integers) -> None:
    """Fill the best rules of a word, best first; see `choose_classes`."""
    largest = row.max()
    total = total_weight(row, largest, np.float32(1))
    rules[:] = -1
    for place in range(len(row)):
        if rules[-1] >= 0 and row[place] <= row[rules[-1]]:
            continue
        at = len(rules) - 1
        while at > 0 and (rules[at - 1] < 0 or row[place] > row[rules[at - 1]]):
            rules[at] = rules[at - 1]
            at -= 1
        rules[at] = place
    for at in range(len(rules)):
        share = np.exp(row[rules[at]] - largest) / total
        rules[at] = rules[at] * weight + np.int64(share * np.float32(weight - 1))
