"""A slice of a distribution is the distribution over those sentences."""

import pytest
import torch

from tests.struct.problems import FAMILIES, random_problem


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("computed", [False, True])
def test_a_slice_is_the_distribution_over_some_sentences(family: str, computed: bool) -> None:
    crf = random_problem(family, [3, 5, 0, 4]).distribution()
    whole = {name: getattr(crf, name) for name in ("marginals", "log_partition", "entropy", "mbr")}
    if not computed:
        crf = random_problem(family, [3, 5, 0, 4]).distribution()
    some = crf[1:3]
    assert some.lengths.tolist() == [5, 0]
    for name, values in whole.items():
        torch.testing.assert_close(getattr(some, name), values[1:3])
    heads = crf.argmax
    assert torch.equal(some.argmax, heads[1:3])
    torch.testing.assert_close(some.score(heads[1:3]), crf.score(heads)[1:3])
    torch.testing.assert_close(some.log_prob(heads[1:3]), crf.log_prob(heads)[1:3])
