"""Projective trees with grandparents in plain torch: the specification of the fast kernels.

The scores are those of arcs, of grandparents and, in Model 1, of siblings.
"""

from torch import Tensor

from treecrf.ops.backend import Scores
from treecrf.ops.grandparent.memory import check_memory
from treecrf.ops.projective.reference import inside_of
from treecrf.ops.reference.questions import Questions
from treecrf.ops.reference.semiring import Semiring


def inside(scores: Scores, lengths: Tensor, multiroot: bool, semiring: Semiring) -> Tensor:
    """Value of all trees of each sentence, `[batch, size]`."""
    arc_scores, grandparent_scores = scores[:2]
    sibling_scores = scores[2] if len(scores) > 2 else None
    check_memory(
        arc_scores.shape[1] - 1,
        count=len(arc_scores),
        bytes_a_cell=(6 if sibling_scores is None else 8)
        * semiring.size
        * arc_scores.element_size(),
        device=arc_scores.device,
    )
    return inside_of(arc_scores, sibling_scores, grandparent_scores, lengths, multiroot, semiring)


_questions = Questions(inside)
log_partition, marginals = _questions.log_partition, _questions.marginals
part_marginals, argmax = _questions.part_marginals, _questions.argmax
topk, sample = _questions.topk, _questions.sample
