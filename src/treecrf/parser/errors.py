"""The one exception of this layer."""

__all__ = ["ParserError"]


class ParserError(ValueError):
    """A model, a setting or an input that the parser cannot work with, and what to do about it."""
