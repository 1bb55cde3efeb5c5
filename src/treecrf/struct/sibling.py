"""The second-order distribution over projective trees, with adjacent siblings."""

from torch import Tensor

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
        self._higher = {"sibling": sibling_scores}
        super().__init__(arc_scores, lengths, multiroot, allowed, validate=validate)

    @property
    def sibling_marginals(self) -> Tensor:
        """p(dependent and sibling are adjacent children), `[batch, dependent, head, sibling]`."""
        return self._marginals_of("sibling")
