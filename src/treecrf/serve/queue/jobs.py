"""Work that waits for a model: a job is a request, made of tasks, each a sentence."""

import asyncio
import contextlib
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from treecrf.parser.constraints import NO_CONSTRAINTS, Constraints
from treecrf.parser.decoding.sentences import Analysis
from treecrf.treebank import Sentence

__all__ = ["Job", "Pieces", "Plan", "Task", "counted_words", "estimated_words"]

# With the space, as in English. Where words are shorter, as in Chinese, it is too few of them: they
# are counted again when the text is cut.
_CHARACTERS_A_WORD = 4
# Words that are longer than most take time by their characters: one for each so many.
_CHARACTERS_A_LONG_WORD = 8


def estimated_words(text: str) -> int:
    """Estimated words of a text before it is segmented."""
    return 1 + len(text) // _CHARACTERS_A_WORD


def counted_words(sentence: Sentence) -> int:
    """Words of a sentence for limits and costs; long words count for more than one."""
    return max(len(sentence), sum(map(len, sentence.forms)) // _CHARACTERS_A_LONG_WORD)


@dataclass(frozen=True)
class Task:
    """A sentence, and the work to be done with it."""

    sentence: Sentence
    constraints: Constraints = NO_CONSTRAINTS
    parse: bool = True  # else the sentence is only given back
    details: bool = False
    topk: int = 0

    @cached_property
    def words(self) -> int:
        return counted_words(self.sentence)


Pieces: TypeAlias = Iterable[Iterable[Sentence | None]]
"""The sentences of each text of a job; those of a long one are cut as they are asked for, and None
comes after each step of that, so that others have their turn though there is no sentence yet."""
Plan: TypeAlias = Callable[[Pieces], Iterable[Task | None]]
_END = object()


class Job:
    """The work of one request: raw texts or sentences in, one string a sentence out.

    `plan` makes tasks of the sentences, one by one for a large request that is parsed part by part,
    or raises an error for the client. `render` makes a string of each result. Both run in the
    thread of the model, so that no large request holds up the loop that all connections share.
    """

    def __init__(
        self,
        *,
        texts: Sequence[str] = (),
        sentences: Sequence[Sentence] = (),
        plan: Plan,
        render: Callable[[Task, Analysis], str],
        topk: int = 0,
    ) -> None:
        self.texts = texts
        self.sentences = sentences
        self.topk = topk  # of the tasks that it will have
        # What it still counts for, estimated until the text is cut.
        self.words = sum(map(estimated_words, texts)) + sum(map(counted_words, sentences)) or 1
        self.room = 0  # that it takes in the queue; the Batcher sets it
        self.cost = 0  # in words of short sentences; the Batcher sets it
        self.due = (0, 0)  # when as much work as this has been done, in the order of arrival
        self.plan = plan
        self.render = render
        self.tasks: deque[Task] = deque()  # the next ones
        self.has_begun = False
        self.is_cut = False  # all tasks have been made
        self.rendered: list[str] = []
        self.is_over = False  # done, failed, or of no use to anybody any more
        self._more: Iterator[Task | None] = iter(())

    def wait(self) -> "asyncio.Future[list[str]]":
        """Create the future of the job in the running event loop."""
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[list[str]] = self.loop.create_future()
        return self.future

    def begin(self, cut: Pieces) -> None:
        """Set the sentences of each text; raises if they cannot be parsed."""
        self.has_begun = True
        self._more = iter(self.plan(cut if self.texts else [self.sentences]))

    def fill(self, room: float, cost: Callable[[Task], int]) -> None:
        """Make the next tasks, up to a cost, the end of a step or the end of the job."""
        room -= sum(map(cost, self.tasks))
        while room > 0 and not self.is_cut:
            task = next(self._more, _END)
            if isinstance(task, Task):
                self.tasks.append(task)
                room -= cost(task)
            elif task is _END:
                self.is_cut = True
            elif room < math.inf:
                return

    def resolve(self, error: Exception | None = None) -> None:
        """Set the result of the future, in the thread of its event loop."""

        def tell() -> None:
            if not self.future.done():  # else the client has gone
                if error is None:
                    self.future.set_result(self.rendered)
                else:
                    self.future.set_exception(error)

        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
            self.loop.call_soon_threadsafe(tell)
