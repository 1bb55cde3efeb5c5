"""Who comes next: small requests, large ones and those that have had a share take turns."""

from collections import deque
from collections.abc import Sequence
from itertools import cycle

from treecrf.serve.work import Job

__all__ = ["WaitingJobs"]


class WaitingJobs:
    """Jobs in three lines; those of at most `share` words never wait for the large ones."""

    def __init__(self, share: int) -> None:
        self._share = share
        self._small: deque[Job] = deque()
        self._large: deque[Job] = deque()
        self._begun: deque[Job] = deque()
        self._lines = self._small, self._large, self._begun

    def __bool__(self) -> bool:
        return any(self._lines)

    def add(self, job: Job) -> None:
        (self._small if job.words <= self._share else self._large).append(job)

    def put_back(self, jobs: Sequence[Job]) -> None:
        """Jobs that are not done yet go on before others are begun with: so some are done soon."""
        self._begun.extendleft(reversed(jobs))

    def discard(self, job: Job) -> None:
        """Take a job out, if it is here."""
        for line in self._lines:
            if job in line:
                line.remove(job)

    def take(self, words: int) -> list[Job]:
        """The next jobs, from the lines by turns, of so many words if each has a share at most."""
        taken: list[Job] = []
        for line in cycle(self._lines):
            if words <= 0 or not self:
                break
            if line:
                job = line.popleft()
                taken.append(job)
                words -= min(job.words, self._share)
        return taken
