"""The second-order distribution over projective trees, with adjacent siblings."""

import torch
from torch import Tensor

from treecrf.ops.constants import NEGATIVE_INFINITY
from treecrf.ops.projective.siblings import adjacent_siblings
from treecrf.struct import arguments
from treecrf.struct.distribution import TreeDistribution


class SiblingTreeCRF(TreeDistribution):
    """Second-order TreeCRF: p(tree) ∝ exp(arc scores + adjacent-sibling scores), projective.

    The sibling score of a dependent, its head and a sibling counts where the sibling lies strictly
    between head and dependent and is the dependent's adjacent sibling on that side.

    Args:
        arc_scores: Score of each arc; -inf forbids it.
        sibling_scores: Score of each pair of adjacent siblings; -inf forbids it.
        lengths: Words of each sentence, the root symbol not counted.
        multiroot: Whether several words may hang on the root symbol.
        allowed: Constraints: arcs that are False are forbidden; None allows all.
        validate: Check values too; `False` saves a synchronisation with a GPU.

    Shapes:
        N is the number of tokens of the longest sentence, the root symbol (token 0) included.

        - `arc_scores` `[batch, N, N]`: dependent, head
        - `sibling_scores` `[batch, N, N, N]`: dependent, head, sibling
        - `lengths` `[batch]`
        - `allowed` `[batch, N, N]`: dependent, head

    Examples:
        >>> import torch
        >>> from treecrf.struct import SiblingTreeCRF
        >>> arc_scores, sibling_scores = torch.zeros(1, 4, 4), torch.zeros(1, 4, 4, 4)
        >>> sibling_scores[0, 3, 1, 2] = 5  # words 2 and 3 are adjacent children of word 1
        >>> crf = SiblingTreeCRF(arc_scores, sibling_scores, torch.tensor([3]))
        >>> crf.argmax, crf.max
        (tensor([[0, 0, 1, 1]]), tensor([5.]))
        >>> crf.sibling_marginals[0, 3, 1, 2]
        tensor(0.9611)
    """

    _family = "projective"
    _siblings: Tensor

    def __init__(
        self,
        arc_scores: Tensor,
        sibling_scores: Tensor,
        lengths: Tensor,
        multiroot: bool = False,
        allowed: Tensor | None = None,
        *,
        validate: bool = True,
    ) -> None:
        arguments.check_tensor("sibling_scores", sibling_scores)
        self._siblings = sibling_scores
        super().__init__(arc_scores, lengths, multiroot, allowed, validate=validate)

    @property
    def sibling_marginals(self) -> Tensor:
        """p(dependent and sibling are adjacent children), `[batch, dependent, head, sibling]`."""
        return self._cached("sibling_marginals", lambda: self._part_marginals(self._parts)[1])

    def _best_by_gains(self, gains: Tensor) -> Tensor:
        # Where no pair of siblings is forbidden the first-order decoder, which is faster, will do.
        if self._siblings.numel() == 0 or bool(self._siblings.amin() > NEGATIVE_INFINITY):
            return self._argmax((gains,))
        forbidden = torch.where(self._siblings == NEGATIVE_INFINITY, NEGATIVE_INFINITY, 0.0)
        return self._argmax((gains, forbidden.to(gains.dtype)))

    def _sum_parts(self, heads: Tensor) -> Tensor:
        arcs = super()._sum_parts(heads)  # [batch, k]
        siblings = adjacent_siblings(heads)  # [batch, k, dependent], 0 for none
        tokens = heads.shape[2]
        dependent = torch.arange(tokens, device=heads.device)
        # Beside a forbidden arc, and at a single root, are cells that no tree uses.
        counted = (siblings > 0) & self._is_word[:, None] & (arcs > NEGATIVE_INFINITY).unsqueeze(2)
        if not self.multiroot:
            counted = counted & (heads > 0)
        # By one number a cell: the gradient of that is scattered, without sorting.
        cell = (dependent * tokens + heads) * tokens + siblings
        scores = self._siblings.flatten(1).gather(1, cell.flatten(1)).view(cell.shape)
        return arcs + torch.where(counted, scores, 0).sum(2)
