"""The first-order distribution over projective trees."""

from treecrf.struct.distribution import TreeDistribution


class ProjectiveTreeCRF(TreeDistribution):
    """First-order TreeCRF: p(tree) ∝ exp(sum of arc scores), over projective trees.

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
        >>> from treecrf.struct import ProjectiveTreeCRF
        >>> crf = ProjectiveTreeCRF(torch.zeros(1, 4, 4), torch.tensor([3]))
        >>> round(crf.log_partition.exp().item())  # each of the 7 trees has weight 1
        7
        >>> crf.marginals[0, 2]  # heads of word 2
        tensor([0.1429, 0.4286, 0.0000, 0.4286])
        >>> crf.log_prob(torch.tensor([[0, 0, -1, -1]])).exp()  # 3 of the trees have root 1
        tensor([0.4286])
    """

    _family = "projective"
