"""Who comes next: requests that are new and requests that have had a share take turns."""

from collections import deque
from collections.abc import Sequence
from itertools import cycle

from treecrf.serve.work import Job

__all__ = ["WaitingJobs"]


class WaitingJobs:
    """Jobs in two lines, so that a new one is begun soon however much is left of others."""

    def __init__(self) -> None:
        self._new: deque[Job] = deque()
        self._begun: deque[Job] = deque()

    def __bool__(self) -> bool:
        return bool(self._new or self._begun)

    def add(self, job: Job) -> None:
        self._new.append(job)

    def put_back(self, jobs: Sequence[Job]) -> None:
        """Jobs that are not done yet go on before others do: so some are done soon."""
        self._begun.extendleft(reversed(jobs))

    def discard(self, job: Job) -> None:
        """Take a job out, if it is here."""
        for line in (self._new, self._begun):
            if job in line:
                line.remove(job)

    def take(self, words: int, *, share: int) -> list[Job]:
        """The next jobs, from both lines by turns, of so many words if each has a share at most."""
        taken: list[Job] = []
        for line in cycle((self._new, self._begun)):
            if words <= 0 or not self:
                return taken
            if line:
                job = line.popleft()
                taken.append(job)
                words -= min(job.words, share)
        return taken
