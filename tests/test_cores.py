"""How many cores there are to use."""

import os

import pytest

from treecrf.cores import usable_cores


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="a process has all cores here")
def test_cores_that_others_have_are_not_counted() -> None:
    mine = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(mine)})
        assert usable_cores() == 1
    finally:
        os.sched_setaffinity(0, mine)
    assert usable_cores() == len(mine)
