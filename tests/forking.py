"""Runs a check in a forked child, for what must survive a fork."""

import os
import time
from collections.abc import Callable

import pytest


def assert_in_child(check: Callable[[], bool], *, seconds: float = 300) -> None:
    """The check must be true in a forked child, within so many seconds."""
    child = os.fork()
    if child == 0:
        # Nothing may escape: a child that ran on would be a second test session.
        status = 1
        try:
            status = 0 if check() else 2
        finally:
            os._exit(status)
    deadline = time.monotonic() + seconds
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < deadline:
        time.sleep(0.01)
    if ended == (0, 0):
        os.kill(child, 9)
        os.waitpid(child, 0)
        pytest.fail("the forked child hangs")
    assert os.waitstatus_to_exitcode(ended[1]) == 0
