"""Streams in bounded memory: windows of items, and a thread that computes while others are read."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from threading import Event
from typing import Generic, ParamSpec, TypeVar

__all__ = ["Ahead", "StoppedError", "pipelined", "stop_of_thread", "submit", "windows"]

Item = TypeVar("Item")
Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")

# What is held of a stream at once; within it sentences are sorted by length.
_WINDOW_WORDS = 1 << 16
_WINDOW_ITEMS = 1 << 13
# Windows that are computed or wait for it while the next one is read.
_IN_FLIGHT = 2

_stop: ContextVar[Event | None] = ContextVar("stop", default=None)


def windows(items: Iterable[Item], *, size: Callable[[Item], int]) -> Iterator[list[Item]]:
    """The items in lists of bounded total size; the first ones are small, so that output starts."""
    window: list[Item] = []
    total = 0
    most = _WINDOW_WORDS // 16
    for item in items:
        window.append(item)
        total += size(item)
        if total >= most or len(window) >= _WINDOW_ITEMS:
            yield window
            window, total = [], 0
            most = min(2 * most, _WINDOW_WORDS)
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
    """What was begun is not wanted any more."""


def submit(
    pool: Executor,
    stop: Event,
    work: Callable[Arguments, Result],
    *arguments: Arguments.args,
    **options: Arguments.kwargs,
) -> "Future[Result]":
    """Have a thread do the work, with the backend that the caller chose, until `stop` is set."""

    def run() -> Result:
        _stop.set(stop)
        return work(*arguments, **options)

    return pool.submit(copy_context().run, run)


def stop_of_thread() -> Callable[[], None]:
    """What raises once the work of this thread is not wanted any more: to call between batches."""
    stop = _stop.get()

    def check() -> None:
        if stop is not None and stop.is_set():
            raise StoppedError

    return check


class Ahead(Generic[Item, Result]):
    """The results of `work` in order, one ahead in a thread: from when the caller says `begin`.

    Not as early as can be, as `pipelined` does: two threads take turns in Python, so that work
    is begun best where the caller is about to wait for what is not Python.
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
        """Begin with the next result, unless that has begun or there is none."""
        if self._begun is None:
            for item in self._items:
                self._begun = self._pool.submit(copy_context().run, self._work, item)
                return

    def take(self) -> Result:
        """The next result, of which there must be one."""
        self.begin()
        assert self._begun is not None
        begun, self._begun = self._begun, None
        return begun.result()
