"""Made-up documents for the segmenter: templates, filled with words of a treebank.

Handles, hashtags, paths, code, lists on lines of their own: the treebank has few of them. Between
the made-up sentences stand real ones, so that both are seen beside each other.
"""

import re
import string
from collections.abc import Iterable, Sequence
from random import Random

from experiments.english.templates import HEADINGS, ITEMS, LETTERS, SENTENCES, SLOTS
from treecrf.treebank import Multiword, Sentence, Token
from treecrf.treebank.tokens import surfaces

__all__ = ["made_up_documents", "made_up_sentence"]

_SLOT = re.compile(r"\{(\w+)\}")
_TOKENS = re.compile(r"([^ ¬]+)([ ¬]*)")
_ENDINGS = ("com", "org", "net", "co.uk", "edu", "io", "gov", "de", "ly", "info")
_EXTENSIONS = ("md", "py", "txt", "html", "json", "c", "h", "cpp", "js", "csv", "pdf", "sh", "toml")
_LONGEST_NEIGHBOUR = 120  # characters of a real sentence between made-up ones


class Words:
    """Random words of a treebank by their tag, and random names that are built of them."""

    def __init__(self, sentences: Iterable[Sentence], random: Random) -> None:
        self.random = random
        self.of: dict[str, list[str]] = {}
        for sentence in sentences:
            for token in sentence.tokens:
                if token.form.isascii() and token.form.isalpha():
                    self.of.setdefault(_kind(token), []).append(token.form.lower())

    def fill(self, template: str) -> str:
        """A template with something in its slots; the tags of one sentence are the same."""
        template = template.replace("{tag}", self.draw("tag"))
        return _SLOT.sub(lambda slot: self.draw(slot[1]), template)

    def draw(self, slot: str) -> str:
        """Something for a slot, with a capital where the slot has one."""
        name = slot.lower()
        if name in SLOTS:
            return self.random.choice(SLOTS[name])
        text = getattr(self, f"_{name}")() if hasattr(self, f"_{name}") else self._word(name)
        return text[0].upper() + text[1:] if slot[0].isupper() else text

    def _word(self, kind: str = "") -> str:
        kinds = [kind] if self.of.get(kind) else list(self.of)
        return self.random.choice(self.of[self.random.choice(kinds)])

    def _number(self) -> str:
        return str(self.random.randrange(1, 10 ** self.random.randrange(1, 4)))

    def _letter(self) -> str:
        return self.random.choice([*string.ascii_lowercase, self._identifier()])

    def _identifier(self) -> str:
        first, second = self._word("noun"), self._word("verb")
        both = f"{first}_{second}", first + second.capitalize(), f"{first}{self._number()}"
        return self.random.choice([first, first, first[:3], second, *both])

    def _part(self) -> str:
        """A part of an address or of a path."""
        word = self._word()
        return self.random.choice([word, word, f"{word}-{self._word()}", self._number()])

    def _host(self) -> str:
        return f"{self._word()}{self.random.choice(['', '', self._word()])}"

    def _domain(self) -> str:
        return f"{self._host()}.{self.random.choice(_ENDINGS)}"

    def _url(self) -> str:
        start = self.random.choice(["https://", "https://", "http://", "www.", "https://www."])
        parts = [self._part() for _ in range(self.random.choice([0, 0, 1, 1, 2, 3]))]
        ends = "", "", "/", f".{self.random.choice(_EXTENSIONS)}", f"?q={self._word()}&r=1", "#top"
        end = self.random.choice(ends) if parts else self.random.choice(["", "", "/"])
        return start + "/".join([self._domain(), *parts]) + end

    def _mail(self) -> str:
        joint = self.random.choice(["", ".", "_", "-"])
        number = self.random.choice(["", "", "", self._number()])
        return f"{self._word('name')}{joint}{self._word('name')}{number}@{self._domain()}"

    def _handle(self) -> str:
        first, second = self._word("name"), self._word()
        several = first + second, f"{first}_{second}", first.capitalize() + second.capitalize()
        name = self.random.choice([first, first, *several])
        return f"@{name}{self.random.choice(['', '', self._number()])}"

    def _hashtag(self) -> str:
        words = [self._word() for _ in range(self.random.choice([1, 1, 2, 3]))]
        if self.random.random() < 0.5:
            words = [word.capitalize() for word in words]
        return f"#{''.join(words)}{self.random.choice(['', '', '', '2024', '1'])}"

    def _file(self) -> str:
        name = self.random.choice([self._identifier(), self._part(), "README", "Makefile"])
        return f"{name}.{self.random.choice(_EXTENSIONS)}"

    def _path(self) -> str:
        parts = [self._part() for _ in range(self.random.choice([1, 2, 2, 3]))]
        if self.random.random() < 0.2:
            return "C:\\" + "\\".join([*parts, self._file()])
        start = self.random.choice(["~/", "~/", "/", "/", "./", "../", f"{self._word()}/"])
        last = self.random.choice([self._file(), self._file(), self._word(), f"{self._word()}/"])
        return start + "/".join([*parts, last])

    def _code(self) -> str:
        """A name in a program with a full stop inside, or with none."""
        count = self.random.choice([1, 2, 2, 2, 3])
        return ".".join(self._identifier() for _ in range(count))


