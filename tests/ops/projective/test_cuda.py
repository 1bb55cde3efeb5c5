"""The fused kernels on a real GPU: what the interpreter cannot show."""

import pytest
import torch

from treecrf.struct import ProjectiveTreeCRF, SiblingTreeCRF

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize(("sentences", "words"), [(200, 25), (50, 100), (16, 300), (4, 500)])
def test_a_hundred_repeats_are_bit_identical(sentences: int, words: int) -> None:
    """A race would show as a digit that changes."""
    generator = torch.Generator("cuda").manual_seed(words)
    tokens = words + 1
    arcs = torch.randn(sentences, tokens, tokens, device="cuda", generator=generator)
    siblings = torch.randn(sentences, tokens, tokens, tokens, device="cuda", generator=generator)
    lengths = torch.full((sentences,), words, device="cuda")

    def answers() -> list[torch.Tensor]:
        first = ProjectiveTreeCRF(arcs, lengths)
        second = SiblingTreeCRF(arcs, siblings, lengths)
        return [
            answer
            for crf in (first, second)
            for answer in (crf.marginals, crf.log_partition, crf.argmax)
        ]

    expected = answers()
    for _ in range(100):
        assert all(map(torch.equal, answers(), expected))
