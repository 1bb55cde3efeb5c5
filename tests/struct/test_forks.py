"""A forked child asks everything of a distribution, with one thread of torch, as its parent did."""

import pytest
import torch
from torch import Tensor

from tests.forking import assert_in_child
from tests.struct.problems import FAMILIES, Distribution, random_problem

pytestmark = pytest.mark.usefixtures("two_threads")


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("family", FAMILIES)
def test_a_forked_child_gets_the_answers_of_its_parent(family: str) -> None:
    # So many that torch would spread an operation over its threads, which are not in the child.
    problem = random_problem(family, [60] * 12, junk=0.0)
    expected = answers(problem.distribution())

    def same_answers() -> bool:
        torch.set_num_threads(1)
        pairs = zip(answers(problem.distribution()), expected, strict=True)
        return all(torch.equal(found, wanted) for found, wanted in pairs)

    assert_in_child(same_answers)


def answers(crf: Distribution) -> list[Tensor]:
    best = crf.argmax
    return [best, crf.log_partition, crf.mbr, crf.log_prob(best), crf.entropy]
