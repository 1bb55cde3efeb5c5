"""The annotation of a corpus by one person, and that of several."""

import hashlib
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from treecrf.parser.bundled import DEFAULT
from treecrf.serve.annotate.cut import Cut
from treecrf.serve.annotate.decisions import Annotations, Record, corrected
from treecrf.serve.annotate.questions import Asking, Queue
from treecrf.serve.annotate.store import SentenceStore
from treecrf.serve.annotate.words import BoundaryError
from treecrf.serve.errors import ServeError
from treecrf.treebank import Sentence

__all__ = ["Annotating", "Team", "content_version"]


@dataclass(frozen=True, slots=True)
class Annotating:
    """A corpus that is being annotated by one person."""

    corpus_name: str
    corpus: SentenceStore
    queue: Queue
    annotations: Annotations
    asking: Asking
    cut: Cut | None = None  # kept with the first decision
    saved: dict[int, str] = field(default_factory=dict)  # versions since the start, by sentence
    lock: threading.Lock = field(default_factory=threading.Lock)

    def sentence(self, place: int) -> tuple[int, Sentence]:
        """The sentence at a place of the queue, the first being 1, and its number."""
        if place > len(self.queue.numbers):
            raise ServeError(404, f"there are {len(self.queue.numbers)} sentences to annotate")
        number = self.queue.numbers[place - 1]
        return number, self.corpus[number]

    def key(self, number: int, sentence: Sentence) -> str:
        """An identifier that no other sentence has, in this queue or in that of another process."""
        return _digest([str(self.annotations.path), str(number), *sentence.forms])

    def keyed_sentence(self, place: int, key: str) -> tuple[int, Sentence]:
        """The same, if it is the one that somebody has seen there."""
        number, sentence = self.sentence(place)
        if self.key(number, sentence) != key:
            reason = "the service has been started again since the page was opened; reload the page"
            raise ServeError(404, f"this is not the sentence that is here now: {reason}")
        return number, sentence

    def decided(self, number: int) -> tuple[Record, list[str]]:
        """The record of a sentence, and the names of that version; the first one counts.

        The last is that of what is in the file, which another process gives it too.
        """
        # Read before the record: it may be that of an earlier one then, never of a later one.
        saved = [self.saved[number]] if number in self.saved else []
        record = self.annotations[number]
        return record, [*saved, content_version(record)]

    def save(
        self, number: int, sentence: Sentence, record: Record, *, version: str, known: list[str]
    ) -> None:
        """Save a decision, unless it was made without knowing what is in the file."""
        with self.lock:
            # The same may come twice, if an answer is lost.
            if self.decided(number)[1][0] not in (version, *known):
                reason = "this sentence was changed elsewhere meanwhile, perhaps in another tab"
                hint = "look at what it has now, and decide again"
                raise ServeError(409, f"not saved: {reason}; {hint}")
            if self.cut is not None:
                self.cut.keep(self.corpus)
            self.annotations.put(number, sentence, record)
            self.saved[number] = version

    def progress(self, place: int) -> dict[str, Any]:
        """Progress of the annotation, and the next sentence after this place."""
        total = len(self.queue.numbers)
        after = [*range(place + 1, total + 1), *range(1, min(place, total) + 1)]
        numbers, records = self.queue.numbers, self.annotations
        is_open = (other for other in after if records[numbers[other - 1]].state == "open")
        return {**records.counts(), "total": total, "next": next(is_open, None)}

    def shown(self, sentence: Sentence, record: Record) -> Sentence:
        """A sentence with corrected tokens and tags; an error says what cannot be."""
        try:
            shown = corrected(sentence, record)
        except BoundaryError as error:
            raise ServeError(422, str(error)) from None
        if extra := [word for word in record.tags if not 1 <= word <= len(shown)]:
            problem = f"a tag for word {extra[0]}, but there are {len(shown)} words"
            raise ServeError(422, problem)
        return shown


class Team(Mapping[str, Annotating]):
    """The annotators of a corpus by name; one who works alone has no name."""

    def __init__(self, members: Mapping[str, Annotating], *, model_name: str = DEFAULT) -> None:
        self._members = dict(members)
        self.model_name = model_name
        self.first = next(iter(self._members.values()))

    def __getitem__(self, name: str) -> Annotating:
        return self._members[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    @property
    def names(self) -> list[str]:
        """The names of the annotators; none of one who works alone."""
        return [name for name in self._members if name]

    def find(self, name: str) -> Annotating:
        """The annotator of this name."""
        if name not in self._members:
            known = f"there are: {', '.join(self.names)}" if self.names else "one works here alone"
            problem = f"there is no annotator {name[:100]!r}" if name else "no annotator is named"
            raise ServeError(404, f"{problem}; {known}")
        return self._members[name]

    def numbers(self) -> list[int]:
        """The numbers of the sentences that anybody has begun, in the order of the corpus."""
        return sorted({number for each in self._members.values() for number in each.annotations})


def content_version(record: Record) -> str:
    """The name of a version by its content."""
    return "content-" + _digest(list(_parts(record)))


def _parts(record: Record) -> Iterable[str]:
    yield str(sorted(record.heads.items()))
    yield str(sorted(record.labels.items()))
    yield record.state
    if record.tags or record.tokens is not None or record.comment or record.flag:
        yield str(sorted(record.tags.items()))
        yield str(record.tokens and [(token.form, *token.words) for token in record.tokens])
        yield record.comment
        yield str(record.flag)


def _digest(parts: list[str]) -> str:
    # The name of a file may be no text.
    return hashlib.sha256("\t".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]
