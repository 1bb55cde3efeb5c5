"""Decisions about the sentences of a corpus, in a file of partial trees to train on.

It has the confirmed heads and relations, `_` for the rest, and in a comment of each sentence its
number in the corpus and its state. Corrected tags and tokens stand in their columns, and comments
name them. It is replaced as a whole after each action.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from treecrf.descriptions import parse_json
from treecrf.locks import HOLDER, NO_LOCKS, FileLock, LockedError
from treecrf.serve.annotate.words import BoundaryError, WrittenToken, tokens_of, with_tokens
from treecrf.storage import hidden, remove_temporary
from treecrf.treebank import Sentence, TreebankError, read_conllu
from treecrf.treebank.files.streams import open_target
from treecrf.treebank.probs import without_probs

__all__ = ["OPEN", "Annotations", "Record", "State", "corrected", "locked", "partial_tree"]

State: TypeAlias = Literal["open", "done", "skipped"]

_COMMENT = re.compile(r"# annotate = ([1-9][0-9]{0,17}) (open|done|skipped)\s*$")
# What else a person said of a sentence: the words whose tags were corrected, the words of the
# corpus where tokens were, and a remark.
_MORE = re.compile(r"# annotate_(tags|words|comment|flag) = (.*)$")
# What a parser said of trees that are not written, and what another annotation said.
_OF_TREES = re.compile(r"# (?:annotate(?:_\w+)?|log_prob|rank|decoder) = ")


@dataclass(frozen=True, slots=True)
class Record:
    """Decisions about a sentence, named as in JSON; words are numbered as they are in `tokens`."""

    heads: Mapping[int, int] = field(default_factory=dict)
    labels: Mapping[int, str] = field(default_factory=dict)
    state: State = "open"
    tags: Mapping[int, str] = field(default_factory=dict)
    """Corrected universal tags by word."""
    tokens: tuple[WrittenToken, ...] | None = None
    """Corrected tokens; None for those of the corpus."""
    comment: str = ""
    flag: bool = False


OPEN = Record()


class Annotations:
    """The records of a file by the number of the sentence, in the order they were begun in."""

    def __init__(self, path: str | Path) -> None:
        """Open or create a file of annotations, and lock it."""
        self.path = Path(os.path.realpath(path))
        self._records: dict[int, Record] = {}
        self._texts: dict[int, str] = {}
        self._forms: dict[int, list[str]] = {}
        self._lock = locked(self.path)
        try:
            remove_temporary(self.path)
            if self.path.exists():
                for sentence in read_conllu(self.path):
                    self._read(sentence)
        except BaseException:
            self._lock.release()
            raise

    def __enter__(self) -> "Annotations":
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def _read(self, sentence: Sentence) -> None:
        found = [match for line in sentence.comments if (match := _COMMENT.match(line))]
        if not found:
            reason = "this file was not made by `treecrf annotate`, and would be overwritten"
            raise sentence.error(f"no comment `# annotate = ...`: {reason}; give another --out")
        number = int(found[-1][1])
        state: State = found[-1][2]  # type: ignore[assignment]
        said = [match for line in sentence.comments if (match := _MORE.match(line))]
        more = {match[1]: match[2] for match in said}
        heads = {word: head for word, head in enumerate(sentence.heads, 1) if head >= 0}
        labels = {word: label for word, label in enumerate(sentence.deprels, 1) if label != "_"}
        try:
            tags = {int(word): sentence.tokens[int(word) - 1].upos for word in _ids(more)}
            forms = parse_json(more["words"]) if "words" in more else sentence.forms
        except (ValueError, IndexError):
            hint = "put that right, or give another --out"
            problem = "a comment `# annotate_tags` or `# annotate_words` is not as it was written"
            raise sentence.error(f"{problem}; {hint}") from None
        self._records[number] = Record(
            heads,
            labels,
            state,
            tags=tags,
            tokens=tokens_of(sentence) if "words" in more else None,
            comment=more.get("comment", ""),
            flag="flag" in more,
        )
        self._texts[number] = sentence.to_conllu()
        self._forms[number] = forms

    def check(self, number: int, sentence: Sentence) -> None:
        """Refuse a corpus that has another sentence of this number than the file."""
        if self._forms.pop(number, sentence.forms) != sentence.forms:
            raise self._other_corpus(number)
        try:
            corrected(sentence, self[number])
        except BoundaryError as error:
            problem = f"{self.path}: sentence {number} has other text than the corpus: {error}"
            raise TreebankError(f"{problem}; put that right, or give another --out") from None

    def check_all_found(self) -> None:
        """Refuse a corpus that lacks sentences of the file."""
        if self._forms:
            raise self._other_corpus(next(iter(self._forms)))

    def _other_corpus(self, number: int) -> TreebankError:
        problem = f"{self.path}: sentence {number} is not that of the corpus"
        hint = "this was annotated on another one; give that, or another --out"
        return TreebankError(f"{problem}: {hint}")

    def __iter__(self) -> Iterator[int]:
        return iter(self._records)

    def __contains__(self, number: object) -> bool:
        return number in self._records

    def __getitem__(self, number: int) -> Record:
        return self._records.get(number, OPEN)

    def counts(self) -> dict[str, int]:
        """Numbers of sentences done and skipped, and of confirmed heads."""
        states = [record.state for record in self._records.values()]
        heads = sum(len(record.heads) for record in self._records.values())
        return {"done": states.count("done"), "skipped": states.count("skipped"), "heads": heads}

    def put(self, number: int, sentence: Sentence, record: Record) -> None:
        """Set the record of a sentence of the corpus, and write it to disk."""
        text = partial_tree(number, sentence, record).to_conllu()
        texts = {**self._texts, number: text}
        with open_target(self.path) as write:
            write("".join(texts.values()))
        self._texts = texts
        # Another thread may be counting those of before.
        self._records = {**self._records, number: record}

    def to_conllu(self) -> str:
        """The whole file."""
        return "".join(self._texts.values())


def locked(path: Path) -> FileLock:
    """Lock a file of annotations, or say who has it."""
    end = ".lock"
    try:
        return FileLock(path.with_name(hidden(path, len(end + HOLDER)) + end))
    except LockedError as error:
        problem = f"another `treecrf annotate` has it ({error})"
        raise TreebankError(f"{path}: {problem}; end that one first") from None
    except OSError as error:
        if error.errno not in NO_LOCKS:
            error.filename = str(path)  # the name that the user knows
            raise
        problem = f"it cannot be locked there ({error.strerror}), and annotation needs a lock"
        raise TreebankError(f"{path}: {problem}; name a file on another disk") from None


def corrected(sentence: Sentence, record: Record) -> Sentence:
    """A sentence of the corpus with the tokens and tags that a person corrected."""
    if record.tokens is not None:
        sentence = with_tokens(sentence, record.tokens)
    if not record.tags:
        return sentence
    tags = [record.tags.get(word, tag) for word, tag in enumerate(sentence.column("upos"), 1)]
    return sentence.with_columns({"upos": tags})


def partial_tree(number: int, sentence: Sentence, record: Record) -> Sentence:
    """A sentence of the corpus as the file has it."""
    shown = corrected(sentence, record)
    words = range(1, len(shown) + 1)
    partial = shown.with_tree(
        [record.heads.get(word, -1) for word in words],
        [record.labels.get(word, "_") for word in words],
        columns={"misc": without_probs(shown) or shown.column("misc")},
    )
    for token in partial.tokens:
        token.deps = "_"
    comments = [comment for comment in partial.comments if not _OF_TREES.match(comment)]
    partial.comments = [
        *comments,
        *_more(sentence, record),
        f"# annotate = {number} {record.state}",
    ]
    return partial


def _more(sentence: Sentence, record: Record) -> Iterator[str]:
    if record.tags:
        yield f"# annotate_tags = {' '.join(map(str, sorted(record.tags)))}"
    if record.tokens is not None:
        yield f"# annotate_words = {json.dumps(sentence.forms, ensure_ascii=False)}"
    if record.comment:
        yield f"# annotate_comment = {record.comment}"
    if record.flag:
        yield "# annotate_flag = yes"


def _ids(more: Mapping[str, str]) -> list[str]:
    ids = more.get("tags", "").split()
    if not all(re.fullmatch(r"[1-9][0-9]*", id) for id in ids):
        raise ValueError
    return ids
