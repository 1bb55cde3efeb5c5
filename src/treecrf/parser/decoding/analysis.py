"""All that a model knows of a sentence: the tree, how probable each arc is, how sure it is."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treecrf.parser.decoding.gathering import Gathered
from treecrf.treebank import Sentence

__all__ = ["Analysis", "analyses"]


@dataclass(frozen=True, slots=True)
class Analysis:
    """A sentence with its tree, and the distribution that the tree was taken from."""

    sentence: Sentence
    log_prob: float
    """Of the tree; -inf where it crosses and the distribution has no such trees."""
    entropy: float
    """Of the distribution over trees, in nats; NaN of long sentences."""
    marginals: npt.NDArray[np.float32]
    """How probable each arc is, `[dependent, head]` with the root symbol at 0."""


def analyses(gathered: Gathered, parsed: Sequence[Sentence]) -> list[Analysis]:
    """What was gathered with details, beside the sentences that were given their trees."""
    log_probs = gathered.sentences.get("log_probs", np.zeros(0)).tolist()
    entropies = gathered.sentences.get("entropies", np.zeros(0)).tolist()
    return [
        Analysis(sentence, log_probs[number], entropies[number], gathered.marginals[number])
        for number, sentence in enumerate(parsed)
    ]
