"""Segmenters: raw text to sentences, tokens and multiword tokens."""

from typing import TYPE_CHECKING

from treecrf.lazy import lazy_names

if TYPE_CHECKING:
    from treecrf.segment.config import SegmenterConfig
    from treecrf.segment.errors import SegmentError
    from treecrf.segment.segmenter import Segmenter
    from treecrf.segment.spaces import rebuild_text
    from treecrf.segment.training.loop import SegmenterEpoch, train_segmenter

__all__ = [
    "SegmentError",
    "Segmenter",
    "SegmenterConfig",
    "SegmenterEpoch",
    "rebuild_text",
    "train_segmenter",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "config": ("SegmenterConfig",),
        "errors": ("SegmentError",),
        "segmenter": ("Segmenter",),
        "spaces": ("rebuild_text",),
        "training.loop": ("SegmenterEpoch", "train_segmenter"),
    },
)
