"""Segmenters: raw text to sentences, tokens and multiword tokens."""

from importlib import import_module
from typing import TYPE_CHECKING

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

_HOMES = {
    "SegmentError": "errors",
    "Segmenter": "segmenter",
    "SegmenterConfig": "config",
    "SegmenterEpoch": "train",
    "rebuild_text": "spaces",
    "train_segmenter": "train",
}


def __getattr__(name: str) -> object:
    """Import what is asked for when it is first asked for: a command loads what it needs."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
