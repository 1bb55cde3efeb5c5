"""Distributions over projective trees with grandparents, with and without adjacent siblings."""

from torch import Tensor

from treecrf.struct.distribution import TreeDistribution
from treecrf.struct.sibling import SiblingTreeCRF


class GrandparentTreeCRF(TreeDistribution):
    """TreeCRF with grandparents: p(tree) ∝ exp(arc scores + grandparent scores), projective.

    The grandparent score of a dependent, its head and the head's own head counts for every arc
    whose head is a word; the root symbol has no head. It is Model 0 of Koo and Collins (2010), and
    takes O(n^4) time and O(n^3) memory for a sentence of n words.

    Args:
        arc_scores: Score of each arc; -inf forbids it.
        grandparent_scores: Score of each arc together with the head of its head; -inf forbids it.
        lengths: Words of each sentence, the root symbol not counted.
        multiroot: Whether several words may hang on the root symbol.
        allowed: Constraints: arcs that are False are forbidden; None allows all.
        validate: Check values too; `False` saves a synchronisation with a GPU.

    Shapes:
        N is the number of tokens of the longest sentence, the root symbol (token 0) included.

        - `arc_scores` `[batch, N, N]`: dependent, head
        - `grandparent_scores` `[batch, N, N, N]`: dependent, head, grandparent
        - `lengths` `[batch]`
        - `allowed` `[batch, N, N]`: dependent, head

    Examples:
        >>> import torch
        >>> from treecrf.struct import GrandparentTreeCRF
        >>> arc_scores, grandparent_scores = torch.zeros(1, 4, 4), torch.zeros(1, 4, 4, 4)
        >>> grandparent_scores[0, 3, 2, 1] = 5  # word 3 under word 2 under word 1
        >>> crf = GrandparentTreeCRF(arc_scores, grandparent_scores, torch.tensor([3]))
        >>> crf.argmax, crf.max
        (tensor([[0, 0, 1, 2]]), tensor([5.]))
        >>> crf.grandparent_marginals[0, 3, 2, 1]
        tensor(0.9611)
    """

    _family = "grandparent"

    def __init__(
        self,
        arc_scores: Tensor,
        grandparent_scores: Tensor,
        lengths: Tensor,
        multiroot: bool = False,
        allowed: Tensor | None = None,
        *,
        validate: bool = True,
    ) -> None:
        self._higher = {"grandparent": grandparent_scores}
        super().__init__(arc_scores, lengths, multiroot, allowed, validate=validate)

    @property
    def grandparent_marginals(self) -> Tensor:
        """p(grandparent -> head -> dependent), `[batch, dependent, head, grandparent]`."""
        return self._marginals_of("grandparent")


class GrandSiblingTreeCRF(GrandparentTreeCRF, SiblingTreeCRF):  # type: ignore[misc]
    """TreeCRF with adjacent siblings and grandparents, over projective trees.

    p(tree) ∝ exp(arc scores + adjacent-sibling scores + grandparent scores). The sibling scores are
    those of `SiblingTreeCRF`, the grandparent scores those of `GrandparentTreeCRF`. The dynamic
    program is that of Model 1 of Koo and Collins (2010): O(n^4) time and O(n^3) memory for a
    sentence of n words.

    Args:
        arc_scores: Score of each arc; -inf forbids it.
        sibling_scores: Score of each pair of adjacent siblings; -inf forbids it.
        grandparent_scores: Score of each arc together with the head of its head; -inf forbids it.
        lengths: Words of each sentence, the root symbol not counted.
        multiroot: Whether several words may hang on the root symbol.
        allowed: Constraints: arcs that are False are forbidden; None allows all.
        validate: Check values too; `False` saves a synchronisation with a GPU.

    Shapes:
        N is the number of tokens of the longest sentence, the root symbol (token 0) included.

        - `arc_scores` `[batch, N, N]`: dependent, head
        - `sibling_scores` `[batch, N, N, N]`: dependent, head, sibling
        - `grandparent_scores` `[batch, N, N, N]`: dependent, head, grandparent
        - `lengths` `[batch]`
        - `allowed` `[batch, N, N]`: dependent, head

    Examples:
        >>> import torch
        >>> from treecrf.struct import GrandSiblingTreeCRF
        >>> arc_scores = torch.zeros(1, 4, 4)
        >>> sibling_scores, grandparent_scores = torch.zeros(1, 4, 4, 4), torch.zeros(1, 4, 4, 4)
        >>> sibling_scores[0, 3, 1, 2] = 5  # words 2 and 3 are adjacent children of word 1
        >>> grandparent_scores[0, 3, 2, 1] = 6  # word 3 under word 2 under word 1
        >>> crf = GrandSiblingTreeCRF(
        ...     arc_scores, sibling_scores, grandparent_scores, torch.tensor([3])
        ... )
        >>> crf.argmax, crf.max
        (tensor([[0, 0, 1, 2]]), tensor([6.]))
        >>> crf.sibling_marginals[0, 3, 1, 2], crf.grandparent_marginals[0, 3, 2, 1]
        (tensor(0.2663), tensor(0.7240))
    """

    def __init__(
        self,
        arc_scores: Tensor,
        sibling_scores: Tensor,
        grandparent_scores: Tensor,
        lengths: Tensor,
        multiroot: bool = False,
        allowed: Tensor | None = None,
        *,
        validate: bool = True,
    ) -> None:
        self._higher = {"grandparent": grandparent_scores, "sibling": sibling_scores}
        TreeDistribution.__init__(self, arc_scores, lengths, multiroot, allowed, validate=validate)
