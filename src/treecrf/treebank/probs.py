"""Probabilities of heads and trees: in `probs`, in MISC, in comments."""

import math
import re
from collections.abc import Sequence
from types import MappingProxyType
from typing import Literal, TypeAlias

from treecrf.treebank.sentence import Sentence

__all__ = [
    "KEYS",
    "SURE",
    "Certainty",
    "certainty",
    "head_probs",
    "heading",
    "log_prob",
    "rank",
    "with_written_probs",
    "without_probs",
]

Certainty: TypeAlias = Literal["sure", "likely", "unsure", "doubtful", "unlikely", "unknown"]

SURE = 0.95
_STEPS: tuple[tuple[float, Certainty], ...] = (
    (SURE, "sure"),
    (0.8, "likely"),
    (0.6, "unsure"),
    (0.4, "doubtful"),
    (0.0, "unlikely"),
)
KEYS = MappingProxyType(
    {"probs": "HeadProb=", "deprel_probs": "DeprelProb=", "upos_probs": "UposProb="}
)
"""The keys in MISC of the probabilities that sentences have."""
_STARTS = tuple(KEYS.values())
_HEAD_PROB = re.compile(r"(?:^|\|)HeadProb=([^|]*)")
_OF_TREE = re.compile(r"#\s*(rank|log_prob)\s*=\s*(\S+)\s*$")


def head_probs(sentence: Sentence) -> list[float | None]:
    """The probability of each head, from `probs` or `HeadProb=0.9876` in MISC; None if unknown."""
    given: Sequence[float | None] | None = sentence.probs
    if given is None:
        found = [_HEAD_PROB.search(token.misc) for token in sentence.tokens]
        given = [_number(match[1]) if match else None for match in found]
    pairs = zip(given, sentence.heads, strict=True)
    return [_checked(prob) if head >= 0 else None for prob, head in pairs]


def without_probs(sentence: Sentence) -> list[str] | None:
    """MISC of each word without probabilities, for another tree; None where no word has any."""
    if not any(map(sentence.misc_may_have, _STARTS)):
        return None
    return [_without_prob(misc) for misc in sentence.column("misc")]


def with_written_probs(sentence: Sentence) -> Sentence:
    """The sentence with its probabilities in MISC, as `HeadProb=0.9876|DeprelProb=0.9911`."""
    known = ((key, getattr(sentence, name)) for name, key in KEYS.items())
    given = {key: probs for key, probs in known if probs is not None}
    misc = []
    for old, *probs in zip(sentence.column("misc"), *given.values(), strict=True):
        kept = [item for item in (_without_prob(old),) if item != "_"]
        written = [f"{key}{prob:.4f}" for key, prob in zip(given, probs, strict=True)]
        misc.append("|".join(kept + written) or "_")
    return sentence.with_columns({"misc": misc})


def _without_prob(misc: str) -> str:
    return "|".join(item for item in misc.split("|") if not item.startswith(_STARTS)) or "_"


def log_prob(sentence: Sentence) -> float | None:
    """The log-probability of the tree from the comment `# log_prob = -0.1234`, if finite."""
    return _number(_of_tree(sentence).get("log_prob"))


def rank(sentence: Sentence) -> int | None:
    """The rank of the tree among the best, from the comment `# rank = 2`."""
    text = _of_tree(sentence).get("rank", "")
    return int(text) if text.isascii() and text.isdecimal() else None


def heading(sentence: Sentence) -> str:
    """The line above a drawing: the sent_id, rank and log-probability."""
    notes = _of_tree(sentence)
    parts = [f"{key} {notes[key]}" for key in ("rank", "log_prob") if key in notes]
    return ", ".join([sentence.sent_id, *parts] if sentence.sent_id else parts)


def _of_tree(sentence: Sentence) -> dict[str, str]:
    return {found[1]: found[2] for found in map(_OF_TREE.match, sentence.comments) if found}


def certainty(prob: float | None) -> Certainty:
    """A probability in a word: what drawings choose a colour by."""
    return "unknown" if prob is None else next(name for least, name in _STEPS if prob >= least)


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "nan")
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _checked(prob: float | None) -> float | None:
    # Single precision may sum to a little more than 1.
    return prob if prob is None or 0 <= (prob := round(prob, 4)) <= 1 else None
