"""Requests gathered into batches: whatever waits when the model is free is parsed together."""

import asyncio
import logging
import math
import statistics
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from treecrf.parser.errors import ParserError
from treecrf.segment.errors import SegmentError
from treecrf.serve.errors import ServeError
from treecrf.serve.metrics import Metrics
from treecrf.serve.queue.engine import Engine
from treecrf.serve.queue.jobs import Job, Pieces, Task, counted_words, estimated_words
from treecrf.serve.queue.order import WaitingJobs
from treecrf.treebank import TreebankError

__all__ = ["Batcher"]

# Enough words to keep the device busy, few enough that whoever comes next does not wait long.
_BATCH_WORDS = {"cpu": 500, "cuda": 20_000}
_QUEUE_WORDS = {"cpu": 12_000, "cuda": 300_000}
_SPEED = {"cpu": 3_000, "cuda": 60_000}  # words a second, until the first batches tell
_USUAL_LENGTH = 20  # of a sentence, in words
_LONGEST_WAIT = 60  # seconds that a client is told to stay away
# A request of more words than this part of the queue is parsed in parts and takes up an eighth; all
# such requests together leave the other half to small ones.
_LARGE = 1 / 2
_PART = 1 / 8

Item = TypeVar("Item")
Result = TypeVar("Result")

_log = logging.getLogger("treecrf.serve")


