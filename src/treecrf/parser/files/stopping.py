"""Work in other threads that ends early where nobody waits for what comes of it any more."""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextvars import ContextVar, copy_context
from threading import Event
from typing import ParamSpec, TypeVar

__all__ = ["StoppedError", "stop_of_thread", "submit"]

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_stop: ContextVar[Event | None] = ContextVar("stop", default=None)


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
