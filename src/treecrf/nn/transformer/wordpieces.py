"""BERT's pieces of words: a word is cut into the longest pieces that the vocabulary has."""

import unicodedata
from collections.abc import Iterable

__all__ = ["END", "START", "UNKNOWN", "WordPieces"]

UNKNOWN, START, END = "[UNK]", "[CLS]", "[SEP]"
# A longer run of letters is unknown as a whole, as in BERT.
_LONGEST = 100
# Words whose pieces are remembered; then all are forgotten and it begins again.
_REMEMBERED = 1 << 17
_LONGEST_REMEMBERED = 100  # characters: longer ones hardly come again, and take much memory


class WordPieces:
    """The pieces of words by number; words are remembered once they are cut."""

    def __init__(
        self, vocabulary: Iterable[str], *, lowercase: bool, limit: int, longest: int = 512
    ) -> None:
        self.vocabulary = list(vocabulary)
        self.lowercase = lowercase
        self.longest = longest  # the most pieces of a text, its start and end among them
        self.limit = limit  # the most pieces of a word that are read; the rest is left out
        self.numbers = {piece: number for number, piece in enumerate(self.vocabulary)}
        self.start, self.end = self.numbers[START], self.numbers[END]
        self.unknown = self.numbers[UNKNOWN]

        self._widest = max(map(len, self.vocabulary))
        self._known: dict[str, list[int]] = {}
        self._spaced: dict[str, str] = {}  # no more than Unicode has characters

    def cut(self, word: str) -> list[int]:
        """The numbers of the pieces of a word, at least one."""
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
        """The word without control characters and accents, cut at punctuation and ideographs."""
        if self.lowercase:
            word = unicodedata.normalize("NFD", word.lower())
            word = "".join(char for char in word if unicodedata.category(char) != "Mn")
        # Whatever parts words becomes a space: strings that grow by a letter would be quadratic.
        return "".join(map(self._apart, word)).split()

    def _apart(self, char: str) -> str:
        """What `_apart` says of a character, remembered."""
        spaced = self._spaced.get(char)
        if spaced is None:
            spaced = self._spaced[char] = _apart(char)
        return spaced

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


def _apart(char: str) -> str:
    """Nothing of a control character, a space for white space, a character alone between two."""
    if char in "\t\n\r":
        return " "
    if unicodedata.category(char) in ("Cc", "Cf", "Co") or char == "\ufffd":
        return ""
    if char.isspace():
        return " "
    return f" {char} " if _stands_alone(char) else char


def _stands_alone(char: str) -> bool:
    """Whether BERT makes a part of its own of a character: punctuation, ideographs."""
    code = ord(char)
    if 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126:
        return True
    if unicodedata.category(char)[0] == "P":
        return True
    return any(first <= code <= last for first, last in _IDEOGRAPHS)


# As the package tokenizers has them: the last but two begins later than in Unicode.
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