class Batcher:
    """A model, the thread that works with it, and the requests that wait for it.

    There is no delay: the first request is parsed at once, and those that come meanwhile are the
    next batch. A batch costs no more than `batch_words`, or is a single sentence, so that small
    requests pass large ones by; the text of a large request is cut part by part, too.
    """

    def __init__(
        self,
        name: str,
        engine: Engine,
        *,
        metrics: Metrics,
        queue_words: int | None = None,
        batch_words: int | None = None,
    ) -> None:
        self.name = name
        self.engine = engine
        self.metrics = metrics
        device = engine.parser.device.type
        self._batch_words = batch_words or _BATCH_WORDS[device]
        self.queue_words = queue_words or _QUEUE_WORDS[device]
        self._changed = threading.Condition()
        self._waiting = WaitingJobs(
            batch=self._batch_words,
            longest=4 * self.queue_words,  # more than sentences of usual lengths in it cost
            next_cost=self._next_cost,
        )
        self._in_hand: set[Job] = set()  # those that are not done
        self._speeds: deque[float] = deque(maxlen=9)  # of the latest batches, cost a second
        self._closing = False
        self._thread: threading.Thread | None = None

    @property
    def queued_words(self) -> int:
        """Words of all requests that are in hand."""
        with self._changed:
            return sum(job.words for job in self._in_hand)

    def start(self) -> None:
        """Start the thread; until then, requests wait."""
        self._closing = False
        name = f"treecrf-serve-{self.name}"
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Refuse new requests, finish the waiting ones, and stop the thread."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    async def submit(self, job: Job, gone: Callable[[], Coroutine[Any, Any, None]]) -> list[str]:
        """Run a job and return its results; `gone` returns when the client has disconnected."""
        future = job.wait()
        with self._changed:
            if self._closing:
                raise ServeError(503, "the service is shutting down; try another", retry_after=5)
            self._check_room(job, job.words)
            job.cost = job.cost or self.estimated_cost(job)
            self._in_hand.add(job)
            self._waiting.add(job)
            self._changed.notify_all()
        leaving = asyncio.ensure_future(gone())
        either: set[asyncio.Future[Any]] = {future, leaving}
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if future.done():
                return future.result()
            raise ServeError(499, "the client has gone")
        finally:
            leaving.cancel()
            if not future.done():
                self._cancel(job)

    def _is_large(self, words: int) -> bool:
        return words > _LARGE * self.queue_words

    def _check_room(self, job: Job, words: int) -> None:
        """Reserve room in the queue for the words of a job, or refuse it."""
        room, most = words, self.queue_words
        if self._is_large(words):
            room, most = max(1, round(_PART * most)), round(_LARGE * most)
        taken = sum(other.room for other in self._in_hand if other is not job)
        has_grown = job not in self._in_hand or words > job.words
        if has_grown and taken and taken + room > most:
            raise self._refusal()
        job.words, job.room = words, room

    def _refusal(self) -> ServeError:
        # The middle one: in some of them kernels were compiled.
        speed = statistics.median(self._speeds or [_SPEED[self.engine.parser.device.type]])
        seconds = sum(job.cost for job in self._in_hand) / speed
        wait = min(max(1, math.ceil(seconds)), _LONGEST_WAIT)
        words, again = f"{self.queued_words:,} words waiting", f"try again in {wait} seconds"
        problem = f"the model {self.name!r} has {words}, and no more fit; {again}"
        return ServeError(503, problem, retry_after=wait)

    def _cancel(self, job: Job) -> None:
        """Drop a job; the part of it in the current batch is parsed in vain."""
        with self._changed:
            job.future.cancel()
            self._waiting.discard(job)
            self._in_hand.discard(job)
            job.is_over = True

    def _finish(self, job: Job, error: Exception | None = None) -> None:
        """Release the room of a job, then resolve its request."""
        with self._changed:
            was_over, job.is_over = job.is_over, True
            self._in_hand.discard(job)
        if not was_over:
            job.resolve(error)

    def estimated_cost(self, job: Job) -> int:
        """Estimated cost of a job, its text of usual sentences; slow, so not for the event loop."""
        text = math.ceil(sum(map(estimated_words, job.texts)) / _USUAL_LENGTH)
        cost = text * self.engine.cost_of(_USUAL_LENGTH, topk=job.topk)
        for sentence in job.sentences:
            counted = counted_words(sentence)
            cost += self.engine.cost_of(len(sentence), counted=counted, topk=job.topk)
        return cost

    def _next_cost(self, job: Job) -> int:
        return self.engine.cost(job.tasks[0]) if job.tasks else 0

    def _work(self) -> None:
        jobs: list[Job] = []
        while True:
            with self._changed:
                self._waiting.put_back([job for job in jobs if not job.is_over])
                self._changed.wait_for(lambda: bool(self._waiting) or self._closing)
                jobs = self._waiting.take()
            if not jobs:  # all is done, and no more come
                return
            self._work_on(jobs)

    def _work_on(self, jobs: list[Job]) -> None:
        """Parse one batch, and resolve the jobs that are done."""
        started = time.perf_counter()
        self._begin([job for job in jobs if not (job.has_begun or job.is_over)])
        for job in (job for job in jobs if not job.is_over):
            with self._failing(job):
                job.fill(self._batch_words, self.engine.cost)
                if job.is_cut and not job.tasks:
                    self._finish(job)
        shares = self._share_out([job for job in jobs if not job.is_over])
        outcomes = self._do_together(self.engine.parse, shares)
        for job, tasks in shares.items():
            if job.is_over:
                continue
            with self._failing(job):
                for task, outcome in zip(tasks, outcomes[job], strict=True):
                    job.rendered.append(job.render(task, outcome))
                # The last word counts until it is told.
                job.words = max(1, job.words - sum(task.words for task in tasks))
                job.cost = max(0, job.cost - sum(map(self.engine.cost, tasks)))
                # What is left of a large job takes up as much as before.
                job.room = min(job.room, job.words)
                if job.is_cut and not job.tasks:
                    self._finish(job)
        self._observe([task for tasks in shares.values() for task in tasks], since=started)

    def _observe(self, tasks: list[Task], *, since: float) -> None:
        if not tasks:
            return
        seconds = time.perf_counter() - since
        self.metrics.observe_batch(self.name, sum(len(task.sentence) for task in tasks), seconds)
        cost = sum(map(self.engine.cost, tasks))
        with self._changed:
            self._waiting.count(cost)
            if cost >= self._batch_words // 2:  # small ones say little of how fast large ones are
                self._speeds.append(cost / seconds)

    def _begin(self, jobs: list[Job]) -> None:
        """Segment the texts of new jobs, all at once except large ones, and plan their tasks."""
        short = [job for job in jobs if not self._is_large(job.words)]
        texts = {job: job.texts for job in short}
        pieces: dict[Job, Pieces] = dict(self._do_together(self.engine.segment, texts))
        pieces |= {job: self.engine.cut(job.texts) for job in jobs if job not in short}
        for job, cut in pieces.items():
            with self._failing(job):
                job.begin(cut)
                if job in short:
                    job.fill(math.inf, self.engine.cost)
                    # Counted anew, now that its text is cut: it may be too much after all.
                    with self._changed:
                        self._check_room(job, sum(task.words for task in job.tasks) or 1)
                        job.cost = sum(map(self.engine.cost, job.tasks))

    def _share_out(self, jobs: list[Job]) -> dict[Job, list[Task]]:
        """The next tasks that fit into a batch; a task that is too large comes alone."""
        left = self._batch_words
        taken: dict[Job, list[Task]] = {}
        for job in jobs:
            while job.tasks and (not taken or self._next_cost(job) <= left):
                left -= self._next_cost(job)
                taken.setdefault(job, []).append(job.tasks.popleft())
        return taken

    def _do_together(
        self,
        work: Callable[[Sequence[Item]], Sequence[Result]],
        parts: Mapping[Job, Sequence[Item]],
    ) -> dict[Job, list[Result]]:
        """Results of each job, computed together; a job that cannot be parsed fails alone."""
        if len(parts) > 1:
            with suppress(Exception):
                results = iter(work([item for part in parts.values() for item in part]))
                return {job: [next(results) for _ in part] for job, part in parts.items()}
        alone: dict[Job, list[Result]] = {}
        for job, part in parts.items():
            with self._failing(job):
                alone[job] = list(work(part))
        return alone

    @contextmanager
    def _failing(self, job: Job) -> Iterator[None]:
        """Make an error in the `with` block end this job alone."""
        try:
            yield
        except (TreebankError, ParserError, SegmentError) as error:
            self._finish(job, ServeError(422, str(error)))
        except Exception as error:
            if not isinstance(error, ServeError):
                _log.exception("a request failed")
            self._finish(job, error)
