"""Hypothesis strategies: trees, and parses of the same sentences by several systems."""

from typing import Any

from hypothesis import strategies as st

from treecrf.treebank import Sentence, Token

RELATIONS = ("nsubj", "obj", "obl", "obl:arg")
FORMS = ("a", "b", ",", "..", "``")


@st.composite
def trees(draw: st.DrawFn, length: int) -> list[int]:
    """The heads of a tree of so many words with a single root, without the root symbol's entry."""
    order = draw(st.permutations(range(1, length + 1)))
    heads = [0] * length
    for place, word in enumerate(order[1:], 1):
        heads[word - 1] = order[draw(st.integers(0, place - 1))]
    return heads


@st.composite
def parses(
    draw: st.DrawFn, *, systems: int, partial: bool = False, max_sentences: int = 6
) -> tuple[list[Sentence], ...]:
    """A reference and the trees of some systems for the same words; forms and tags vary."""
    treebanks: tuple[list[Sentence], ...] = tuple([] for _ in range(systems + 1))
    for _ in range(draw(st.integers(1, max_sentences))):
        length = draw(st.integers(1, 8))
        forms = draw(_several(FORMS, length))
        tags = draw(_several(("NN", ",", "``"), length))
        for index, treebank in enumerate(treebanks):
            heads = draw(trees(length))
            if partial and index == 0:
                kept = draw(_several((True, False), length))
                heads = [head if keep else -1 for head, keep in zip(heads, kept, strict=True)]
            rows = zip(forms, tags, heads, draw(_several(RELATIONS, length)), strict=True)
            tokens = [
                Token(number, form, xpos=tag, head=head, deprel=relation)
                for number, (form, tag, head, relation) in enumerate(rows, 1)
            ]
            treebank.append(Sentence.from_tokens(tokens))
    return treebanks


def _several(items: tuple[Any, ...], number: int) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.sampled_from(items), min_size=number, max_size=number)
