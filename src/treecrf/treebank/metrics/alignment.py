"""Word alignment between two tokenisations of a text, as the CoNLL 2018 shared task defines it.

Tokens are spans of the text without its spaces. Words that are tokens are aligned where their spans
are equal. The words of a multiword token have no spans of their own: around it a block is made that
no multiword token of either file sticks out of, and within the block words are aligned by the
longest common subsequence of their forms.
"""

import unicodedata
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

from treecrf.treebank.metrics.scores import Score
from treecrf.treebank.sentence import Sentence
from treecrf.treebank.tokens import Token, surfaces
from treecrf.treebank.trees import find_cycle, roots

__all__ = ["ROOT", "Text", "align", "score_segmentation"]

ROOT = -1
EXCERPT = 20  # characters of a text that an error shows
Span = tuple[int, int]


@dataclass(slots=True)
class TextWord:
    """A word of a text."""

    token: Token
    start: int  # of its token in the text
    end: int
    multiword: bool  # whether the token is a multiword token
    form: str  # in lower case, as the words of a block are compared
    head: int  # the index of its head among the words of the text, or ROOT


@dataclass(slots=True)
class Text:
    """A file as one run of characters without spaces, and what it is cut into."""

    characters: str = ""
    sentences: list[Sentence] = field(default_factory=list)
    sentence_spans: list[Span] = field(default_factory=list)
    token_spans: list[Span] = field(default_factory=list)
    words: list[TextWord] = field(default_factory=list)

    @classmethod
    def of(cls, sentences: Iterable[Sentence]) -> "Text":
        """The text of these sentences; raises TreebankError where one is no tree of words."""
        text = cls()
        pieces: list[str] = []
        position = 0
        for sentence in sentences:
            _check_tree(sentence)
            start, before = position, len(text.words)
            for whole in surfaces(sentence.tokens, sentence.multiwords):
                multiword = not isinstance(whole, Token)
                first = whole.id if isinstance(whole, Token) else whole.first
                last = whole.id if isinstance(whole, Token) else whole.last
                surface = _without_spaces(whole.form)
                if not surface:
                    raise sentence.error(f"word {first} has no form, so it has no place")
                pieces.append(surface)
                span = (position, position + len(surface))
                text.token_spans.append(span)
                position = span[1]
                for token in sentence.tokens[first - 1 : last]:
                    form = token.form if multiword else surface
                    head = before + token.head - 1 if token.head else ROOT
                    text.words.append(TextWord(token, *span, multiword, form.lower(), head))
            text.sentences.append(sentence)
            text.sentence_spans.append((start, position))
        text.characters = "".join(pieces)
        return text


def _without_spaces(form: str) -> str:
    """A form without characters of the Unicode class Zs: files differ in whether they have them."""
    return form if form.isalnum() else "".join(c for c in form if unicodedata.category(c) != "Zs")


def _check_tree(sentence: Sentence) -> None:
    heads = [0, *sentence.heads]
    if len(heads) == 1:
        raise sentence.error("there is a sentence without words")
    for word, head in enumerate(heads):
        if head < 0:
            raise sentence.error(f"word {word} has no head; this evaluation needs whole trees")
        if head >= len(heads):
            raise sentence.error(f"word {word} has head {head}, outside 0 to {len(heads) - 1}")
    if cycle := find_cycle(heads):
        raise sentence.error(f"words {' -> '.join(map(str, [*cycle, cycle[0]]))} form a cycle")
    if len(found := roots(heads)) != 1:
        words = " and ".join(map(str, found))
        raise sentence.error(f"words {words} are both roots; this evaluation needs a single one")


