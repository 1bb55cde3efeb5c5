"""Charts that would not fit are refused before they are made, with the number of bytes."""

import re

import pytest
import torch

from treecrf.memory import available_memory
from treecrf.ops import use_backend
from treecrf.ops.grandparent.memory import check_memory
from treecrf.struct import GrandparentTreeCRF, GrandSiblingTreeCRF

CPU = torch.device("cpu")
# Trees of a k-best list: the charts hold so many numbers a cell, and the scores none of them.
MANY = 1 << 21


def test_the_error_has_both_numbers_and_says_what_to_do() -> None:
    words = 9_999
    with pytest.raises(MemoryError) as refused:
        check_memory(words, count=3, bytes_a_cell=64, device=CPU)
    message = str(refused.value).replace(",", "")
    needed, free = (float(number) for number in re.findall(r"([\d.]+) GiB", message))
    assert needed == pytest.approx(3 * 10_000**3 * 64 / 2**30, rel=1e-3)
    assert free == pytest.approx(available_memory() / 2**30, rel=0.5)
    assert "3 sentences of up to 9999 words" in message
    assert message.endswith("or score no grandparents (ProjectiveTreeCRF SiblingTreeCRF)")


def test_what_fits_is_not_refused() -> None:
    check_memory(100, count=8, bytes_a_cell=72, device=CPU)
    check_memory(0, count=0, bytes_a_cell=72, device=CPU)


@pytest.mark.parametrize("backend", ["torch", "numba"])
@pytest.mark.parametrize("with_siblings", [False, True], ids=["Model 0", "Model 1"])
def test_a_batch_that_does_not_fit_is_refused(with_siblings: bool, backend: str) -> None:
    tokens = 41
    arcs, cube = torch.zeros(8, tokens, tokens), torch.zeros(8, tokens, tokens, tokens)
    lengths = torch.full((8,), tokens - 1)
    crf = (
        GrandSiblingTreeCRF(arcs, cube, cube, lengths)
        if with_siblings
        else GrandparentTreeCRF(arcs, cube, lengths)
    )
    if tokens**3 * 8 * MANY * 4 < available_memory():
        pytest.skip("this machine has room for all of it")
    with use_backend(backend), pytest.raises(MemoryError, match=r"need [\d,.]+ [GT]iB for \d"):
        crf.topk(MANY)
