"""Two versions of a text: tokens merged and split, boundaries moved, heads and labels changed."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field

from hypothesis import strategies as st

RELATIONS = ("nsubj", "obl:arg", "det", "case", "aux:pass", "punct")
FEATS = ("_", "Typo=Yes", "Case=Nom|Number=Sing", "Number=Sing|Case=Nom")


@dataclass
class Word:
    """A word of a text; `key` is its name, and `head` the name of another word."""

    key: int
    form: str
    head: int = -1
    lemma: str = "_"
    upos: str = "NOUN"
    xpos: str = "_"
    feats: str = "_"
    relation: str = "nsubj"


@dataclass
class Piece:
    """A token of a text, the words it stands for, and whether a sentence ends with it."""

    surface: str
    words: list[Word]
    multiword: bool = False
    last: bool = False


@dataclass
class Text:
    """A text in pieces, which edits change; the characters stay the same."""

    pieces: list[Piece]
    keys: int = field(default=0)

    def new_word(self, form: str, like: Word | None = None) -> Word:
        self.keys += 1
        if like is None:
            return Word(self.keys, form)
        return Word(
            self.keys, form, like.key, like.lemma, like.upos, like.xpos, like.feats, like.relation
        )

    def merge(self, at: int, choice: int) -> None:
        """Two tokens into one: a plain one, or a multiword token of all their words."""
        if len(self.pieces) == 1:
            return
        at %= len(self.pieces) - 1
        first, second = self.pieces[at : at + 2]
        surface = first.surface + second.surface
        if choice % 2:
            merged = Piece(surface, first.words + second.words, True, second.last)
        else:
            first.words[0].form = surface
            merged = Piece(surface, first.words[:1], False, second.last)
        self.pieces[at : at + 2] = [merged]

    def split(self, at: int, choice: int) -> None:
        """A token into two tokens, or into a multiword token with one word more."""
        piece = self.pieces[at % len(self.pieces)]
        if choice % 2:
            word = piece.words[-1]
            middle = max(1, len(word.form) // 2)
            piece.words.append(self.new_word(word.form[middle:] or "x", word))
            word.form = word.form[:middle]
            piece.multiword = True
        elif len(piece.surface) > 1:
            middle = 1 + choice // 2 % (len(piece.surface) - 1)
            if piece.surface[:middle].isspace() or piece.surface[middle:].isspace():
                return
            rest = Piece(piece.surface[middle:], [], False, piece.last)
            rest.words.append(self.new_word(rest.surface, piece.words[0]))
            piece.surface = piece.surface[:middle]
            if not piece.multiword:
                piece.words[0].form = piece.surface
            piece.last = False
            self.pieces.insert(at % len(self.pieces) + 1, rest)

    def unfold(self, at: int, choice: int) -> None:
        """A multiword token into a plain one, or one of its words less."""
        piece = self.pieces[at % len(self.pieces)]
        if choice % 2 or len(piece.words) == 1:
            piece.multiword = False
            del piece.words[1:]
            piece.words[0].form = piece.surface
        else:
            del piece.words[choice // 2 % len(piece.words)]

    def respell(self, at: int, choice: int) -> None:
        """Another form, or another case, for a word of a multiword token."""
        piece = self.pieces[at % len(self.pieces)]
        if piece.multiword:
            word = piece.words[choice // 3 % len(piece.words)]
            word.form = (word.form.swapcase(), "a", "b b")[choice % 3]

    def move_boundary(self, at: int, choice: int) -> None:
        piece = self.pieces[at % len(self.pieces)]
        piece.last = not piece.last

    def relabel(self, at: int, choice: int) -> None:
        piece = self.pieces[at % len(self.pieces)]
        word = piece.words[choice % len(piece.words)]
        column, choice = choice % 5, choice // 5
        if column == 0:
            word.relation = RELATIONS[choice % len(RELATIONS)]
        elif column == 1:
            word.feats = FEATS[choice % len(FEATS)]
        elif column == 2:
            word.lemma = ("_", "a", "b")[choice % 3]
        elif column == 3:
            word.upos = ("NOUN", "VERB")[choice % 2]
        else:
            word.xpos = ("_", "NN")[choice % 2]

    def reattach(self, at: int, choice: int) -> None:
        """Another head for a word, unless that is one of its descendants."""
        words = [word for piece in self.pieces for word in piece.words]
        word, head = words[at % len(words)], words[choice % len(words)]
        heads = {word.key: word.head for word in words}
        ancestor = head.key
        while ancestor in heads:
            if ancestor == word.key:
                return
            ancestor = heads[ancestor]
        word.head = head.key

    def to_conllu(self) -> str:
        lines: list[str] = []
        sentence: list[Piece] = []
        for index, piece in enumerate(self.pieces):
            sentence.append(piece)
            if piece.last or index == len(self.pieces) - 1:
                lines += _sentence_lines(sentence)
                sentence = []
        return "\n".join(lines) + "\n"


def _sentence_lines(sentence: list[Piece]) -> list[str]:
    """The first word whose head is elsewhere is the root; others like it depend on it."""
    words = [word for piece in sentence for word in piece.words]
    numbers = {word.key: number for number, word in enumerate(words, 1)}
    root = next(number for number, word in enumerate(words, 1) if word.head not in numbers)
    lines = []
    number = 0
    for piece in sentence:
        if piece.multiword:
            ids = f"{number + 1}-{number + len(piece.words)}"
            lines.append("\t".join([ids, piece.surface, *["_"] * 8]))
        for word in piece.words:
            number += 1
            head = numbers.get(word.head, 0 if number == root else root)
            columns = [word.form, word.lemma, word.upos, word.xpos, word.feats, str(head)]
            lines.append("\t".join([str(number), *columns, word.relation, "_", "_"]))
    return [*lines, ""]


EDITS: tuple[Callable[[Text, int, int], None], ...] = (
    *(Text.merge, Text.split, Text.split, Text.unfold, Text.respell, Text.move_boundary),
    *(Text.relabel, Text.relabel, Text.relabel, Text.reattach, Text.reattach),
)

_edits = st.tuples(st.sampled_from(EDITS), st.integers(0, 50), st.integers(0, 200))
# Few letters, so that words are often alike; one that lower() makes longer, and a space inside.
_surfaces = st.text("aB\u0130", min_size=1, max_size=4) | st.just("a\u00a0b")


@st.composite
def text_pairs(draw: st.DrawFn) -> tuple[str, str]:
    """A CoNLL-U file, and another with the same characters."""
    gold = Text([])
    for surface in draw(st.lists(_surfaces, min_size=4, max_size=16)):
        gold.pieces.append(Piece(surface, [gold.new_word(surface)]))
    for edit, at, choice in draw(st.lists(_edits, min_size=8, max_size=30)):
        edit(gold, at, choice)
    system = deepcopy(gold)
    for edit, at, choice in draw(st.lists(_edits, min_size=3, max_size=15)):
        edit(system, at, choice)
    return gold.to_conllu(), system.to_conllu()
