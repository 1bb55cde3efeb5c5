"""The vocabulary of a model: words, characters, tags and relations; kept as `vocab.json`."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from treecrf.parser.config import Config
from treecrf.parser.errors import ParserError
from treecrf.treebank import Sentence

if TYPE_CHECKING:
    from treecrf.parser.network.pretrained import Pieces

__all__ = ["ROOT", "UNKNOWN", "Vocabulary", "build_vocabulary"]

UNKNOWN = 0
ROOT = 1
_SPECIAL = 2  # numbers before that of the first word, character or tag
_LISTS = ("relations", "upos", "tags", "characters", "words", "vectors")


class Vocabulary:
    """Numbers of words, characters and tags (0 unknown, 1 the root symbol) and of relations."""

    def __init__(
        self,
        *,
        words: Iterable[str],
        characters: Iterable[str],
        tags: Iterable[str],
        relations: Iterable[str],
        upos: Iterable[str] = (),
        vectors: Iterable[str] = (),
    ) -> None:
        self.words = list(words)
        self.characters = list(characters)
        self.tags = list(tags)
        self.relations = list(relations)
        self.upos = list(upos)  # tags that the model predicts, if it does
        self.vectors = list(vectors)  # words with pretrained vectors, in the order of their file
        self.pieces: Pieces | None = None  # of a model with a transformer
        self.word_numbers = _numbers(self.words, _SPECIAL)
        self.character_numbers = _numbers(self.characters, _SPECIAL)
        self.tag_numbers = _numbers(self.tags, _SPECIAL)
        self.relation_numbers = _numbers(self.relations, 0)
        self.upos_numbers = _numbers(self.upos, 0)
        self.vector_numbers = _numbers(self.vectors, 1)

    @property
    def sizes(self) -> dict[str, int]:
        """Number of items of each kind, the special ones included."""
        return {
            "words": len(self.words) + _SPECIAL,
            "characters": len(self.characters) + _SPECIAL,
            "tags": len(self.tags) + _SPECIAL,
            "relations": len(self.relations),
            "upos": len(self.upos),
        }

    def extended(self, other: "Vocabulary") -> "Vocabulary":
        """This vocabulary, followed by the items that only the other one has: no number changes."""
        ours, theirs = self.to_dict(), other.to_dict() | {"vectors": []}
        extended = Vocabulary(
            **{name: [*dict.fromkeys(ours[name] + theirs[name])] for name in ours}
        )
        extended.pieces = self.pieces
        return extended

    def with_vectors(self, words: Iterable[str]) -> "Vocabulary":
        """This vocabulary with the words of a file of vectors."""
        return Vocabulary(**self.to_dict() | {"vectors": list(words)})

    def to_json(self) -> str:
        """The vocabulary as a JSON file."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=0) + "\n"

    def to_dict(self) -> dict[str, list[str]]:
        """The lists that `from_dict` takes."""
        return {name: getattr(self, name) for name in _LISTS}

    @classmethod
    def from_dict(cls, data: Any) -> "Vocabulary":
        """The vocabulary in a JSON file; an error says what is wrong with it."""
        if not isinstance(data, dict) or set(data) != set(_LISTS):
            raise ParserError(f"a vocabulary has the keys {', '.join(_LISTS)}, and this has others")
        for name in _LISTS:
            if not isinstance(data[name], list) or not all(isinstance(x, str) for x in data[name]):
                raise ParserError(f"{name} is not a list of strings")
            if len(set(data[name])) < len(data[name]):
                raise ParserError(f"{name} has an item twice")
        return cls(**data)


def build_vocabulary(sentences: Sequence[Sentence], config: Config) -> Vocabulary:
    """The vocabulary of training sentences; by frequency, then by the alphabet."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in _LISTS}
    for sentence in sentences:
        forms = sentence.forms
        counts["words"].update(map(str.lower, forms) if config.lowercase else forms)
        counts["characters"].update("".join(forms))
        arcs = zip(sentence.deprels, sentence.heads, strict=True)
        counts["relations"].update(name for name, head in arcs if head >= 0 and name != "_")
        if config.tags != "none":
            counts["tags"].update(sentence.column(config.tags))
        if config.predict_upos:
            counts["upos"].update(tag for tag in sentence.column("upos") if tag != "_")
    lists = {name: sorted(count, key=lambda x: (-count[x], x)) for name, count in counts.items()}
    frequent = [word for word in lists["words"] if counts["words"][word] >= config.min_freq]
    return Vocabulary(**lists | {"words": frequent})


def _numbers(items: list[str], first: int) -> dict[str, int]:
    return {item: number for number, item in enumerate(items, first)}
