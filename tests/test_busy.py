"""CPU time where other processes compute as well: threads that wait must not spin."""

import pytest

from benchmarks.busy import neighbours, ratio

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("work", ["documents", "service", "spacy", "workers", "training"])
def test_small_work_takes_the_cpu_time_of_one_thread(work: str) -> None:
    with neighbours(2):
        assert ratio(work, 20) <= 2


def test_documents_one_by_one_take_little_more_than_together() -> None:
    with neighbours(2):
        assert ratio("documents", 40, against="joined") <= 3
