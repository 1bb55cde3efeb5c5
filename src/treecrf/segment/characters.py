"""Characters as numbers: those that training saw, and the class that every character has."""

import unicodedata
from collections.abc import Iterable
from enum import IntEnum

import numpy as np
import numpy.typing as npt

__all__ = [
    "OUTSIDE",
    "UNKNOWN",
    "Alphabet",
    "CharacterClass",
    "Classes",
    "Codes",
    "Joins",
    "as_read",
    "classes_of",
    "codes_of",
    "is_space",
    "may_join",
]

Codes = npt.NDArray[np.uint32]
Classes = npt.NDArray[np.uint8]
Joins = npt.NDArray[np.bool_]  # [class before, class after] of a space inside a token

OUTSIDE = 0x110000  # the code point, which is none, of what is before a text and after it
UNKNOWN = 1  # the number of a character that training did not see; that of OUTSIDE is 0
_SPECIAL = 2  # how many numbers are taken before the first character
_CODES = OUTSIDE + 1


class CharacterClass(IntEnum):
    """Classes that characters have even where training never saw them; white space first."""

    OUTSIDE = 0
    SPACE = 1
    CONTROL_SPACE = 2
    LINE_BREAK = 3
    UPPER = 4
    LOWER = 5
    LETTER = 6
    MARK = 7
    DIGIT = 8
    OPENING = 9
    CLOSING = 10
    DASH = 11
    PUNCTUATION = 12
    SYMBOL = 13
    OTHER = 14


_LINE_BREAKS = frozenset("\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")  # those of str.splitlines
_CATEGORIES = {
    CharacterClass.SPACE: ("Zs",),
    CharacterClass.UPPER: ("Lu", "Lt"),
    CharacterClass.LOWER: ("Ll",),
    CharacterClass.OPENING: ("Ps", "Pi"),
    CharacterClass.CLOSING: ("Pe", "Pf"),
    CharacterClass.DASH: ("Pd", "Pc"),
    CharacterClass.PUNCTUATION: ("Po",),
    CharacterClass.LETTER: ("L",),
    CharacterClass.MARK: ("M",),
    CharacterClass.DIGIT: ("N",),
    CharacterClass.SYMBOL: ("S",),
}
_OF_CATEGORY = {name: kind for kind, names in _CATEGORIES.items() for name in names}

# Filled as characters turn up: all of them would take half a second.
_UNSEEN = 255
_CLASSES = np.full(_CODES, _UNSEEN, np.uint8)
_CLASSES[OUTSIDE] = CharacterClass.OUTSIDE


class Alphabet:
    """Numbers of characters; what training did not see is UNKNOWN, and all line breaks are one."""

    def __init__(self, characters: Iterable[str]) -> None:
        self.characters = list(characters)
        self._numbers = np.full(_CODES, UNKNOWN, np.int32)
        self._numbers[OUTSIDE] = 0
        codes = [ord(character) for character in self.characters]
        self._numbers[codes] = np.arange(_SPECIAL, _SPECIAL + len(codes))
        self._numbers[[ord(character) for character in _LINE_BREAKS]] = self._numbers[ord("\n")]

    def __len__(self) -> int:
        """The number of numbers, the special ones included."""
        return len(self.characters) + _SPECIAL

    def numbers(self, codes: Codes) -> npt.NDArray[np.int32]:
        return self._numbers[codes]


def codes_of(text: str) -> Codes:
    """The code points of a text, lone surrogates among them."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def classes_of(codes: Codes) -> Classes:
    """The `CharacterClass` of each code point."""
    classes = _CLASSES[codes]
    unseen = classes == _UNSEEN
    if unseen.any():
        for code in np.unique(codes[unseen]).tolist():
            _CLASSES[code] = _class_of(chr(code))
        classes = _CLASSES[codes]
    return classes


def as_read(codes: Codes) -> Codes:
    """The code points as a network reads them: a line break of two characters is one."""
    pairs = np.flatnonzero((codes[:-1] == ord("\r")) & (codes[1:] == ord("\n")))
    if len(pairs):
        codes = codes.copy()
        codes[pairs] = ord(" ")
    return codes


def is_space(classes: Classes) -> npt.NDArray[np.bool_]:
    """Whether each character is white space, or outside the text."""
    return classes <= CharacterClass.LINE_BREAK


def may_join(classes: Classes, joins: Joins) -> npt.NDArray[np.bool_]:
    """Whether a token may go on after a space that follows each character but the last two."""
    found: npt.NDArray[np.bool_] = joins[classes[..., :-2], classes[..., 2:]]
    return found & (classes[..., 1:-1] == CharacterClass.SPACE)


def _class_of(character: str) -> CharacterClass:
    category = unicodedata.category(character)
    if character in _LINE_BREAKS:
        return CharacterClass.LINE_BREAK
    if character.isspace() and category != "Zs":
        return CharacterClass.CONTROL_SPACE
    return _OF_CATEGORY.get(category) or _OF_CATEGORY.get(category[0], CharacterClass.OTHER)
