"""Seconds in named stages of unchanged code."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from inspect import getattr_static
from typing import Any, TypeVar
from unittest.mock import patch

import torch

from benchmarks.timing import finish

Item = TypeVar("Item")


class Stages:
    """Seconds by stage; time in a nested stage counts only there.

    `watch` names the functions, methods and properties whose time is a stage, and within `with`
    calls of them are timed, whoever calls them. A stage without a name hides all that is within it.
    The device is waited for where a stage begins and ends, except in those that are `host` work
    between two that were waited for.
    """

    def __init__(
        self, device: torch.device, *, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self.device = device
        self._clock = clock
        self.seconds: dict[str, float] = defaultdict(float)
        self._open: list[str | None] = []
        self._since = 0.0
        self._patches = ExitStack()

    def __enter__(self) -> "Stages":
        return self

    def __exit__(self, *problem: object) -> None:
        self._patches.close()

    @property
    def total(self) -> float:
        """Seconds in all stages."""
        return sum(self.seconds.values())

    @property
    def current(self) -> str | None:
        """The stage that is open."""
        return self._open[-1] if self._open else None

    @contextmanager
    def stage(self, name: str | None, *, host: bool = False) -> Iterator[None]:
        """Count the time of the `with` block for this stage, nested stages excluded."""
        self._charge(host=host)
        hidden = self._open and self._open[-1] is None
        self._open.append(None if hidden else name)
        try:
            yield
        finally:
            self._charge(host=host)
            self._open.pop()

    def watch(self, owner: Any, attribute: str, name: str | None, *, host: bool = False) -> None:
        """Count calls of this attribute of a module, class or object as a stage."""
        original = getattr_static(owner, attribute)
        if isinstance(original, property):
            assert original.fget is not None
            timed: object = property(self._timed(original.fget, name, host=host))
        else:
            timed = self._timed(getattr(owner, attribute), name, host=host)
        self._patches.enter_context(patch.object(owner, attribute, timed))

    def replace(self, owner: Any, attribute: str, value: object) -> None:
        """Give an attribute another value while stages are watched."""
        self._patches.enter_context(patch.object(owner, attribute, value))

    def items(self, items: Iterable[Item], name: str) -> Iterator[Item]:
        """Iterate; the time to get each item counts as host work of this stage."""
        iterator = iter(items)
        while True:
            with self.stage(name, host=True):
                try:
                    item = next(iterator)
                except StopIteration:
                    return
            yield item

    def _timed(
        self, call: Callable[..., Any], name: str | None, *, host: bool
    ) -> Callable[..., Any]:
        @wraps(call)
        def timed(*arguments: Any, **options: Any) -> Any:
            with self.stage(name, host=host):
                return call(*arguments, **options)

        return timed

    def _charge(self, *, host: bool) -> None:
        """Add the time since the last boundary to the open stage."""
        if not host:
            finish(self.device)
        now = self._clock()
        name = self.current
        if name is not None:
            self.seconds[name] += now - self._since
        self._since = now
