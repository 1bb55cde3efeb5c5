"""How processes that `torchrun` has started find each other, also when it starts them again."""

import time
import uuid
from datetime import timedelta

from torch.distributed.distributed_c10d import PrefixStore, Store

__all__ = ["meet"]

_LEADER = "treecrf/leader"
_PAUSE = 0.05  # seconds; to wait in the store instead is to have it print what it waited for


def meet(store: Store, rank: int, size: int, *, patience: timedelta) -> Store:
    """A part of the store that these processes have for themselves, once the leader knows them.

    The store outlives them: those that torchrun starts again find in it where the ones before them
    could be reached. The number of the restart is no name to tell them apart by, since each machine
    has its own. So the leader makes up a name, which counts for those whom the leader answers.
    """
    store.set_timeout(patience)
    deadline = time.monotonic() + patience.total_seconds()
    name = _welcome(store, size, deadline) if rank == 0 else _greet(store, rank, deadline)
    return PrefixStore(name, store)


def _welcome(store: Store, size: int, deadline: float) -> str:
    name = uuid.uuid4().hex
    store.set(_LEADER, name)
    for other in range(1, size):
        while not store.check([f"treecrf/{name}/{other}"]):
            _pause(deadline)
        greeting = store.get(f"treecrf/{name}/{other}").decode()
        store.set(f"treecrf/{name}/{greeting}", "welcome")
    return name


def _greet(store: Store, rank: int, deadline: float) -> str:
    greeting, greeted = uuid.uuid4().hex, ""
    while not (greeted and store.check([f"treecrf/{greeted}/{greeting}"])):
        if store.check([_LEADER]):
            name = store.get(_LEADER).decode()  # maybe of a leader who is no more: look again
            if name != greeted:
                store.set(f"treecrf/{name}/{rank}", greeting)
                greeted = name
        _pause(deadline)
    return greeted


def _pause(deadline: float) -> None:
    if time.monotonic() > deadline:
        raise TimeoutError
    time.sleep(_PAUSE)
