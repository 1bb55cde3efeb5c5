"""Threads of torch for work on a CPU: one, unless its operations are large.

Threads that share an operation spin while they wait for each other at its end, for long where other
processes compute as well. So small operations run on one thread each, side by side.
"""

import ctypes
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache
from typing import Any, TypeVar

import torch

__all__ = ["run_on_one_thread", "run_side_by_side", "run_sized", "thread_pool", "threads_for"]

Result = TypeVar("Result")

# Multiply-adds of an operation that takes a core about a tenth of a millisecond.
_SMALL_OPERATION = 4_000_000


def run_side_by_side(calls: Sequence[Callable[[], Result]]) -> Iterator[Result]:
    """The results of calls in their order, each on one thread; as many at once as torch has."""
    threads = torch.get_num_threads()
    if threads == 1 or len(calls) == 1:
        for call in calls:
            yield run_on_one_thread(call)
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
    with _one_thread():
        return call()


def run_sized(call: Callable[[], Result], *, multiply_adds: float) -> Result:
    """The result of a call; on one thread if its typical operation has few multiply-adds."""
    with threads_for(multiply_adds):
        return call()


@contextmanager
def threads_for(multiply_adds: float) -> Iterator[None]:
    """Inside the `with` block the calling thread alone has one thread if operations are small."""
    if multiply_adds >= _SMALL_OPERATION:
        yield
        return
    with _one_thread():
        yield


@contextmanager
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    if threads == 1:
        yield
        return
    set_threads, set_of_products = _setters()
    products = 0
    try:
        set_threads(1)
        products = set_of_products(1)
        yield
    finally:
        set_threads(threads)
        set_of_products(products)


@cache
def _setters() -> tuple[Callable[[int], Any], Callable[[int], Any]]:
    """Functions that set the threads of the calling thread alone: OpenMP's, and MKL's for products.

    Where there are none, `torch.set_num_threads` takes their place, which also sets what threads
    that start meanwhile begin with. MKL's returns what it was before, 0 for that of OpenMP.
    """
    try:
        library = ctypes.CDLL(torch._C.__file__)  # finds what is in the libraries of torch as well
        of_openmp = library.omp_set_num_threads
    except (OSError, AttributeError):
        return torch.set_num_threads, int
    return of_openmp, getattr(library, "MKL_Set_Num_Threads_Local", int)


def _submit(threads: int, call: Callable[[], Result]) -> Future[Result]:
    inference, gradients = torch.is_inference_mode_enabled(), torch.is_grad_enabled()

    def run() -> Result:
        with _one_thread(), torch.inference_mode(inference), torch.set_grad_enabled(gradients):
            return call()

    # It computes with the backend that the caller chose.
    return thread_pool(threads, "treecrf-single").submit(copy_context().run, run)


@cache
def thread_pool(threads: int, name: str) -> ThreadPoolExecutor:
    """One pool for each name and number of threads, which start when they are needed."""
    return ThreadPoolExecutor(threads, name)


if hasattr(os, "register_at_fork"):  # a forked child has none of the threads of its parent's pools
    os.register_at_fork(after_in_child=thread_pool.cache_clear)
