"""Choice of the backend that computes an operation, by hand or by device."""

import importlib
import importlib.util
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from types import ModuleType
from typing import Literal

import torch

Backend = Literal["torch", "numba", "triton"]
Family = Literal["projective", "grandparent", "nonprojective"]
Operation = Family | Literal["masking"]
Scores = tuple[torch.Tensor, ...]
"""Scores of arcs, then of siblings; with grandparents those of arcs, grandparents, siblings."""

_MODULES: dict[Backend, str] = {"torch": "reference", "numba": "cpu", "triton": "cuda"}

_log = logging.getLogger("treecrf")
_chosen: ContextVar[Backend | None] = ContextVar("treecrf_backend", default=None)


class BackendError(RuntimeError):
    """The chosen backend cannot run here; the message says what can."""


@contextmanager
def use_backend(name: Backend) -> Iterator[None]:
    """Compute with this backend inside the `with` block, whatever the device."""
    if name not in _MODULES:
        known = ", ".join(repr(backend) for backend in _MODULES)
        raise BackendError(f"unknown backend {name!r}: choose one of {known}")
    token = _chosen.set(name)
    try:
        yield
    finally:
        _chosen.reset(token)


def backend_for(device: torch.device) -> Backend:
    """Backend for tensors on this device: the one chosen by hand, or the fast one of the device.

    A chosen backend that cannot run is an error. Without a choice the torch reference takes the
    place of a fast backend that cannot run, with a warning if it is installed but fails.
    """
    chosen = _chosen.get()
    if chosen is not None:
        problem = obstacle(chosen, device)
        if problem is not None:
            raise BackendError(f"the {chosen} backend cannot be used here: {problem}")
        return chosen
    fast: Backend = "triton" if device.type == "cuda" else "numba"
    if _unfit(fast, device) is not None:
        return "torch"
    failure = _failure(fast, device)
    if failure is not None:
        _tell(fast, failure)
        return "torch"
    return fast


def implementation(operation: Operation, scores: torch.Tensor) -> ModuleType:
    """Module that computes an operation, such as a family of trees, on these scores."""
    return module(operation, backend_for(scores.device))


@cache
def module(operation: Operation, backend: Backend) -> ModuleType:
    """Module of an operation for one backend; imports numba and triton on first use."""
    return importlib.import_module(f"treecrf.ops.{operation}.{_MODULES[backend]}")


def host_module(family: Family) -> ModuleType:
    """Module that computes on the host what a device backend leaves to it."""
    host = torch.device("cpu")
    return module(family, "torch" if obstacle("numba", host) else "numba")


def obstacle(backend: Backend, device: torch.device) -> str | None:
    """Reason why a backend cannot run on a device, and what to do; None when it runs."""
    return _unfit(backend, device) or _failure(backend, device)


def _unfit(backend: Backend, device: torch.device) -> str | None:
    """Reason why a backend does not fit this machine or device."""
    if backend == "torch":
        return None
    interpreted = os.environ.get("TRITON_INTERPRET", "0") == "1"  # which takes CPU tensors
    if importlib.util.find_spec(backend) is None:
        return f"{backend} is not installed (pip install {backend})"
    if backend == "numba" and device.type != "cpu":
        return (
            f"numba computes on the CPU and the scores are on {device}; move them or use 'triton'"
        )
    if backend == "triton" and device.type != "cuda" and not interpreted:
        return (
            f"triton needs scores on a CUDA device and they are on {device}; use 'numba' or 'torch'"
        )
    if backend == "triton" and _is_old_triton():
        return "triton is older than 3.4 (pip install --upgrade triton, or torch, which pins it)"
    return None


def _is_old_triton() -> bool:
    try:
        return importlib.util.find_spec("triton.knobs") is None
    except Exception:  # Triton cannot be imported, which `_failure` reports
        return False


@cache
def _failure(backend: Backend, device: torch.device) -> str | None:
    """Error of an installed backend in one line, found by running a small kernel once."""
    try:
        if backend == "numba":
            from treecrf.ops.numba.lanes import check_lanes

            check_lanes()
        elif backend == "triton" and (device.type != "cuda" or torch.cuda.is_available()):
            lengths = torch.ones(1, dtype=torch.int64, device=device)
            kernels = module("masking", "triton")
            kernels.mask_and_shift(torch.zeros(1, 2, 2, device=device), lengths, allowed=None)
    except Exception as error:  # whatever it is, the reference takes over
        reason = " ".join(str(error).split()) or "no reason given"
        return f"{type(error).__name__}: {reason[:200]}"
    return None


@cache
def _tell(backend: Backend, failure: str) -> None:
    """Warn once that a backend does not work, and that torch takes over."""
    _log.warning("%s does not work here, so torch computes, slowly: %s", backend, failure)
