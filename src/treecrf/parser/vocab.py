"""What the model has numbers for: words, characters, tags and relations; kept as `vocab.json`."""

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
_LISTS = ("relations", "upos", "tags", "characters", "words", "vectors")
_SPECIAL = 2  # how many numbers are taken before the first word, character or tag


class Vocabulary:
    """Numbers for what is in a treebank; 0 is what is unknown, 1 the root symbol."""

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
        self.upos = list(upos)  # tags that the model gives, where it does
        self.pieces: Pieces | None = None  # of words, where a transformer reads them
        self.vectors = list(vectors)  # the words of a file of pretrained vectors, in its order
        self.word_numbers = _numbers(self.words, _SPECIAL)
        self.character_numbers = _numbers(self.characters, _SPECIAL)
        self.tag_numbers = _numbers(self.tags, _SPECIAL)
        self.relation_numbers = _numbers(self.relations, 0)
        self.upos_numbers = _numbers(self.upos, 0)
        self.vector_numbers = _numbers(self.vectors, 1)

    @property
    def sizes(self) -> dict[str, int]:
        """How many numbers there are of each kind, the special ones included."""
        return {
            "words": len(self.words) + _SPECIAL,
            "characters": len(self.characters) + _SPECIAL,
            "tags": len(self.tags) + _SPECIAL,
            "relations": len(self.relations),
            "upos": len(self.upos),
        }

    def extended(self, other: "Vocabulary") -> "Vocabulary":
        """This vocabulary with what only the other one has after it: no number changes."""
        extended = Vocabulary(
            words=_joined(self.words, other.words),
            characters=_joined(self.characters, other.characters),
            tags=_joined(self.tags, other.tags),
            relations=_joined(self.relations, other.relations),
            upos=_joined(self.upos, other.upos),
            vectors=self.vectors,
        )
        extended.pieces = self.pieces
        return extended

    def with_vectors(self, words: Iterable[str]) -> "Vocabulary":
        """This vocabulary beside the words of a file of vectors."""
        return Vocabulary(**self.to_dict() | {"vectors": list(words)})

    def to_json(self) -> str:
        """The vocabulary as a JSON file."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=0) + "\n"

    def to_dict(self) -> dict[str, list[str]]:
        """What `from_dict` takes."""
        return {name: getattr(self, name) for name in _LISTS}

    @classmethod
    def from_dict(cls, data: Any) -> "Vocabulary":
        """The vocabulary that a JSON file holds; an error says what is wrong with it."""
        if not isinstance(data, dict) or set(data) != set(_LISTS):
            raise ParserError(f"a vocabulary has the keys {', '.join(_LISTS)}, and this has others")
        for name in _LISTS:
            if not isinstance(data[name], list) or not all(isinstance(x, str) for x in data[name]):
                raise ParserError(f"{name} is not a list of strings")
            if len(set(data[name])) < len(data[name]):
                raise ParserError(f"{name} has an item twice")
        return cls(**{name: data[name] for name in _LISTS})


def build_vocabulary(sentences: Sequence[Sentence], config: Config) -> Vocabulary:
    """What occurs in training sentences; words by how frequent they are, then by the alphabet."""
    words: Counter[str] = Counter()
    characters: Counter[str] = Counter()
    relations: Counter[str] = Counter()
    tags: Counter[str] = Counter()
    upos: Counter[str] = Counter()
    for sentence in sentences:
        forms = sentence.forms
        words.update(form.lower() for form in forms) if config.lowercase else words.update(forms)
        characters.update("".join(forms))
        heads = sentence.heads
        relations.update(
            relation
            for relation, head in zip(sentence.deprels, heads, strict=True)
            if head >= 0 and relation != "_"
        )
        if config.tags != "none":
            tags.update(sentence.column(config.tags))
        if config.predict_upos:
            upos.update(tag for tag in sentence.column("upos") if tag != "_")
    return Vocabulary(
        words=[word for word in _by_frequency(words) if words[word] >= config.min_freq],
        characters=_by_frequency(characters),
        tags=_by_frequency(tags),
        upos=_by_frequency(upos),
        relations=_by_frequency(relations),
    )


def _by_frequency(counts: Counter[str]) -> list[str]:
    return sorted(counts, key=lambda item: (-counts[item], item))


def _numbers(items: list[str], first: int) -> dict[str, int]:
    return {item: number for number, item in enumerate(items, first)}


def _joined(ours: list[str], theirs: list[str]) -> list[str]:
    known = set(ours)
    return ours + [item for item in theirs if item not in known]
