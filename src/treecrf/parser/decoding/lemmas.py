"""Lemmas of words: those of training data, or what the best rules of a network make of a form."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cached_property, lru_cache

from treecrf.nn.transformer.wordpieces import WordPieces
from treecrf.parser.batching.distinct import Integers
from treecrf.parser.decoding.trees import LEMMA_WEIGHT
from treecrf.parser.vocab import Vocabulary
from treecrf.treebank.lemmas import apply_rule, letter_case

__all__ = ["SURE", "LemmaChooser", "lemma_in_name"]

SURE = LEMMA_WEIGHT * 19 // 20
"""Weight of a rule beside which others are not looked at."""

_WORD_FACTOR = 8  # of a lemma that is a known word
_ENDING = 3  # last characters of forms that are their own lemmas, or are not
_ABBREVIATION = 5  # most letters of a name that is one if it is in capitals
_SHORTEST_MISSPELT = 5  # letters of a misspelt word; shorter ones look like too many others
_ADDRESS = re.compile(r"\w+://|www\.|[#@][^\W\d_]|\S*\w@\w")
_FILE = re.compile(
    r"[^\s/]+\.(?:csv|docx?|exe|gif|html?|jpe?g|pdf|png|pptx?|rtf|txt|xlsx?|xml|zip)", re.IGNORECASE
)
_LENGTHENED = re.compile(r"([^\W\d_])\1\1+")


@lru_cache(maxsize=1 << 16)
def _applied(form: str, rule: str) -> str | None:
    return apply_rule(form, rule)


def lemma_in_name(form: str, lemma: str) -> str:
    """The lemma of a word that is part of a name and no noun: "Fair" of "Vanity Fair"."""
    return lemma[:1].upper() + lemma[1:] if form[:1].isupper() and lemma.islower() else lemma


class LemmaChooser:
    """Chooses the lemmas of words from a dictionary and from the rules that a network prefers."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.known = vocabulary.lemmas  # of FORM TAB UPOS, where it is always the same
        self.rules = vocabulary.columns["lemma"]
        self._pieces = vocabulary.pieces

    def with_case(self, form: str, lemma: str, best: int) -> str:
        """A lemma that `known` has, with the capitals of a rule that the network is sure of.

        The network knows more of a word than form and tag: "Fair" is a name in "Vanity Fair".
        """
        other = _applied(form, self.rules[best // LEMMA_WEIGHT])
        return other if other and other.lower() == lemma.lower() else lemma

    def choose(self, form: str, tag: str, best: Integers, *, in_capitals: bool) -> str:
        """The lemma of a form that `known` has not, from its best rules `[rule]`.

        `in_capitals`: whether half the words of the sentence or more are in capitals.
        """
        if _ADDRESS.match(form):
            return form
        if self._lowers_files and _FILE.fullmatch(form):
            return form.lower()
        name_in_capitals = tag == "PROPN" and form.isupper() and form.isalpha() and len(form) > 1
        short = len(form) <= _ABBREVIATION
        if name_in_capitals and short and not in_capitals and self._written_as(short, "upper"):
            return form
        lemma = self._apply(form, tag, best)
        if name_in_capitals and not short and lemma.isupper() and self._written_as(short, "title"):
            lemma = self.known.get(f"{form.capitalize()}\t{tag}", lemma.capitalize())
        elif form[:1].isupper() and lemma.islower():  # the first word of a sentence
            lemma = self.known.get(f"{form.lower()}\t{tag}", lemma)
        elif tag == "PROPN" and form.islower():  # "asia", which has its capital elsewhere
            lemma = self.known.get(f"{form.capitalize()}\t{tag}", lemma)
        return self._respell(lemma, tag)

    def _apply(self, form: str, tag: str, best: Integers) -> str:
        """The lemma that the best rules make of a form.

        Several rules may make the same one: of an unknown name, to keep it and to capitalise it.
        Known words count for more: of "rotating", "rotate" and not "rotat". So does what is written
        as lemmas of such forms and tags are: names keep their capitals. The form counts as a known
        word where words with its tag and ending are mostly their own lemmas: "a birding trip".
        """
        weights: dict[str, int] = {}
        for number in best.tolist():
            rule, weight = divmod(number, LEMMA_WEIGHT)
            lemma = _applied(form, self.rules[rule])
            if lemma:
                if weight > SURE:
                    return lemma
                weights[lemma] = weights.get(lemma, 0) + weight
        if len(weights) > 1:
            counts = self._letter_cases.get((tag, letter_case(form)), {})
            is_lemma = self._own_lemmas[tag, form[-_ENDING:].lower()] > 0
            own = form.lower() if is_lemma else ""
            for lemma in weights:
                is_word = lemma.lower() in self._words or lemma.lower() == own
                factor = _WORD_FACTOR if is_word else 1
                weights[lemma] *= factor * (2 * counts.get(letter_case(lemma), 0) + 1)
                # All that is left of a short word: "s" of "sang"; but "dig" is of "digging".
                if 2 * len(lemma) < len(form) and len(lemma) < 3:
                    weights[lemma] //= _WORD_FACTOR**2
        return max(weights, key=weights.__getitem__, default=form)

    def _respell(self, lemma: str, tag: str) -> str:
        """Write a lemma that is no known word as one that is: "soooo", "lenght"."""
        if lemma.lower() in self._words:
            return lemma
        if _LENGTHENED.search(lemma):
            for letters in (r"\1", r"\1\1"):
                shorter = _LENGTHENED.sub(letters, lemma)
                if shorter.lower() in self._words:
                    return shorter
        # Without the words among the pieces, too many rare words would be taken for misspelt ones.
        is_rare = isinstance(self._pieces, WordPieces) and lemma.isalpha() and lemma.islower()
        if not is_rare or len(lemma) < _SHORTEST_MISSPELT:
            return lemma
        found = {word for word in _neighbours(lemma) if (word, tag) in self._lemmas}
        return found.pop() if len(found) == 1 else lemma

    def _written_as(self, short: bool, case: str) -> bool:
        """Whether lemmas of such names in capitals are mostly written like this."""
        cases = self._name_cases[short]
        return 2 * cases[case] > cases.total()

    @cached_property
    def _name_cases(self) -> dict[bool, Counter[str]]:
        """How lemmas of names in capitals are written, of short names (True) and of long ones."""
        found: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
        for key, lemma in self.known.items():
            form, _, tag = key.rpartition("\t")
            if tag == "PROPN" and letter_case(form) == "upper" and form.isalpha():
                found[len(form) <= _ABBREVIATION][letter_case(lemma)] += 1
        return found

    @cached_property
    def _lowers_files(self) -> bool:
        """Whether training data writes names of files in small letters: "Report.DOC"."""
        keys = (key for key in self.known if "." in key and not key.rpartition("\t")[0].islower())
        lowered = [self.known[key].islower() for key in keys if _FILE.match(key)]
        return 2 * sum(lowered) > len(lowered)

    @cached_property
    def _letter_cases(self) -> dict[tuple[str, str], dict[str, int]]:
        """How lemmas of training data are written, by the tag and by how the form is written."""
        found: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        for key, lemma in self.known.items():
            form, _, tag = key.rpartition("\t")
            found[tag, letter_case(form)][letter_case(lemma)] += 1
        return dict(found)

    @cached_property
    def _own_lemmas(self) -> Counter[tuple[str, str]]:
        """By tag and ending: words that are their own lemmas, less the words that are not."""
        found: Counter[tuple[str, str]] = Counter()
        for key, lemma in self.known.items():
            form, _, tag = key.lower().rpartition("\t")
            found[tag.upper(), form[-_ENDING:]] += 1 if form == lemma.lower() else -1
        return found

    @cached_property
    def _lemmas(self) -> set[tuple[str, str]]:
        """Lemmas of training data, each with a tag."""
        return {(lemma, key.rpartition("\t")[2]) for key, lemma in self.known.items()}

    @cached_property
    def _words(self) -> set[str]:
        """Words that may be lemmas: those of training data, and whole words among the pieces."""
        words = set(map(str.lower, self.known.values()))
        if isinstance(self._pieces, WordPieces):  # those of one or two letters are parts of words
            words.update(piece for piece in self._pieces.vocabulary if len(piece) > 2)
        return words


def _neighbours(word: str) -> Iterator[str]:
    """A word with two letters exchanged, a letter doubled, or one letter of a pair left out."""
    for place, letter in enumerate(word):
        before, after = word[:place], word[place + 1 :]
        yield before + letter + letter + after
        if after and after[0] == letter:
            yield before + after
        elif after:
            yield before + after[0] + letter + after[1:]