def _check_same_text(gold: Text, system: Text) -> None:
    """Raise TreebankError at the first character that is not the same."""
    if gold.characters == system.characters:
        return
    characters = enumerate(zip(gold.characters, system.characters, strict=False))
    shorter = min(len(gold.characters), len(system.characters))
    same = next((place for place, (ours, theirs) in characters if ours != theirs), shorter)
    excerpts = []
    for name, text in (("gold", gold), ("system", system)):
        rest = text.characters[same : same + EXCERPT]
        excerpts.append(f"{name} goes on with {rest!r}" if rest else f"{name} ends")
    before = gold.characters[max(same - EXCERPT, 0) : same]
    place = f"after {before!r} " if before else "at the start "
    problem = (
        f"the texts differ: {place}{' and '.join(excerpts)}. "
        "Both files must have the same characters, spaces aside."
    )
    longer = system if same < len(system.characters) else gold
    index = bisect_right(longer.sentence_spans, (same, len(longer.characters))) - 1
    raise longer.sentences[index].error(problem)


def score_segmentation(gold: Text, system: Text) -> tuple[dict[str, Score], list[tuple[int, int]]]:
    """Scores of tokens, sentences and words of the same text, and the pairs of aligned words."""
    _check_same_text(gold, system)
    pairs = align(gold.words, system.words)
    scores = {
        "Tokens": _score_spans(gold.token_spans, system.token_spans),
        "Sentences": _score_spans(gold.sentence_spans, system.sentence_spans),
        "Words": Score(len(pairs), len(gold.words), len(system.words)),
    }
    return scores, pairs


def _score_spans(gold: list[Span], system: list[Span]) -> Score:
    return Score(len(set(gold) & set(system)), len(gold), len(system))


def align(gold: list[TextWord], system: list[TextWord]) -> list[tuple[int, int]]:
    """Pairs of a gold word and a system word that are the same, both in the order of the text."""
    pairs = []
    g = s = 0
    while g < len(gold) and s < len(system):
        if gold[g].multiword or system[s].multiword:
            # A word on the other side that starts before the multiword token sticks out of it.
            if gold[g].multiword:
                end = gold[g].end
                s += not system[s].multiword and system[s].start < gold[g].start
            else:
                end = system[s].end
                g += gold[g].start < system[s].start
            first_g, first_s = g, s
            g, s = _block_end(gold, system, g, s, end)
            common = _common_subsequence(gold[first_g:g], system[first_s:s])
            pairs += [(first_g + i, first_s + j) for i, j in common]
        elif gold[g].start == system[s].start and gold[g].end == system[s].end:
            pairs.append((g, s))
            g += 1
            s += 1
        elif gold[g].start <= system[s].start:
            g += 1
        else:
            s += 1
    return pairs


def _block_end(
    gold: list[TextWord], system: list[TextWord], g: int, s: int, end: int
) -> tuple[int, int]:
    """The first words after a block that reaches up to `end`, or further if a token sticks out."""

    def inside(words: list[TextWord], index: int) -> bool:
        return index < len(words) and (
            words[index].start < end if words[index].multiword else words[index].end <= end
        )

    while inside(gold, g) or inside(system, s):
        if s == len(system) or (g < len(gold) and gold[g].start <= system[s].start):
            word = gold[g]
            g += 1
        else:
            word = system[s]
            s += 1
        if word.multiword:
            end = max(end, word.end)
    return g, s


def _common_subsequence(gold: list[TextWord], system: list[TextWord]) -> list[tuple[int, int]]:
    """The longest common subsequence; among equals the one that skips gold words first."""
    # longest[i][j] = longest[i + 1][j + 1] + 1 if the forms i and j are the same
    #                 else max(longest[i + 1][j], longest[i][j + 1])
    longest = [[0] * (len(system) + 1) for _ in range(len(gold) + 1)]
    for i in reversed(range(len(gold))):
        for j in reversed(range(len(system))):
            if gold[i].form == system[j].form:
                longest[i][j] = longest[i + 1][j + 1] + 1
            else:
                longest[i][j] = max(longest[i + 1][j], longest[i][j + 1])
    pairs = []
    i = j = 0
    while i < len(gold) and j < len(system):
        if gold[i].form == system[j].form:
            pairs.append((i, j))
            i += 1
            j += 1
        elif longest[i][j] == longest[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs
