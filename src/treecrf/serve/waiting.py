"""Who comes next: small requests, large ones and those that have had a share take turns."""

from collections import deque
from collections.abc import Sequence
from itertools import cycle

from treecrf.serve.work import Job

__all__ = ["WaitingJobs"]


class WaitingJobs:
    """Jobs in three lines; those of at most `share` words have half of each batch."""

    def __init__(self, share: int) -> None:
        self._share = share
        self._small: deque[Job] = deque()
        self._large: deque[Job] = deque()
        self._begun: deque[Job] = deque()
        self._lines = self._small, self._large, self._begun
        self._count = 0

    def __bool__(self) -> bool:
        return any(self._lines)

    def add(self, job: Job) -> None:
        self._count += 1
        job.number = self._count
        (self._small if job.words <= self._share else self._large).append(job)

    def put_back(self, jobs: Sequence[Job]) -> None:
        """Jobs that are not done yet; those that came first go on first, so some are done soon."""
        waiting = sorted([*self._begun, *jobs], key=lambda job: job.number)
        self._begun.clear()
        self._begun.extend(waiting)

    def discard(self, job: Job) -> None:
        """Take a job out, if it is here."""
        for line in self._lines:
            if job in line:
                line.remove(job)

    def take(self, words: int) -> list[Job]:
        """The next jobs, from the lines by turns, of so many words if each has a share at most."""
        taken: list[Job] = []
        for line in cycle((self._small, self._large, self._small, self._begun)):
            if words <= 0 or not self:
                break
            turn = self._share
            while line and turn > 0:
                job = line.popleft()
                taken.append(job)
                turn -= job.words
                words -= min(job.words, self._share)
        return taken
