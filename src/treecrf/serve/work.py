"""What waits for a model: jobs, each of which is a request, made of tasks, each a sentence."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from treecrf.parser.analysis import Analysis
from treecrf.parser.constraints import FREE, Constraints
from treecrf.treebank import Sentence

__all__ = ["Job", "Task", "TaskResult", "estimated_words"]

# With the space, as in English. Where words are shorter, as in Chinese, it is too few of them: they
# are counted again when the text is cut.
_CHARACTERS_A_WORD = 4


def estimated_words(text: str) -> int:
    """How many words a text is taken for until it is cut."""
    return 1 + len(text) // _CHARACTERS_A_WORD


@dataclass(frozen=True, slots=True)
class Task:
    """A sentence to be parsed, and what is wanted of it."""

    sentence: Sentence
    limit: Constraints = FREE
    parse: bool = True
    """Else it is cut only."""
    details: bool = False
    topk: int = 0


@dataclass(frozen=True, slots=True)
class TaskResult:
    """What became of a task."""

    sentence: Sentence
    analysis: Analysis | None = None
    """Where details were asked for."""
    best: Sequence[tuple[Sentence, float]] = ()
    """Where a list was asked for: trees with their log-probabilities."""


class Job:
    """The work of one request: raw texts or sentences in, one string a sentence out.

    `plan` makes tasks of the sentences, or raises an error that the client gets to see; `render`
    makes a string of what becomes of each. Both run in the thread of the model, so that no large
    request holds up the loop that all connections share.
    """

    def __init__(
        self,
        *,
        texts: Sequence[str] = (),
        sentences: Sequence[Sentence] = (),
        plan: Callable[[list[list[Sentence]]], list[Task]],
        render: Callable[[Task, TaskResult], str],
        topk: int = 0,
    ) -> None:
        self.texts = texts
        self.sentences = sentences
        self.topk = topk  # of the tasks that it will have
        # What it still counts for, estimated until the text is cut.
        self.words = sum(map(estimated_words, texts)) + sum(map(len, sentences)) or 1
        self.cost = 0  # in words of short sentences; the Batcher sets it
        self.due = (0, 0)  # when as much work as this has been done, in the order of arrival
        self.plan = plan
        self.render = render
        self.tasks: deque[Task] | None = None  # until the text is cut
        self.rendered: list[str] = []
        self.is_over = False  # done, failed, or of no use to anybody any more
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[list[str]] = self.loop.create_future()

    def begin(self, cut: list[list[Sentence]]) -> None:
        """Take the sentences of each text, which may turn out to be impossible."""
        self.tasks = deque(self.plan(cut if self.texts else [list(self.sentences)]))

    def resolve(self, error: Exception | None = None) -> None:
        """Tell the request that waits, in its own thread, what there is."""

        def tell() -> None:
            if self.future.done():  # the client has gone
                return
            if error is None:
                self.future.set_result(self.rendered)
            else:
                self.future.set_exception(error)

        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
            self.loop.call_soon_threadsafe(tell)