def made_up_documents(treebank: Sequence[Sentence], count: int, *, seed: int) -> list[Sentence]:
    """So many documents, each some sentences that start with one of `# newdoc`."""
    random = Random(seed)
    words = Words(treebank, random)
    neighbours = [s for s in treebank if len(s) and len(s.text) <= _LONGEST_NEIGHBOUR]
    made: list[Sentence] = []
    for _ in range(count):
        make = random.choice([_prose, _prose, _prose, _list, _lines])
        document = make(words, neighbours)
        document[0].comments = ["# newdoc"]
        made += document
    return made


def _prose(words: Words, neighbours: Sequence[Sentence]) -> list[Sentence]:
    """Made-up and real sentences one after the other."""
    return [
        made_up_sentence(words.fill(words.random.choice(SENTENCES)))
        if words.random.random() < 0.7
        else _copy(words.random.choice(neighbours))
        for _ in range(words.random.randrange(2, 9))
    ]


def _list(words: Words, neighbours: Sequence[Sentence]) -> list[Sentence]:
    """Items on lines of their own, all with the same mark, perhaps with a heading."""
    random = words.random
    numbers = random.choice(["¬. ", "¬) "])
    bullet = words.draw("bullet") if random.random() < 0.75 else ""
    lines = [words.fill(random.choice(HEADINGS))] if random.random() < 0.5 else []
    for number in range(1, random.randrange(3, 8)):
        item = words.fill(random.choice(SENTENCES if random.random() < 0.2 else ITEMS))
        lines.append((f"{bullet} " if bullet else f"{number}{numbers}") + item)
    sentences = [made_up_sentence(line, after="\n") for line in lines]
    if random.random() < 0.5:
        sentences.append(_copy(random.choice(neighbours)))
        sentences[-1].comments = ["# newpar"] if random.random() < 0.7 else []
    return sentences


def _lines(words: Words, neighbours: Sequence[Sentence]) -> list[Sentence]:
    """A letter or some messages, a line each."""
    random = words.random
    messages = [
        made_up_sentence(words.fill(random.choice(SENTENCES)), after="\n")
        if random.random() < 0.5
        else _copy(random.choice(neighbours), after="\n")
        for _ in range(random.randrange(1, 5))
    ]
    if random.random() < 0.5:
        return messages
    first, *last = (made_up_sentence(words.fill(t), after="\n") for t in random.choice(LETTERS))
    return [first, *messages, *last]


def made_up_sentence(marked: str, *, after: str = " ") -> Sentence:
    """The sentence of a filled template; `after` is the white space that follows it."""
    tokens: list[Token] = []
    multiwords: list[Multiword] = []
    for form, joint in _TOKENS.findall(marked):
        words = form.split("¦")
        misc = "SpaceAfter=No" if "¬" in joint else "_"
        first = len(tokens) + 1
        tokens += [Token(id, word) for id, word in enumerate(words, first)]
        if len(words) > 1:
            whole = "".join(words)
            multiwords.append(Multiword(first, len(tokens), whole, misc=misc))
        else:
            tokens[-1].misc = misc
    sentence = Sentence.from_tokens(tokens, multiwords=multiwords)
    _set_space(sentence, after)
    return sentence


def _copy(sentence: Sentence, *, after: str = " ") -> Sentence:
    """A sentence of the treebank without its comments."""
    copy = Sentence.from_tokens(
        [Token(token.id, token.form, misc=token.misc) for token in sentence.tokens],
        multiwords=[Multiword(m.first, m.last, m.form, misc=m.misc) for m in sentence.multiwords],
    )
    _set_space(copy, after)
    return copy


def _set_space(sentence: Sentence, after: str) -> None:
    *_, last = surfaces(sentence.tokens, sentence.multiwords)
    last.misc = "_" if after == " " else "SpacesAfter=" + after.replace("\n", "\\n")


def _kind(token: Token) -> str:
    kinds = {"NNP": "name", "NN": "noun", "JJ": "adjective", "VBD": "verb"}
    return kinds.get(token.xpos, "other")
