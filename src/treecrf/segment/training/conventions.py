"""What counts as a token in a treebank: multiword tokens, spaces inside tokens, and shapes."""

from collections.abc import Iterator, Sequence

import numpy as np

from treecrf.segment.characters import CharacterClass, Joins, classes_of, codes_of, is_space
from treecrf.segment.multiwords import Words
from treecrf.segment.shapes import SHAPES, find_spans
from treecrf.segment.training.raw_text import TOKEN, RawSentence
from treecrf.treebank import Sentence

__all__ = ["find_joins", "find_shapes", "multiwords_of"]

_WHOLE = 0.9  # least share of the matches of a shape in the training data that are tokens


def multiwords_of(sentences: Sequence[Sentence]) -> Iterator[tuple[str, Words]]:
    """The multiword tokens with their words."""
    for sentence in sentences:
        forms = sentence.forms
        for multiword in sentence.multiwords:
            yield multiword.form, tuple(forms[multiword.first - 1 : multiword.last])


def find_joins(sentences: Sequence[RawSentence]) -> Joins:
    """Between which classes of characters a token has a space inside it."""
    joins = np.zeros((len(CharacterClass), len(CharacterClass)), np.bool_)
    for sentence in sentences:
        classes = classes_of(codes_of(sentence.text))
        inside = (classes[1:-1] == CharacterClass.SPACE) & (sentence.labels[:-2] & TOKEN == 0)
        inside &= ~is_space(classes[:-2]) & ~is_space(classes[2:])
        joins[classes[:-2][inside], classes[2:][inside]] = True
    return joins


def find_shapes(sentences: Sequence[RawSentence]) -> list[str]:
    """The names of shapes that are tokens wherever the training data has them, or nearly so."""
    return [name for name in SHAPES if _is_whole(name, sentences)]


def _is_whole(name: str, sentences: Sequence[RawSentence]) -> bool:
    found = whole = 0
    for sentence in sentences:
        ends = np.append(sentence.labels & TOKEN > 0, True)
        for start, stop in find_spans(sentence.text, [name]):
            edges = ends[start - 1] or sentence.text[start - 1].isspace(), ends[stop - 1]
            whole += all(edges) and not ends[start : stop - 1].any()
            found += 1
    return whole >= _WHOLE * found
