"""The vocabulary of a model: words, characters, tags and relations; kept as `vocab.json`."""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import numpy.typing as npt

from treecrf.parser.choices import Column
from treecrf.parser.config import Config
from treecrf.parser.errors import ParserError
from treecrf.treebank import Sentence
from treecrf.treebank.lemmas import find_rule

if TYPE_CHECKING:
    from treecrf.parser.network.pretrained import Pieces

__all__ = ["COLUMNS", "ROOT", "UNKNOWN", "Vocabulary", "build_vocabulary", "classes_of"]

UNKNOWN = 0
ROOT = 1
_SPECIAL = 2  # numbers before that of the first word, character or tag
COLUMNS: tuple[str, ...] = get_args(Column)
_LISTS = ("relations", *COLUMNS, "tags", "characters", "words", "vectors")
_LEMMAS = "lemmas"
_UNFIT = re.compile("[\t\n\ud800-\udfff]")  # in a column of CoNLL-U
_LEAST_RULE = 2  # words with a lemma rule; one that was seen once is mostly a misspelt word


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
        xpos: Iterable[str] = (),
        feats: Iterable[str] = (),
        lemma: Iterable[str] = (),
        lemmas: Mapping[str, str] | None = None,
        vectors: Iterable[str] = (),
    ) -> None:
        self.words = list(words)
        self.characters = list(characters)
        self.tags = list(tags)
        self.relations = list(relations)
        self.vectors = list(vectors)  # words with pretrained vectors, in the order of their file
        self.pieces: Pieces | None = None  # of a model with a transformer
        # Classes of each column that the model predicts; those of lemmas are rules.
        self.columns = dict(zip(COLUMNS, map(list, (upos, xpos, feats, lemma)), strict=True))
        self.lemmas = dict(lemmas or {})  # of FORM TAB UPOS, where it is always the same
        self.word_numbers = _numbers(self.words, _SPECIAL)
        self.character_numbers = _numbers(self.characters, _SPECIAL)
        self.tag_numbers = _numbers(self.tags, _SPECIAL)
        self.relation_numbers = _numbers(self.relations, 0)
        self.column_numbers = {name: _numbers(self.columns[name], 0) for name in COLUMNS}
        self.vector_numbers = _numbers(self.vectors, 1)

    @cached_property
    def codes(self) -> npt.NDArray[np.int64]:
        """The number of each character by its code point; the last stands for all that follow."""
        numbers = self.character_numbers.items()
        known = {ord(item): number for item, number in numbers if len(item) == 1}
        table = np.full(max(known, default=0) + 2, UNKNOWN, np.int64)
        table[[*known]] = [*known.values()]
        return table

    @property
    def sizes(self) -> dict[str, int]:
        """Number of items of each kind, the special ones included."""
        return {
            "words": len(self.words) + _SPECIAL,
            "characters": len(self.characters) + _SPECIAL,
            "tags": len(self.tags) + _SPECIAL,
            "relations": len(self.relations),
            **{name: len(classes) for name, classes in self.columns.items()},
        }

    def extended(self, other: "Vocabulary") -> "Vocabulary":
        """This vocabulary, followed by the items that only the other one has: no number changes."""
        ours, theirs = self.to_dict(), other.to_dict() | {"vectors": []}
        extended = Vocabulary(
            **{name: [*dict.fromkeys(ours[name] + theirs[name])] for name in _LISTS},
            lemmas=ours[_LEMMAS] | theirs[_LEMMAS],
        )
        extended.pieces = self.pieces
        return extended

    def with_vectors(self, words: Iterable[str]) -> "Vocabulary":
        """This vocabulary with the words of a file of vectors."""
        return self.changed(vectors=list(words))

    def changed(self, **lists: list[str] | dict[str, str]) -> "Vocabulary":
        """This vocabulary with other lists, or other `lemmas`."""
        changed = Vocabulary(**self.to_dict() | lists)
        changed.pieces = self.pieces
        return changed

    def to_json(self) -> str:
        """The vocabulary as a JSON file."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=0) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """The lists and the lemmas that `from_dict` takes."""
        lists = {name: getattr(self, name) for name in _LISTS if name not in COLUMNS}
        return {**lists, **self.columns, _LEMMAS: self.lemmas}

    @classmethod
    def from_dict(cls, data: Any) -> "Vocabulary":
        """The vocabulary in a JSON file; an error says what is wrong with it."""
        if isinstance(data, dict):  # those of older versions have no column but UPOS
            data = {"xpos": [], "feats": [], "lemma": [], _LEMMAS: {}} | data
        if not isinstance(data, dict) or set(data) != {*_LISTS, _LEMMAS}:
            names = ", ".join((*_LISTS, _LEMMAS))
            raise ParserError(f"a vocabulary has the keys {names}, and this has others")
        for name in _LISTS:
            if not isinstance(data[name], list) or not all(isinstance(x, str) for x in data[name]):
                raise ParserError(f"{name} is not a list of strings")
            if len(set(data[name])) < len(data[name]):
                raise ParserError(f"{name} has an item twice")
        lemmas = data[_LEMMAS]
        if not isinstance(lemmas, dict) or not all(isinstance(x, str) for x in lemmas.values()):
            raise ParserError(f"{_LEMMAS} does not map strings to strings")
        for name in ("relations", *COLUMNS):
            _check_cells(name, data[name])
        _check_cells(_LEMMAS, lemmas.values())
        return cls(**data)


def build_vocabulary(sentences: Sequence[Sentence], config: Config) -> Vocabulary:
    """The vocabulary of training sentences; by frequency, then by the alphabet."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in _LISTS}
    lemmas: dict[str, set[str]] = {}
    for sentence in sentences:
        forms = sentence.forms
        if config.encoder == "bilstm":  # transformers have a vocabulary of their own
            counts["words"].update(map(str.lower, forms) if config.lowercase else forms)
            counts["characters"].update("".join(forms))
        arcs = [*zip(sentence.deprels, sentence.heads, strict=True)]
        counts["relations"].update(name for name, head in arcs if head >= 0 and name != "_")
        if config.tags != "none":
            counts["tags"].update(sentence.column(config.tags))
        for name in config.predict:
            counts[name].update(item for item in classes_of(sentence, name) if item is not None)
        if {"lemma", "upos"} <= set(config.predict):
            # The first part of a word that was written in several has the lemma of the whole.
            parts = {head for name, head in arcs if name.startswith("goeswith")}
            words = zip(*(sentence.column(name) for name in ("form", "upos", "lemma")), strict=True)
            for place, (form, tag, lemma) in enumerate(words, 1):
                if "_" not in (lemma, tag) and place not in parts:
                    lemmas.setdefault(f"{form}\t{tag}", set()).add(lemma)
    rules = counts["lemma"]
    least = {"words": config.min_freq, "lemma": min(_LEAST_RULE, max(rules.values(), default=1))}
    lists = {
        name: sorted(
            (item for item in count if count[item] >= least.get(name, 1)),
            key=lambda x: (-count[x], x),
        )
        for name, count in counts.items()
    }
    known = {key: next(iter(found)) for key, found in sorted(lemmas.items()) if len(found) == 1}
    return Vocabulary(**lists, lemmas=known)


def classes_of(sentence: Sentence, name: str) -> Sequence[str | None]:
    """The classes that words have in a column; None for what is not annotated."""
    cells = sentence.column(name)
    if name == "lemma":
        pairs = zip(sentence.forms, cells, strict=True)
        return [None if lemma == "_" else _rule(form, lemma) for form, lemma in pairs]
    if name == "feats" and set(cells) != {"_"}:  # having none is annotated as well
        return cells
    return [None if cell == "_" else cell for cell in cells]


_rule = lru_cache(maxsize=1 << 16)(find_rule)


def _check_cells(name: str, items: Collection[str]) -> None:
    """Refuse what no file can hold; otherwise the first sentence that has it would fail."""
    if not all(items):
        raise ParserError(f"{name} has an empty item")
    if found := _UNFIT.search("".join(items)):
        raise ParserError(f"{name} has an item with {found[0]!r}, which no column can hold")


def _numbers(items: list[str], first: int) -> dict[str, int]:
    return {item: number for number, item in enumerate(items, first)}
