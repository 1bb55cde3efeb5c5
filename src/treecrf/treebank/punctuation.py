"""Which words a metric leaves out as punctuation."""

import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Literal

from treecrf.treebank.conllu import Token

__all__ = ["PTB_PUNCTUATION_TAGS", "Punctuation", "ignored_by"]

Punctuation = Literal["keep", "unicode", "tag"]

# Brackets (-LRB-, -RRB-), # and $ are scored.
PTB_PUNCTUATION_TAGS = frozenset({"``", "''", ":", ",", "."})


def ignored_by(punct: Punctuation) -> Callable[[Token], bool] | None:
    """The test for a word that is left out, or None where every word is scored."""
    match punct:
        case "keep":
            return None
        case "unicode":
            return _is_unicode_punctuation
        case "tag":
            return _has_punctuation_tag
    raise ValueError(f"punct is 'keep', 'unicode' or 'tag', not {punct!r}")


def _is_unicode_punctuation(token: Token) -> bool:
    return _all_punctuation(token.form)


@lru_cache(maxsize=4096)
def _all_punctuation(form: str) -> bool:
    return all(unicodedata.category(character).startswith("P") for character in form)


def _has_punctuation_tag(token: Token) -> bool:
    tag = token.upos if token.xpos == "_" else token.xpos
    return tag in PTB_PUNCTUATION_TAGS
