"""Which words a metric leaves out as punctuation."""

import unicodedata
from functools import lru_cache

from treecrf.treebank.metrics.options import Punctuation
from treecrf.treebank.sentence import Sentence

__all__ = ["PTB_PUNCTUATION_TAGS", "punctuation"]

# Brackets (-LRB-, -RRB-), # and $ are scored.
PTB_PUNCTUATION_TAGS = frozenset({"``", "''", ":", ",", "."})


def punctuation(sentence: Sentence, punct: Punctuation) -> list[bool]:
    """For each word, whether it is punctuation that is left out."""
    if punct == "keep":
        return [False] * len(sentence)
    if punct == "unicode":
        return [_is_punctuation(form) for form in sentence.forms]
    if punct == "tag":
        tags = zip(sentence.column("xpos"), sentence.column("upos"), strict=True)
        return [_is_punctuation_tag(xpos, upos) for xpos, upos in tags]
    raise ValueError(f"punct is 'keep', 'unicode' or 'tag', not {punct!r}")


def _is_punctuation_tag(xpos: str, upos: str) -> bool:
    # Some files have all their tags in UPOS; in one of Universal Dependencies without XPOS, PUNCT
    # is the only word there is for it.
    if xpos == "_":
        return upos == "PUNCT" or upos in PTB_PUNCTUATION_TAGS
    return xpos in PTB_PUNCTUATION_TAGS


@lru_cache(maxsize=4096)
def _is_punctuation(form: str) -> bool:
    return all(unicodedata.category(character).startswith("P") for character in form)
