"""The signals that ask a process to end: SIGTERM, and SIGHUP of a terminal that is closed."""

import signal
from collections.abc import Callable
from types import FrameType

__all__ = ["on_end_signals"]

_NAMES = ("SIGTERM", "SIGHUP")  # Windows has only the first


def on_end_signals(handler: Callable[[int, FrameType | None], object] | signal.Handlers) -> None:
    """Have this handle the signals, but for those that the process is to ignore, as under nohup."""
    for name in _NAMES:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)
