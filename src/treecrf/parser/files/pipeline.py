"""Streams in bounded memory: windows of items, and a thread that computes beside the caller."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from threading import Event
from typing import Generic, ParamSpec, TypeVar

__all__ = [
    "WINDOW_ITEMS",
    "WINDOW_WORDS",
    "Ahead",
    "StoppedError",
    "pipelined",
    "stop_of_thread",
    "submit",
    "windows",
]

Item = TypeVar("Item")
Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")

WINDOW_WORDS = 1 << 16
"""Size of a window, within which sentences are sorted by length."""
WINDOW_ITEMS = 1 << 13
"""Most sentences of a window."""
# Windows that are being computed or wait while the next one is read.
_IN_FLIGHT = 2

_stop: ContextVar[Event | None] = ContextVar("stop", default=None)


def windows(
    items: Iterable[Item],
    *,
    size: Callable[[Item], int],
    most: int | None = None,
    words: int = WINDOW_WORDS,
    first: int | None = None,
) -> Iterator[list[Item]]:
    """Lists of items, bounded in total size; the first are small, so that output starts early.

    No list has more than `most` items; one is complete when its sizes add up to `words`, the first
    of them when they add up to `first`.
    """
    window: list[Item] = []
    total = 0
    most = min(most or WINDOW_ITEMS, WINDOW_ITEMS)
    largest = first or words // 16
    for item in items:
        window.append(item)
        total += size(item)
        if total >= largest or len(window) >= most:
            yield window
            window, total = [], 0
            largest = min(2 * largest, words)
    if window:
        yield window


def pipelined(items: Iterable[Item], work: Callable[[Item], Result]) -> Iterator[Result]:
    """The results of `work` in order, computed in a thread while the caller reads and writes."""
    pending: deque[Future[Result]] = deque()
    stop = Event()
    with ThreadPoolExecutor(1, thread_name_prefix="treecrf-parse") as pool:
        try:
            for item in items:
                pending.append(submit(pool, stop, work, item))
                if len(pending) >= _IN_FLIGHT:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            stop.set()
            for future in pending:
                future.cancel()


class StoppedError(Exception):
    """The result of the work is no longer needed."""


def submit(
    pool: Executor,
    stop: Event,
    work: Callable[Arguments, Result],
    *arguments: Arguments.args,
    **options: Arguments.kwargs,
) -> "Future[Result]":
    """Run work in a thread, in the caller's context, until `stop` is set."""

    def run() -> Result:
        _stop.set(stop)
        return work(*arguments, **options)

    return pool.submit(copy_context().run, run)


def stop_of_thread() -> Callable[[], None]:
    """A function to call between batches: it raises once `stop` of this thread is set."""
    stop = _stop.get()

    def check() -> None:
        if stop is not None and stop.is_set():
            raise StoppedError

    return check


class Ahead(Generic[Item, Result]):
    """The results of `work` in order; a thread begins the next one when the caller says `begin`.

    Python threads take turns, so it is best to begin where the caller is about to run code that is
    not Python.
    """

    def __init__(self, items: Iterable[Item], work: Callable[[Item], Result]) -> None:
        self._items = iter(items)
        self._work = work
        self._begun: Future[Result] | None = None
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="treecrf-ahead")

    def __enter__(self) -> "Ahead[Item, Result]":
        return self

    def __exit__(self, *problem: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def begin(self) -> None:
        """Begin the next result, unless it has begun or there is none."""
        if self._begun is None:
            for item in self._items:
                self._begun = self._pool.submit(copy_context().run, self._work, item)
                return

    def take(self) -> Result:
        """The next result; there must be one."""
        self.begin()
        assert self._begun is not None
        begun, self._begun = self._begun, None
        return begun.result()
