"""Distributions over the dependency trees of a batch of sentences."""

from treecrf.struct.distribution import NoTreeError
from treecrf.struct.grandparent import GrandparentTreeCRF, GrandSiblingTreeCRF
from treecrf.struct.nonprojective import NonProjectiveTreeCRF
from treecrf.struct.projective import ProjectiveTreeCRF
from treecrf.struct.sibling import SiblingTreeCRF

__all__ = [
    "GrandSiblingTreeCRF",
    "GrandparentTreeCRF",
    "NoTreeError",
    "NonProjectiveTreeCRF",
    "ProjectiveTreeCRF",
    "SiblingTreeCRF",
]
