"""The distribution over all spanning trees, projective or not."""

from treecrf.struct.distribution import TreeDistribution


class NonProjectiveTreeCRF(TreeDistribution):
    """p(tree) in proportion to exp of the summed arc scores, over all spanning trees."""

    _family = "nonprojective"
