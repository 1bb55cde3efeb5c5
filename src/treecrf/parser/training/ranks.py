"""Processes that train together: how they meet, share a batch, and add up what they found."""

import os
import re
import signal
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar, cast

import torch
from torch import Tensor, distributed

from treecrf.ops.numba.threads import balanced_split
from treecrf.parser.batching.distinct import Integers
from treecrf.parser.errors import ParserError
from treecrf.signals import on_end_signals

if TYPE_CHECKING:
    from torch.distributed.distributed_c10d import Store

__all__ = ["ALONE", "LostRankError", "Ranks", "joined"]

Value = TypeVar("Value")

_PATIENCE = timedelta(minutes=2)  # to meet in: torchrun starts all of them at about one time

_LEADER = "treecrf/leader"
_PAUSE = 0.05  # seconds; to wait in the store instead is to have it print what it waited for
_PLACE = re.compile(r"^\[[^]]*\] ")  # in the source of what connects the processes


class LostRankError(ParserError):
    """Another process has ended before its time."""


@dataclass(frozen=True, slots=True)
class Ranks:
    """How many processes train together, and which of them this is.

    Not DistributedDataParallel: a step calls several methods of the model, and a process may have
    no sentence in it, and that takes neither. Gradients that are added up once a step are exact.
    A group of one process has nothing to add up, and gives what no group gives.
    """

    rank: int = 0
    size: int = 1
    connected: bool = False

    @property
    def leads(self) -> bool:
        """Whether this is the one process that reads, writes and prints."""
        return self.rank == 0

    def from_leader(self, make: Callable[[], Value]) -> Value:
        """What the leader makes; where it fails it says so, and the others end quietly."""
        if not self.connected:
            return make()
        sent: list[Value] = []
        try:
            if self.leads:
                sent.append(make())
        finally:  # after an error the others get nothing
            message = [sent]
            with self._talk():
                distributed.broadcast_object_list(message)
        if not message[0]:
            raise SystemExit(2)
        return message[0][0]

    def part_of(self, rows: Integers, lengths: Integers) -> Integers:
        """Which of these sentences are for this process: as many words for each; maybe none."""
        if self.size == 1:
            return rows
        parts = balanced_split(lengths[rows].tolist(), self.size)
        return rows[parts[self.rank]] if self.rank < len(parts) else rows[:0]

    def add_gradients(self, parameters: Sequence[Tensor], loss: Tensor) -> Tensor:
        """The loss of all processes; their gradients, added up, take the place of this one's."""
        if self.size == 1:
            return loss
        # Another process may have a gradient where this one has none. Where no process has one, the
        # sum is zeros: Adam then moves the weights by its means, where one process leaves them.
        gradients = [
            torch.zeros_like(weights) if weights.grad is None else weights.grad
            for weights in parameters
        ]
        # One message a step: many small ones would take longer.
        everything = torch.cat([*(gradient.flatten() for gradient in gradients), loss.view(1)])
        with self._talk():
            distributed.all_reduce(everything)
        sizes = [gradient.numel() for gradient in gradients]
        *sums, total = everything.split([*sizes, 1])
        for weights, gradient in zip(parameters, sums, strict=True):
            weights.grad = gradient.view_as(weights)
        return total[0]

    def add(self, counts: Sequence[int]) -> list[int]:
        """The sum of the counts of all processes."""
        if not self.connected:
            return list(counts)
        totals = torch.tensor(counts)  # on the host: nothing waits for a GPU
        with self._talk():
            distributed.all_reduce(totals)
        return cast(list[int], totals.tolist())

    @contextmanager
    def _talk(self) -> Iterator[None]:
        try:
            yield
        except torch.OutOfMemoryError:
            raise
        except RuntimeError as error:  # the name of its class depends on what connects them
            raise LostRankError(
                f"process {self.rank} of {self.size}: another one has ended, or cannot be reached "
                f"({_reason(error)}); --resume goes on with the training"
            ) from None


ALONE = Ranks()


