"""The one exception of this layer."""

__all__ = ["SegmentError"]


class SegmentError(ValueError):
    """A segmenter, a setting or data that cannot be worked with, and what to do about it."""
