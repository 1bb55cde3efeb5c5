"""Threads of torch for work on a CPU: one, unless its operations are large.

Threads that share an operation spin while they wait for each other at its end, for long where other
processes compute as well. So small operations run on one thread each, side by side.
"""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from typing import TypeVar

import torch

__all__ = ["run_on_one_thread", "run_side_by_side", "run_sized", "threads_for"]

Result = TypeVar("Result")

# Multiply-adds of an operation that takes a core about a tenth of a millisecond.
_SMALL_OPERATION = 4_000_000

_pools: dict[int, ThreadPoolExecutor] = {}
_lock = threading.Lock()


def run_side_by_side(calls: Sequence[Callable[[], Result]]) -> Iterator[Result]:
    """The results of calls in their order, each on one thread; as many at once as torch has."""
    threads = torch.get_num_threads()
    if threads == 1:
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


def run_sized(call: Callable[[], Result], *, multiply_adds: float) -> Result:
    """The result of a call; on one thread if its typical operation has few multiply-adds."""
    return run_on_one_thread(call) if multiply_adds < _SMALL_OPERATION else call()


@contextmanager
def threads_for(multiply_adds: float) -> Iterator[None]:
    """Inside the `with` block the calling thread, no other, has one thread if operations are small.

    For work that must stay in its thread, such as training, which Ctrl-C ends.
    """
    threads = torch.get_num_threads()
    if threads == 1 or multiply_adds >= _SMALL_OPERATION:
        yield
        return
    torch.set_num_threads(1)
    # What is set last is also what threads that come later begin with: another sets that again.
    setter = threading.Thread(target=torch.set_num_threads, args=[threads])
    setter.start()
    setter.join()
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _submit(threads: int, call: Callable[[], Result]) -> Future[Result]:
    inference, gradients = torch.is_inference_mode_enabled(), torch.is_grad_enabled()

    def run() -> Result:
        with torch.inference_mode(inference), torch.set_grad_enabled(gradients):
            return call()

    # It computes with the backend that the caller chose.
    return _pool(threads).submit(copy_context().run, run)


def _pool(threads: int) -> ThreadPoolExecutor:
    """Threads in which torch has one thread each."""
    with _lock:
        if threads not in _pools:
            pool = ThreadPoolExecutor(threads, "treecrf-single", initializer=_have_one_thread)
            started = threading.Barrier(threads + 1)
            for _ in range(threads):
                pool.submit(started.wait)
            started.wait()
            # The number is a thread's own, but also what threads that come later begin with.
            torch.set_num_threads(threads)
            _pools[threads] = pool
        return _pools[threads]


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
