"""Text in another language than the model's: a warning, from its script and the words it lacks."""

import sys
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from types import MappingProxyType

from treecrf.parser.batching.distinct import Integers
from treecrf.parser.batching.words import WordTable
from treecrf.parser.errors import LanguageWarning
from treecrf.treebank.sentence import Sentence

__all__ = ["LanguageCheck", "is_foreign", "warn_of_language"]

# Frequent in all kinds of English, in code and in its comments too; words that are also frequent in
# another language (a, in, is, on, was, we, will, ...) are left out.
_ENGLISH = """
about above after again against already also although always and another any anyone anything are
around away back because been before behind being below better between both bring but buy call
called came can cannot change child children city class code company could country day days did
doing done down during each either else email end enough ever every everyone everything false few
file find first found friend friends from gave getting give given goes going gone good got
government great had has have having help her hers herself high him himself his home hope house how
however if import into it its itself just keep know known later least less life like little look
looking lot made make making many maybe message might money much must my myself need needs never
news next night nor not nothing now number of off often old once only order other others our
ourselves out own people perhaps phone please police print put read really report return right room
run said same saw say says school see seem seems seen self send shall she should show since some
someone something soon still stop street such sure take taken talk tell than thank thanks that the
their them themselves then there these they thing things think this those though thought through
time today together told too took town true try turn two until up update use used using value very
wanted wants way week weeks well went were what when where whether which while who whole whom whose
why with within without woman women word words work working world would write wrong year years yes
yesterday yet you young your yours yourself
"""
_COMMON = MappingProxyType({"en": frozenset(_ENGLISH.split())})
_NAMES = MappingProxyType({"en": "English"})

_WINDOW = 200  # words that are judged together
_FEWEST = 20  # of which so many have letters; less text is judged by its script alone
_FEWEST_SMALL = 12  # and so many do not start with a capital, as names and titles do
_SHARE = 0.06  # of these are common, or more: English, where 18% and more of 200 words are
_LETTERS = 0.65  # of the words have letters, or more: code has less
_FEWEST_OTHER = 2  # letters of other scripts: a single one may be a symbol
_GREEK = "\u0370"  # the first letter of another script; some after it are Latin too
_IDEOGRAPHS = "\u2e80"  # the first one: in what follows, words may have no spaces between


def warn_of_language(language: str) -> None:
    """Warn that a text is not in this language."""
    name = _NAMES.get(language, language)
    problem = f"this text does not look like {name}, which the model is for"
    frame, level = sys._getframe(), 1
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("treecrf."):
        frame, level = frame.f_back, level + 1  # to the line that called the library
    warnings.warn(f"{problem}; its output may mean nothing", LanguageWarning, stacklevel=level)


def is_foreign(words: WordTable, language: str) -> bool:
    """Whether some sentences are not in this language."""
    check = LanguageCheck(language, tell=lambda _: None)
    check.see(words)
    check.finish()
    return check.foreign


def _take(names: list[str], numbers: Integers) -> list[str]:
    return [names[number] for number in numbers.tolist()]


class LanguageCheck:
    """Watches sentences go by, and tells when some are not in the language of the model, once.

    Nothing is ever told of a language that there is no list of words for.
    """

    def __init__(self, language: str, *, tell: Callable[[str], None] = warn_of_language) -> None:
        self.language = language
        self.foreign = False
        self._tell = tell
        self._common = _COMMON.get(language)
        self._before = _Counts()
        self._now = _Counts()

    def watch_all(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """The same sentences, judged to their end."""
        yield from self.watch(sentences)
        self.finish()

    def watch(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """The same sentences; those of several calls follow each other until `finish`."""
        for sentence in sentences:
            if not self.foreign and self._common is not None:
                self._see(len(sentence), partial(getattr, sentence, "forms"))
            yield sentence

    def see(self, words: WordTable) -> None:
        """Watch sentences that follow those before."""
        if self._common is None or self.foreign:
            return
        names, numbers = words.column("form")
        start = 0
        for size in words.lengths.tolist():
            self._see(size, partial(_take, names, numbers[start : start + size]))
            start += size
            if self.foreign:
                return

    def finish(self) -> None:
        """Judge the last sentences, together with those before them."""
        if not self.foreign and self._common is not None:
            self._now.add(self._before)
            self._judge()

    def _see(self, words: int, forms: Callable[[], Iterable[str]]) -> None:
        assert self._common is not None
        self._now.count(words, forms, self._common)
        if self._now.words >= _WINDOW:
            self._judge()
            self._before, self._now = self._now, _Counts()

    def _judge(self) -> None:
        if self._now.foreign:
            self.foreign = True
            self._tell(self.language)


@lru_cache(maxsize=1 << 12)
def _is_latin(letter: str) -> bool:
    """Whether a letter is Latin, such as those of ligatures, of full width and of mathematics."""
    return "LATIN" in unicodedata.name(unicodedata.normalize("NFKD", letter)[0], "")


class _Counts:
    """Numbers of words: all, with letters, with small letters alone, and common ones.

    `letters` counts no common words. Of words in other scripts than the Latin one there is also the
    number of letters.
    """

    __slots__ = ("common", "letters", "other", "other_letters", "small", "words")

    def __init__(self) -> None:
        self.words = self.letters = self.small = self.common = self.other = self.other_letters = 0

    def count(self, words: int, forms: Callable[[], Iterable[str]], common: frozenset[str]) -> None:
        """Add the words of a sentence; once enough are common, the others are not looked at."""
        self.words += words
        if self.common >= _SHARE * _WINDOW:
            return
        for form in forms():
            if form in common:
                self.common += 1
                continue
            if not form[:1].isalpha():
                continue
            more = len(form) // 2 if form[0] >= _IDEOGRAPHS else 0  # about two of them make a word
            self.words += more
            self.letters += 1 + more
            if more or (form.isalpha() and not form[0].isupper()):
                self.small += 1 + more
            if form[0] >= _GREEK and not _is_latin(form[0]):
                self.other += 1 + more
                self.other_letters += len(form)

    def add(self, other: "_Counts") -> None:
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    @property
    def foreign(self) -> bool:
        """Whether most words are of another script, or a longer text lacks the common words."""
        # All languages of which there are lists of words are written in Latin letters.
        if self.other_letters >= _FEWEST_OTHER and 2 * self.other > self.letters + self.common:
            return True
        return (
            self.common < _SHARE * self.small
            and self.small >= _FEWEST_SMALL
            and self.letters >= max(_FEWEST, _LETTERS * self.words)
        )
