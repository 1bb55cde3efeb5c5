"""Independent tasks of compiled code in threads, for the CPU backend."""

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt
import torch

__all__ = ["balanced_split", "run_in_threads"]

Indices = npt.NDArray[np.int64]
Task = Callable[[Indices], None]

# Below this total cost (about nanoseconds) another thread does not pay.
INLINE_COST = 250_000.0
# Each thread takes several pieces, so that one that starts late leaves its share to the others.
PIECES_PER_THREAD = 4
PIECE_COST = 80_000.0

_pool: ThreadPoolExecutor | None = None
_lock = threading.Lock()


def run_in_threads(task: Task, costs: Sequence[float]) -> None:
    """Call `task` on disjoint index arrays that together cover `range(len(costs))`.

    `costs[index]` is the expected time of one index in about nanoseconds; only ratios and the
    rough size matter. At most `torch.get_num_threads()` calls run at once, one of them in the
    calling thread, so the task should release the GIL in compiled code. Returns when every call
    has ended, and raises the first exception of any of them. May be called from many threads at
    once, from tasks, and after a fork.
    """
    total = sum(costs)
    threads = min(torch.get_num_threads(), len(costs)) if total > INLINE_COST else 1
    if threads <= 1:
        if len(costs) > 0:
            task(np.arange(len(costs), dtype=np.int64))
        return
    pieces = max(threads, min(threads * PIECES_PER_THREAD, int(total / PIECE_COST)))
    job = _Job(task, balanced_split(costs, pieces))
    pool = _shared_pool()
    for _ in range(threads - 1):
        pool.submit(job.work)
    job.work()
    job.finish()


def balanced_split(costs: Sequence[float], parts: int) -> list[Indices]:
    """Split `range(len(costs))` into at most `parts` parts of similar total cost, none empty.

    The most expensive indices are placed first, each in the cheapest part so far.
    """
    members: list[list[int]] = [[] for _ in range(min(parts, len(costs)))]
    totals = [0.0] * len(members)
    for index in sorted(range(len(costs)), key=lambda index: -costs[index]):
        part = totals.index(min(totals))
        members[part].append(index)
        totals[part] += costs[index]
    return [np.array(part, dtype=np.int64) for part in members if part]


class _Job:
    """Pieces of one call, which the caller and the threads of the pool take one by one.

    The caller never waits for a thread of the pool to begin, only for one to end its piece: a busy
    pool or a busy machine makes a call slow, but cannot stop it.
    """

    def __init__(self, task: Task, pieces: list[Indices]) -> None:
        self.task = task
        self.pieces = deque(pieces)
        self.running = 0
        self.error: BaseException | None = None
        self.changed = threading.Condition()

    def work(self) -> None:
        """Work on pieces until none is left."""
        while (piece := self._take()) is not None:
            try:
                self.task(piece)
            except BaseException as error:
                self._end(error)
            else:
                self._end(None)

    def finish(self) -> None:
        """Wait for the pieces of other threads; raise the first error of any."""
        with self.changed:
            self.changed.wait_for(lambda: self.running == 0)
        if self.error is not None:
            raise self.error

    def _take(self) -> Indices | None:
        with self.changed:
            if not self.pieces:
                return None
            self.running += 1
            return self.pieces.popleft()

    def _end(self, error: BaseException | None) -> None:
        with self.changed:
            self.running -= 1
            if error is not None:
                self.error = self.error or error
                self.pieces.clear()
            self.changed.notify_all()


def _shared_pool() -> ThreadPoolExecutor:
    global _pool
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(max_workers=os.cpu_count(), thread_name_prefix="treecrf")
        return _pool


def _forget_pool() -> None:
    """Start anew in a forked child, which has no threads of the pool and maybe a held lock."""
    global _pool, _lock
    _pool = None
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):  # where processes fork
    os.register_at_fork(after_in_child=_forget_pool)
