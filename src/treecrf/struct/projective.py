"""The first-order distribution over projective trees."""

from treecrf.struct.distribution import TreeDistribution


class ProjectiveTreeCRF(TreeDistribution):
    """p(tree) in proportion to exp of the summed arc scores, over projective trees."""

    _family = "projective"
