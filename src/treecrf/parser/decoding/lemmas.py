"""Lemmas of words: those of training data, or what the best rules of a network make of a form."""

import re
from collections import Counter, defaultdict
from functools import cached_property, lru_cache

from treecrf.nn.transformer.wordpieces import WordPieces
from treecrf.parser.batching.distinct import Integers
from treecrf.parser.decoding.trees import LEMMA_WEIGHT
from treecrf.parser.vocab import Vocabulary
from treecrf.treebank.lemmas import apply_rule, letter_case

__all__ = ["LemmaChooser"]

_WORD_FACTOR = 8  # of a lemma that is a known word
_SURE = LEMMA_WEIGHT * 19 // 20  # of a rule beside which others are not looked at
_ABBREVIATION = 5  # most letters of a name that is one if it is in capitals
_ADDRESS = re.compile(r"\w+://|www\.")
_LENGTHENED = re.compile(r"([^\W\d_])\1\1+")


@lru_cache(maxsize=1 << 16)
def _applied(form: str, rule: str) -> str | None:
    return apply_rule(form, rule)


class LemmaChooser:
    """Chooses the lemmas of words from a dictionary and from the rules that a network prefers."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.known = vocabulary.lemmas  # of FORM TAB UPOS, where it is always the same
        self.rules = vocabulary.columns["lemma"]
        self._pieces = vocabulary.pieces

    def choose(self, form: str, tag: str, best: Integers, *, in_capitals: bool) -> str:
        """The lemma of a form that `known` has not, from its best rules `[rule]`.

        `in_capitals`: whether half the words of the sentence or more are in capitals.
        """
        if _ADDRESS.match(form):
            return form
        if tag == "PROPN" and not in_capitals and self._is_abbreviation(form):
            return form
        lemma = self._apply(form, tag, best)
        if form[:1].isupper() and lemma.islower():  # the first word of a sentence
            lemma = self.known.get(f"{form.lower()}\t{tag}", lemma)
        elif tag == "PROPN" and form.islower():  # "asia", which has its capital elsewhere
            lemma = self.known.get(f"{form.capitalize()}\t{tag}", lemma)
        if _LENGTHENED.search(lemma) and lemma.lower() not in self._words:  # sooooo
            for letters in (r"\1", r"\1\1"):
                shorter = _LENGTHENED.sub(letters, lemma)
                if shorter.lower() in self._words:
                    return shorter
        return lemma

    def _apply(self, form: str, tag: str, best: Integers) -> str:
        """The lemma that the best rules make of a form.

        Several rules may make the same one: of an unknown name, to keep it and to capitalise it.
        Words count for more than what is none: of "rotating", "rotate" and not "rotat". So does
        what is written as lemmas of such forms and tags are: names keep their capitals.
        """
        weights: dict[str, int] = {}
        for number in best.tolist():
            rule, weight = divmod(number, LEMMA_WEIGHT)
            lemma = _applied(form, self.rules[rule])
            if lemma:
                if weight > _SURE:
                    return lemma
                weights[lemma] = weights.get(lemma, 0) + weight
        if len(weights) > 1:
            counts = self._letter_cases.get((tag, letter_case(form)), {})
            for lemma in weights:
                factor = _WORD_FACTOR if lemma.lower() in self._words else 1
                weights[lemma] *= factor * (2 * counts.get(letter_case(lemma), 0) + 1)
                # All that is left of a short word: "s" of "sang"; but "dig" is of "digging".
                if 2 * len(lemma) < len(form) and len(lemma) < 3:
                    weights[lemma] //= _WORD_FACTOR**2
        return max(weights, key=weights.__getitem__, default=form)

    def _is_abbreviation(self, form: str) -> bool:
        """Whether a name in capitals is an abbreviation that keeps them."""
        short = 1 < len(form) <= _ABBREVIATION and form.isupper() and form.isalpha()
        return short and self._keeps_capitals

    @cached_property
    def _keeps_capitals(self) -> bool:
        """Whether abbreviations of training data keep their capitals."""
        cases = Counter(
            letter_case(lemma)
            for key, lemma in self.known.items()
            if key.endswith("\tPROPN")
            and letter_case(key.rpartition("\t")[0]) == "upper"
            and len(key) <= _ABBREVIATION + len("\tPROPN")
        )
        return 2 * cases["upper"] > cases.total()

    @cached_property
    def _letter_cases(self) -> dict[tuple[str, str], dict[str, int]]:
        """How lemmas of training data are written, by the tag and by how the form is written."""
        found: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        for key, lemma in self.known.items():
            form, _, tag = key.rpartition("\t")
            found[tag, letter_case(form)][letter_case(lemma)] += 1
        return dict(found)

    @cached_property
    def _words(self) -> set[str]:
        """Words that may be lemmas: those of training data, and whole words among the pieces."""
        words = set(map(str.lower, self.known.values()))
        if isinstance(self._pieces, WordPieces):  # those of one or two letters are parts of words
            words.update(piece for piece in self._pieces.vocabulary if len(piece) > 2)
        return words
