"""Distributed training: processes that meet, share batches and add up gradients."""

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

_PATIENCE = timedelta(minutes=2)  # to meet: torchrun starts all of them at about the same time
_LEADER = "treecrf/leader"
_PAUSE = 0.05  # seconds; waiting in the store instead would print messages
_PLACE = re.compile(r"^\[[^]]*\] ")  # the source line in messages of gloo and NCCL


class LostRankError(ParserError):
    """Another process has ended too early."""


@dataclass(frozen=True, slots=True)
class Ranks:
    """The number of processes that train together, and the rank of this one.

    DistributedDataParallel does not fit: a process may have no sentence of a batch, and the others
    would wait for its gradients. Gradients added up once a step are exact.
    """

    rank: int = 0
    size: int = 1
    connected: bool = False

    @property
    def leads(self) -> bool:
        """Whether this is the leader: the process that reads, writes and prints."""
        return self.rank == 0

    def from_leader(self, make: Callable[[], Value]) -> Value:
        """The value that the leader makes; if it fails, only the leader raises the error."""
        if not self.connected:
            return make()
        sent: list[Value] = []
        try:
            if self.leads:
                sent.append(make())
        finally:  # after an error the others get an empty list
            message = [sent]
            with self._talk():
                distributed.broadcast_object_list(message)
        if not message[0]:
            raise SystemExit(2)
        return message[0][0]

    def part_of(self, rows: Integers, lengths: Integers) -> Integers:
        """This process's part of a batch: about as many words for each; may be empty."""
        if self.size == 1:
            return rows
        parts = balanced_split(lengths[rows].tolist(), self.size)
        return rows[parts[self.rank]] if self.rank < len(parts) else rows[:0]

    def add_gradients(self, parameters: Sequence[Tensor], loss: Tensor) -> Tensor:
        """Sum the gradients of all processes into this one's; returns the sum of the losses."""
        if self.size == 1:
            return loss
        # Another process may have a gradient where this one has none. If none has, the sum is zero,
        # and Adam moves the weights by its means; a single process would leave them.
        gradients = [
            torch.zeros_like(weights) if weights.grad is None else weights.grad
            for weights in parameters
        ]
        # One message a step is faster than many small ones.
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
        totals = torch.tensor(counts)  # on the host, so that nothing waits for a GPU
        with self._talk():
            distributed.all_reduce(totals)
        return cast(list[int], totals.tolist())

    @contextmanager
    def _talk(self) -> Iterator[None]:
        try:
            yield
        except torch.OutOfMemoryError:
            raise
        except RuntimeError as error:  # its class depends on the backend
            raise LostRankError(
                f"process {self.rank} of {self.size}: another one has ended, or cannot be reached "
                f"({_reason(error)}); --resume goes on with the training"
            ) from None


ALONE = Ranks()


@contextmanager
def joined(device: str, *, patience: timedelta = _PATIENCE) -> Iterator[tuple[Ranks, str]]:
    """Join the processes that `torchrun` started; gives the ranks and this process's device.

    No process waits longer than `patience` for another to come.
    """
    if not (distributed.is_available() and distributed.is_torchelastic_launched()):
        yield ALONE, device
        return
    ranks = Ranks(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), connected=True)
    own = _own_device(device)
    # A process that waits for one that has ended is in compiled code, where no Python handler is
    # called: torchrun's signal has to end it.
    on_end_signals(signal.SIG_DFL)
    on_gpu = own.type == "cuda"
    if on_gpu:
        torch.cuda.set_device(own)
    _connect(ranks, own if on_gpu else None, patience)
    try:
        yield ranks, str(own)
    except ParserError as error:  # found by all, unless another process was lost
        if ranks.leads or isinstance(error, LostRankError):
            raise
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        if ranks.leads:
            raise
        raise SystemExit(130) from None
    # Not after an error: this may wait for a process that has ended. The end of this process closes
    # its connections anyway.
    distributed.destroy_process_group()


def _connect(ranks: Ranks, gpu: torch.device | None, patience: timedelta) -> None:
    """Make a group of the processes once all have come."""
    from torch.distributed.rendezvous import rendezvous  # not every torch has it

    try:
        store, rank, size = next(rendezvous("env://", timeout=patience))
        distributed.init_process_group(
            "gloo" if gpu is None else "cpu:gloo,cuda:nccl",
            store=meet(store, rank, size, patience=patience),
            rank=rank,
            world_size=size,
            device_id=gpu,
        )
    except torch.OutOfMemoryError:
        raise
    except (TimeoutError, RuntimeError) as error:
        problem = f"cannot be reached ({_reason(error)})"
        if isinstance(error, TimeoutError):
            problem = f"has not come within {patience.total_seconds():g} seconds"
        raise LostRankError(
            f"process {ranks.rank} of {ranks.size}: another one {problem}; start them again, with "
            "--resume"
        ) from None


def meet(store: "Store", rank: int, size: int, *, patience: timedelta) -> "Store":
    """A part of the store for this group of processes alone.

    The store outlives them: processes that torchrun restarts find in it the addresses of those
    before them, and the number of the restart differs between machines. So the leader makes up a
    name, and answers each process that greets it.
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
            name = store.get(_LEADER).decode()  # may be of a leader that has ended: look again
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
    """The first sentence of a message, without its source line."""
    return _PLACE.sub("", str(error).partition("\n")[0]).split(". ")[0]


def _own_device(name: str) -> torch.device:
    """The device of this process on its machine."""
    found = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if name == "cpu" or (name == "auto" and not found):
        return torch.device("cpu")
    local, processes = int(os.environ["LOCAL_RANK"]), int(os.environ["LOCAL_WORLD_SIZE"])
    if name not in ("auto", "cuda"):
        problem = f"--device {name} cannot be that of each process: several take cpu or cuda"
    elif processes > found:
        problem = (
            f"{processes} processes and {found} GPUs: each takes its own, so --nproc-per-node is "
            f"{found} at most, or --device cpu"
        )
    else:
        return torch.device("cuda", local)
    if local == 0:
        raise ParserError(problem)
    raise SystemExit(2)
