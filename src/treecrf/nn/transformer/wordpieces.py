"""BERT's wordpieces: a word is cut into the longest pieces in the vocabulary."""

import unicodedata
from collections.abc import Iterable
from functools import cache

UNKNOWN, START, END = "[UNK]", "[CLS]", "[SEP]"
# A longer part is unknown as a whole, as in BERT.
_LONGEST = 100
# Words in the cache; it is cleared when full.
_REMEMBERED = 1 << 17
_LONGEST_REMEMBERED = 100  # characters: longer words rarely recur and take much memory


class WordPieces:
    """Wordpieces by number, with a cache of words."""

    def __init__(
        self, vocabulary: Iterable[str], *, lowercase: bool, limit: int, longest: int = 512
    ) -> None:
        self.vocabulary = list(vocabulary)
        self.lowercase = lowercase
        self.longest = longest  # most pieces of a text, its start and end included
        self.limit = limit  # most pieces of a word; the rest is dropped
        self.numbers = {piece: number for number, piece in enumerate(self.vocabulary)}
        self.start, self.end = self.numbers[START], self.numbers[END]
        self.unknown = self.numbers[UNKNOWN]

        self._widest = max(map(len, self.vocabulary))
        self._known: dict[str, list[int]] = {}

    def cut(self, word: str) -> list[int]:
        """Numbers of the pieces of a word, at least one."""
        pieces = self._known.get(word)
        if pieces is None:
            pieces = self._cut(word)
            if len(word) <= _LONGEST_REMEMBERED:
                if len(self._known) >= _REMEMBERED:
                    self._known.clear()
                self._known[word] = pieces
        return pieces

    def _cut(self, word: str) -> list[int]:
        pieces: list[int] = []
        for part in self._parts(word):
            pieces += self._longest_pieces(part)
            if len(pieces) >= self.limit:
                break
        return pieces[: self.limit] or [self.unknown]

    def _parts(self, word: str) -> list[str]:
        """Cut at punctuation and ideographs; drop control characters and, lowercased, accents."""
        if self.lowercase:
            word = unicodedata.normalize("NFD", word.lower())
            word = "".join(char for char in word if unicodedata.category(char) != "Mn")
        # Separators become spaces: growing strings by a letter would be quadratic.
        return "".join(map(_apart, word)).split()

    def _longest_pieces(self, part: str) -> list[int]:
        if len(part) > _LONGEST:
            return [self.unknown]
        pieces: list[int] = []
        start = 0
        while start < len(part):
            prefix = "##" if start else ""
            for end in range(min(len(part), start + self._widest), start, -1):
                number = self.numbers.get(prefix + part[start:end])
                if number is not None:
                    break
            else:
                return [self.unknown]
            pieces.append(number)
            start = end
        return pieces


@cache
def _apart(char: str) -> str:
    """Drop a control character; make white space a space; put spaces around punctuation."""
    if char in "\t\n\r":
        return " "
    if unicodedata.category(char) in ("Cc", "Cf", "Co") or char == "\ufffd":
        return ""
    if char.isspace():
        return " "
    return f" {char} " if _stands_alone(char) else char


def _stands_alone(char: str) -> bool:
    """Whether BERT splits a character off as a part: punctuation, ideographs."""
    code = ord(char)
    if 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126:
        return True
    if unicodedata.category(char)[0] == "P":
        return True
    return any(first <= code <= last for first, last in _IDEOGRAPHS)


# As in the package tokenizers: the last but two begins later than in Unicode.
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
