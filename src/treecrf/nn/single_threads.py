"""Calls side by side on a CPU, each on one thread.

Several small products at once, each on a thread of its own, take less time than one after the other
on all threads, which have to wait for each other in every single operation; on a machine that has
other things to do as well they take far less.
"""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

import torch

__all__ = ["run_on_one_thread", "run_side_by_side"]

Result = TypeVar("Result")

_pools: dict[int, ThreadPoolExecutor] = {}
_lock = threading.Lock()


def run_side_by_side(calls: Sequence[Callable[[], Result]]) -> Iterator[Result]:
    """The results of calls in their order; as many run at once as torch has threads."""
    threads = torch.get_num_threads()
    if threads == 1 or len(calls) < 2:
        for call in calls:
            yield call()
        return
    futures = [_submit(threads, call) for call in calls]
    try:
        for future in futures:
            yield future.result()
    finally:
        for future in futures:
            future.cancel()


def run_on_one_thread(call: Callable[[], Result]) -> Result:
    """The result of a call that leaves the other threads to others."""
    threads = torch.get_num_threads()
    return call() if threads == 1 else _submit(threads, call).result()


def _submit(threads: int, call: Callable[[], Result]) -> Future[Result]:
    # It computes with the backend that the caller chose.
    return _pool(threads).submit(copy_context().run, call)


def _pool(threads: int) -> ThreadPoolExecutor:
    with _lock:
        if threads not in _pools:
            _pools[threads] = _new_pool(threads)
        return _pools[threads]


def _new_pool(threads: int) -> ThreadPoolExecutor:
    """Threads in which torch has one thread each."""
    pool = ThreadPoolExecutor(threads, "treecrf-single", initializer=_have_one_thread)
    started = threading.Barrier(threads + 1)
    for _ in range(threads):
        pool.submit(started.wait)
    started.wait()
    # The number is a thread's own, but also what threads that come later begin with.
    torch.set_num_threads(threads)
    return pool


def _have_one_thread() -> None:
    torch.get_num_threads()  # where it is first asked for, a thread takes the number of all
    torch.set_num_threads(1)


def _forget_pools() -> None:
    """A forked child has the pools but none of their threads, and perhaps a held lock."""
    global _lock
    _pools.clear()
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):  # where processes fork
    os.register_at_fork(after_in_child=_forget_pools)
