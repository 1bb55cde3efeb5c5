"""Independent tasks of compiled code in threads, for the CPU backend."""

import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import wait

import numpy as np
import numpy.typing as npt
import torch

from treecrf.threads import thread_pool

Indices = npt.NDArray[np.int64]
Task = Callable[[Indices], None]

# Below this total cost (about nanoseconds) another thread does not pay.
INLINE_COST = 250_000.0
# Each thread takes several pieces, so that one that starts late leaves its share to the others.
PIECES_PER_THREAD = 4
PIECE_COST = 80_000.0


def run_in_threads(task: Task, costs: Sequence[float]) -> None:
    """Call `task` on disjoint index arrays that together cover `range(len(costs))`.

    `costs[index]` is the expected time of one index in about nanoseconds. At most
    `torch.get_num_threads()` calls run at once, one of them in the calling thread. Returns when
    every call has ended, or raises the exception of one. May be called from many threads at once,
    from tasks, and after a fork.
    """
    total = sum(costs)
    threads = min(torch.get_num_threads(), len(costs)) if total > INLINE_COST else 1
    if threads <= 1:
        if len(costs) > 0:
            task(np.arange(len(costs), dtype=np.int64))
        return
    pieces = max(threads, min(threads * PIECES_PER_THREAD, int(total / PIECE_COST)))
    left = deque(balanced_split(costs, pieces))

    def work() -> None:
        """Take pieces until none is left; an error stops all threads after their piece."""
        while left:
            try:
                piece = left.popleft()
            except IndexError:  # another thread took the last one
                return
            try:
                task(piece)
            except BaseException:
                left.clear()
                raise

    pool = thread_pool(os.cpu_count() or 1, "treecrf")
    futures = [pool.submit(work) for _ in range(threads - 1)]
    try:
        work()
    finally:
        # Only threads that have begun are waited for: a busy pool cannot stop a call.
        begun = [future for future in futures if not future.cancel()]
        wait(begun)
    for future in begun:
        future.result()


def balanced_split(costs: Sequence[float], parts: int) -> list[Indices]:
    """Split `range(len(costs))` into at most `parts` parts of similar cost, the costliest first."""
    members: list[list[int]] = [[] for _ in range(min(parts, len(costs)))]
    totals = [0.0] * len(members)
    for index in sorted(range(len(costs)), key=lambda index: -costs[index]):
        part = totals.index(min(totals))
        members[part].append(index)
        totals[part] += costs[index]
    return [np.array(part, dtype=np.int64) for part in members if part]
