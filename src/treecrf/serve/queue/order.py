"""Order of waiting requests: small ones are due after less work than large ones."""

from bisect import insort
from collections.abc import Callable, Sequence

from treecrf.serve.queue.jobs import Job

__all__ = ["WaitingJobs"]

# A job of this part of a batch is due in the middle of the time in which all are.
_MIDDLE = 1 / 8


class WaitingJobs:
    """Jobs in the order in which they are due; costs are in words of short sentences.

    Large ones are due when work of nearly `longest` has been done. After each of its batches, or a
    sentence that costs more than a `batch`, a large job lets as much other work by.
    """

    def __init__(self, *, batch: int, longest: int, next_cost: Callable[[Job], int]) -> None:
        self._batch = batch
        self._longest = longest
        self._middle = _MIDDLE * batch
        self._next_cost = next_cost  # of the next sentence of a job
        self._jobs: list[Job] = []
        self._count = 0  # of all jobs that came
        self._done = 0  # what all work so far has cost
        self._owed = 0  # work that comes before the next sentence that costs more than a batch

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def add(self, job: Job) -> None:
        self._count += 1
        part = job.cost / (job.cost + self._middle)
        job.due = self._done + round(part * self._longest), self._count
        self._insert(job)

    def put_back(self, jobs: Sequence[Job]) -> None:
        """Put unfinished jobs back; the rest of a large job is due later than small jobs."""
        for job in jobs:
            if job.cost > self._batch:
                room = self._batch
                job.due = max(job.due, (self._done, 0))
                for other in self._jobs:
                    if room <= 0:
                        break
                    room -= other.cost
                    job.due = max(job.due, other.due)
            self._insert(job)

    def _insert(self, job: Job) -> None:
        insort(self._jobs, job, key=lambda other: other.due)

    def discard(self, job: Job) -> None:
        """Remove a job, if it is waiting."""
        if job in self._jobs:
            self._jobs.remove(job)

    def count(self, cost: int) -> None:
        """Count work that has been done in one batch."""
        self._done += cost
        self._owed = cost if cost > self._batch else max(0, self._owed - cost)

    def take(self) -> list[Job]:
        """The next jobs, until there is work for a batch in them."""
        order = self._jobs
        if self._owed:
            order = [job for job in order if self._next_cost(job) <= self._batch] or order
        taken: list[Job] = []
        room = self._batch
        for job in order:
            if room <= 0:
                break
            taken.append(job)
            room -= job.cost
        chosen = set(taken)
        self._jobs = [job for job in self._jobs if job not in chosen]
        return taken