@contextmanager
def joined(device: str) -> Iterator[tuple[Ranks, str]]:
    """The processes that `torchrun` has started, and the device of this one; alone without it."""
    if not (distributed.is_available() and distributed.is_torchelastic_launched()):
        yield ALONE, device
        return
    ranks = Ranks(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), connected=True)
    own = _own_device(device)
    # Whoever waits for a process that has ended is in compiled code, where no handler of Python's
    # is called: it has to end when torchrun tells it to.
    on_end_signals(signal.SIG_DFL)
    on_gpu = own.type == "cuda"
    if on_gpu:
        torch.cuda.set_device(own)
    _connect(ranks, own if on_gpu else None)
    try:
        yield ranks, str(own)
    except ParserError as error:  # which all have found, but for those who lost another
        if ranks.leads or isinstance(error, LostRankError):
            raise
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        if ranks.leads:
            raise
        raise SystemExit(130) from None
    # Not after an error: to leave in order may be to wait for what was begun with a process that
    # has ended or will not take part. The end of this process ends its connections too.
    distributed.destroy_process_group()


def _connect(ranks: Ranks, gpu: torch.device | None) -> None:
    """Make a group of the processes, if they all come."""
    from torch.distributed.rendezvous import rendezvous  # not every torch has it

    try:
        store, rank, size = next(rendezvous("env://", timeout=_PATIENCE))
        distributed.init_process_group(
            "gloo" if gpu is None else "cpu:gloo,cuda:nccl",
            store=meet(store, rank, size, patience=_PATIENCE),
            rank=rank,
            world_size=size,
            device_id=gpu,
        )
    except torch.OutOfMemoryError:
        raise
    except (TimeoutError, RuntimeError) as error:
        problem = f"cannot be reached ({_reason(error)})"
        if isinstance(error, TimeoutError):
            problem = f"has not come within {_PATIENCE.total_seconds():g} seconds"
        raise LostRankError(
            f"process {ranks.rank} of {ranks.size}: another one {problem}; start them again, with "
            "--resume"
        ) from None


def meet(store: "Store", rank: int, size: int, *, patience: timedelta) -> "Store":
    """A part of the store that these processes have for themselves, once the leader knows them.

    The store outlives them: those that torchrun starts again find in it where the ones before them
    could be reached. The number of the restart is no name to tell them apart by, since each machine
    has its own. So the leader makes up a name, which counts for those whom the leader answers.
    """
    from torch.distributed.distributed_c10d import PrefixStore  # not every torch has it

    store.set_timeout(patience)
    deadline = time.monotonic() + patience.total_seconds()
    name = _welcome(store, size, deadline) if rank == 0 else _greet(store, rank, deadline)
    return PrefixStore(name, store)


def _welcome(store: "Store", size: int, deadline: float) -> str:
    name = uuid.uuid4().hex
    store.set(_LEADER, name)
    for other in range(1, size):
        while not store.check([f"treecrf/{name}/{other}"]):
            _pause(deadline)
        greeting = store.get(f"treecrf/{name}/{other}").decode()
        store.set(f"treecrf/{name}/{greeting}", "welcome")
    return name


def _greet(store: "Store", rank: int, deadline: float) -> str:
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


def _reason(error: Exception) -> str:
    """What is wrong, in a line and without the place in the source that noticed it."""
    return _PLACE.sub("", str(error).partition("\n")[0]).split(". ")[0]


def _own_device(name: str) -> torch.device:
    """The device of this process among those of its machine."""
    found = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if name == "cpu" or (name == "auto" and not found):
        return torch.device("cpu")
    local, processes = int(os.environ["LOCAL_RANK"]), int(os.environ["LOCAL_WORLD_SIZE"])
    problem = None
    if name not in ("auto", "cuda"):
        problem = f"--device {name} cannot be that of each process: several take cpu or cuda"
    elif processes > found:
        problem = (
            f"{processes} processes and {found} GPUs: each takes its own, so --nproc-per-node is "
            f"{found} at most, or --device cpu"
        )
    if problem is None:
        return torch.device("cuda", local)
    if local == 0:
        raise ParserError(problem)
    raise SystemExit(2)
