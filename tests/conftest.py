"""Settings of every test run: Hypothesis profiles, Triton's interpreter, threads, CPUs."""

import os
from collections.abc import Iterator

import pytest
import torch
from hypothesis import settings

from treecrf.nn.int8 import products_kernel
from treecrf.nn.int8.linear import has_byte_products

# Triton reads this when it is imported: without a GPU its kernels run in its interpreter.
if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"

# Workers share the cores among them; torch threads on top would only fight over them.
if "PYTEST_XDIST_WORKER" in os.environ:
    torch.set_num_threads(1)

# No deadline: the first call of a kernel compiles it.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


@pytest.fixture
def without_vnni(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As on a CPU that does not multiply bytes."""
    monkeypatch.setattr(products_kernel, "has_instruction", lambda: False)
    has_byte_products.cache_clear()
    yield
    has_byte_products.cache_clear()
