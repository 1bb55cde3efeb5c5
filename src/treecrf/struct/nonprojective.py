"""The distribution over all spanning trees, projective or not."""

from treecrf.struct.distribution import TreeDistribution


class NonProjectiveTreeCRF(TreeDistribution):
    """TreeCRF over all spanning trees, projective or not: p(tree) ∝ exp(sum of arc scores).

    Args:
        arc_scores: Score of each arc; -inf forbids it.
        lengths: Words of each sentence, the root symbol not counted.
        multiroot: Whether several words may hang on the root symbol.
        allowed: Constraints: arcs that are False are forbidden; None allows all.
        validate: Check values too; `False` saves a synchronisation with a GPU.

    Shapes:
        N is the number of tokens of the longest sentence, the root symbol (token 0) included.

        - `arc_scores` `[batch, N, N]`: dependent, head
        - `lengths` `[batch]`
        - `allowed` `[batch, N, N]`: dependent, head

    Examples:
        >>> import torch
        >>> from treecrf.struct import NonProjectiveTreeCRF
        >>> arc_scores = torch.zeros(1, 5, 5)
        >>> crf = NonProjectiveTreeCRF(arc_scores, torch.tensor([4]))
        >>> round(crf.log_partition.exp().item())  # each of the 64 trees has weight 1
        64
        >>> heads = torch.tensor([[0, 0, 1, 1, 2]])  # arcs 1 -> 3 and 2 -> 4 cross
        >>> for dependent, head in enumerate(heads[0]):
        ...     arc_scores[0, dependent, head] = 1
        >>> NonProjectiveTreeCRF(arc_scores, torch.tensor([4])).argmax
        tensor([[0, 0, 1, 1, 2]])
    """

    _family = "nonprojective"
