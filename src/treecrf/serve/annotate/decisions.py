"""Decisions about the sentences of a corpus, in a file of partial trees to train on.

It has the confirmed heads and relations, `_` for the rest, and in a comment of each sentence its
number in the corpus and its state. It is replaced as a whole after each action.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from treecrf.locks import HOLDER, NO_LOCKS, FileLock, LockedError
from treecrf.storage import hidden, remove_temporary
from treecrf.treebank import Sentence, TreebankError, read_conllu
from treecrf.treebank.files.streams import open_target
from treecrf.treebank.probs import without_probs

__all__ = ["OPEN", "Annotations", "Record", "State"]

State: TypeAlias = Literal["open", "done", "skipped"]

_COMMENT = re.compile(r"# annotate = ([1-9][0-9]*) (open|done|skipped)\s*$")
# What a parser said of trees that are not written.
_OF_TREES = re.compile(r"# (?:annotate|log_prob|rank|decoder) = ")


@dataclass(frozen=True, slots=True)
class Record:
    """Decisions about a sentence: heads and relations by word, and its state; named as in JSON."""

    heads: Mapping[int, int] = field(default_factory=dict)
    labels: Mapping[int, str] = field(default_factory=dict)
    state: State = "open"


OPEN = Record()


class Annotations:
    """The records of a file by the number of the sentence, in the order they were begun in."""

    def __init__(self, path: str | Path) -> None:
        """Open or create a file of annotations, and lock it."""
        self.path = Path(os.path.realpath(path))
        self._records: dict[int, Record] = {}
        self._texts: dict[int, str] = {}
        self._forms: dict[int, list[str]] = {}
        self._lock = _locked(self.path)
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
        heads = {word: head for word, head in enumerate(sentence.heads, 1) if head >= 0}
        labels = {word: label for word, label in enumerate(sentence.deprels, 1) if label != "_"}
        self._records[number] = Record(heads, labels, state)
        self._texts[number] = sentence.to_conllu()
        self._forms[number] = sentence.forms

    def check(self, number: int, sentence: Sentence) -> None:
        """Refuse a corpus that has another sentence of this number than the file."""
        if self._forms.pop(number, sentence.forms) != sentence.forms:
            raise self._other_corpus(number)

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
        text = _partial(number, sentence, record).to_conllu()
        texts = {**self._texts, number: text}
        with open_target(self.path) as write:
            write("".join(texts.values()))
        self._texts = texts
        # Another thread may be counting those of before.
        self._records = {**self._records, number: record}


def _locked(path: Path) -> FileLock:
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


def _partial(number: int, sentence: Sentence, record: Record) -> Sentence:
    words = range(1, len(sentence) + 1)
    partial = sentence.with_tree(
        [record.heads.get(word, -1) for word in words],
        [record.labels.get(word, "_") for word in words],
        columns={"misc": without_probs(sentence) or sentence.column("misc")},
    )
    for token in partial.tokens:
        token.deps = "_"
    comments = [comment for comment in partial.comments if not _OF_TREES.match(comment)]
    partial.comments = [*comments, f"# annotate = {number} {record.state}"]
    return partial
