"""Streams in bounded memory: windows of items, and a thread that computes while others are read."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

__all__ = ["pipelined", "windows"]

Item = TypeVar("Item")
Result = TypeVar("Result")

# What is held of a stream at once; within it sentences are sorted by length.
_WINDOW_WORDS = 1 << 16
_WINDOW_ITEMS = 1 << 13
# Windows that are computed or wait for it while the next one is read.
_IN_FLIGHT = 2


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
    with ThreadPoolExecutor(1, thread_name_prefix="treecrf-parse") as pool:
        try:
            for item in items:
                # The thread computes with the backend that the caller chose.
                pending.append(pool.submit(copy_context().run, work, item))
                if len(pending) >= _IN_FLIGHT:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()
