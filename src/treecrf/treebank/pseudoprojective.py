"""Pseudo-projective trees (Nivre and Nilsson, 2005): lift arcs until none cross, put them back.

A lifted arc leads to an ancestor of its head. Marks on the relations say so and help to find the
way back. Where an arc with relation `d` was lifted from a head with relation `h`, and `p` is the
relation of an arc between the old head and the new one, that of the old head among them:

encoding    lifted arc   arcs on the path
head        d↑h          p
path        d↑           p↓
head+path   d↑h          p↓

An arc that is both has both marks: `d↑h↓`. UD relations have no arrows in them; where a relation
has one, or a backslash, a backslash goes before it.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias, get_args

from treecrf.treebank.errors import TreebankError
from treecrf.treebank.sentence import Sentence
from treecrf.treebank.trees import descent, find_cycle, is_projective, nonprojective_arcs

__all__ = [
    "ENCODINGS",
    "Encoding",
    "deproject",
    "is_lifted",
    "lift",
    "project",
    "restore",
    "with_escapes",
    "without_marks",
]

Encoding: TypeAlias = Literal["head", "path", "head+path"]
ENCODINGS: tuple[Encoding, ...] = get_args(Encoding)

_SPECIAL = re.compile(r"[\\↑↓]")
_MARKED = re.compile(r"((?:\\.?|[^\\↑↓])*)(?:(↑)((?:\\.?|[^\\↑↓])*))?(↓?)")


def project(sentence: Sentence, *, encoding: Encoding = "head+path") -> Sentence:
    """The sentence with a projective tree: see `lift`."""
    try:
        heads, deprels = lift(sentence.heads, sentence.deprels, encoding=encoding)
    except TreebankError as error:
        raise sentence.error(error.problem) from None
    return sentence.with_tree(heads, deprels, probs=sentence.probs)


def deproject(sentence: Sentence, *, encoding: Encoding = "head+path") -> Sentence:
    """The sentence with its lifted arcs put back: see `restore`."""
    heads, deprels = restore(sentence.heads, sentence.deprels, encoding=encoding)
    return sentence.with_tree(heads, deprels, probs=sentence.probs)


def lift(
    heads: Sequence[int], deprels: Sequence[str], *, encoding: Encoding = "head+path"
) -> tuple[list[int], list[str]]:
    """The heads and relations of a projective tree, one item a word; the smallest arcs go first.

    A partial tree stays as it is, or is an error if no projective tree has its arcs.
    """
    lifted = [0, *heads]
    if cycle := find_cycle(lifted):
        raise TreebankError(f"word {cycle[0]} is in a cycle; only a tree can be lifted")
    relations = [with_escapes(relation) for relation in deprels]
    if is_projective(lifted):
        return lifted[1:], relations
    if -1 in lifted:
        raise TreebankError("no projective tree has the arcs of this partial tree; annotate more")
    on_path: set[int] = set()
    while arcs := nonprojective_arcs(lifted):
        word = min(arcs, key=lambda word: (abs(word - lifted[word]), word))
        on_path.add(lifted[word])
        lifted[word] = lifted[lifted[word]]
    marked = relations[:]
    for word, head in enumerate(heads, 1):
        if lifted[word] != head:
            marked[word - 1] += "↑" if encoding == "path" else f"↑{relations[head - 1]}"
        if word in on_path and encoding != "head":
            marked[word - 1] += "↓"
    return lifted[1:], marked


def is_lifted(deprels: Iterable[str]) -> bool:
    """Whether a relation has marks already: lifted again, they would be taken for part of it."""
    return any(mark.head is not None or mark.on_path for mark in map(_read, deprels))


def without_marks(deprel: str) -> str:
    """The relation as `lift` would have it on an arc that was not in the way."""
    return with_escapes(_read(deprel).relation)


def with_escapes(relation: str) -> str:
    """A relation of a treebank as `lift` has it where it puts no mark on it."""
    return _SPECIAL.sub(r"\\\g<0>", relation)


def restore(
    heads: Sequence[int],
    deprels: Sequence[str],
    *,
    encoding: Encoding = "head+path",
    fixed: Collection[int] = (),
) -> tuple[list[int], list[str]]:
    """Undo `lift`: lifted arcs put back, but those of `fixed` words; relations without marks.

    Marks of a parser may be wrong: an arc goes to a word below its head, which makes no cycle, and
    stays where it is if the marks lead to no word.
    """
    marks = [_Mark("", None, False), *map(_read, deprels)]
    tree = _Tree([0, *heads], marks, encoding)
    # From the root downwards: where a head was lifted too, it goes back before its dependents do.
    level = [0, *(word for word, head in enumerate(heads, 1) if head < 0)]
    while level:
        for token in level:
            for word in sorted(tree.children[token]):
                if marks[word].head is not None and word not in fixed:
                    tree.put_back(word)
        level = [word for token in level for word in tree.children[token]]
    return tree.heads[1:], [mark.relation for mark in marks[1:]]


class _Mark(NamedTuple):
    relation: str  # without marks
    head: str | None  # the relation of the head that a lifted arc had; empty in the encoding `path`
    on_path: bool


def _read(deprel: str) -> _Mark:
    match = _MARKED.match(deprel)
    assert match is not None  # it matches the empty string
    relation, head = (part and re.sub(r"\\(.)", r"\1", part) for part in match.group(1, 3))
    return _Mark(relation or "_", head, bool(match[4]))


class _Tree:
    """A tree whose lifted arcs are put back one by one."""

    def __init__(self, heads: list[int], marks: list[_Mark], encoding: Encoding) -> None:
        self.heads = heads
        self.marks = marks
        self.encoding = encoding
        self.children: list[list[int]] = [[] for _ in heads]
        for word in range(1, len(heads)):
            if heads[word] >= 0:
                self.children[heads[word]].append(word)

    def put_back(self, word: int) -> None:
        """Move a word to the head that its marks lead to, if they lead to one."""
        candidates = self._candidates(word)
        # What `lift` would bring here comes first.
        first = self._lifted_here(word, candidates) if len(candidates) > 1 else candidates
        if head := next(iter(first or candidates), None):
            self.children[self.heads[word]].remove(word)
            self.children[head].append(word)
            self.heads[word] = head

    def _candidates(self, word: int) -> list[int]:
        """The words that may be the head: breadth-first from the present one, the nearest first."""
        candidates = []
        level = self._below(self.heads[word], word)
        while level:
            level.sort(key=lambda token: abs(token - word))
            candidates += [token for token in level if self._may_be_head(token, word)]
            level = [below for token in level for below in self._below(token, word)]
        return candidates

    def _below(self, token: int, word: int) -> list[int]:
        """Tokens below a token where the search for the head of a word goes on."""
        children = [child for child in self.children[token] if child != word]
        if self.encoding == "head":
            return children
        return [child for child in children if self.marks[child].on_path]

    def _may_be_head(self, token: int, word: int) -> bool:
        if self.encoding == "path":  # the end of the path
            return not self._below(token, word)
        return self.marks[token].relation == self.marks[word].head

    def _lifted_here(self, word: int, candidates: list[int]) -> list[int]:
        """The candidates whose arc to the word is in the way, and that of each head up to here."""
        first, last = descent(self.heads)
        known = {self.heads[word]: True}

        def in_the_way(token: int) -> bool:
            inside = range(first[token], last[token] + 1)
            moved = range(first[word], last[word] + 1)
            between = first[min(token, word) + 1 : max(token, word)]
            return any(place not in inside and place not in moved for place in between)

        for candidate in candidates:
            path = []
            token = candidate
            while token not in known:
                path.append(token)
                token = self.heads[token]
            for token in reversed(path):
                known[token] = known[self.heads[token]] and in_the_way(token)
        return [candidate for candidate in candidates if known[candidate]]
