"""Hypothesis strategies: trees, files, and parses of the same sentences by several systems."""

from typing import Any

from hypothesis import strategies as st

from treecrf.treebank import Sentence, Token

RELATIONS = ("nsubj", "obj", "obl", "obl:arg")
FORMS = ("a", "b", ",", "..", "``")
CELL = st.text(
    st.characters(exclude_characters="\t\n\r", exclude_categories=["Cs"]), min_size=1, max_size=5
)


@st.composite
def trees(draw: st.DrawFn, length: int) -> list[int]:
    """The heads of a tree of so many words with a single root, without the root symbol's entry."""
    order = draw(st.permutations(range(1, length + 1)))
    heads = [0] * length
    for place, word in enumerate(order[1:], 1):
        heads[word - 1] = order[draw(st.integers(0, place - 1))]
    return heads


@st.composite
def files(draw: st.DrawFn) -> str:
    """Well-formed files with everything in them."""
    lines: list[str] = []

    def add(*cells: str) -> None:
        lines.append("\t".join(cells))

    for _ in range(draw(st.integers(0, 4))):
        length = draw(st.integers(1, 7))
        heads = draw(trees(length))
        lines += ["#" + text for text in draw(st.lists(CELL, max_size=2))]
        open_until = 0
        for word in range(length + 1):
            if word:
                if word > open_until and draw(st.booleans()):
                    open_until = draw(st.integers(word, length))
                    add(f"{word}-{open_until}", *(draw(CELL) for _ in range(9)))
                head = draw(st.sampled_from([str(heads[word - 1]), "_"]))
                cells = [draw(CELL) for _ in range(7)]
                deps = "0:" + draw(CELL)  # a bare number would make it CoNLL-X
                add(str(word), *cells[:5], head, cells[5], deps, cells[6])
            for number in range(1, draw(st.integers(0, 2)) + 1):
                add(f"{word}.{number}", *(draw(CELL) for _ in range(9)))
        lines.append("")
    return "".join(line + "\n" for line in lines)


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
