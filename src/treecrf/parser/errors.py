"""The one exception of this layer, and its warning."""

__all__ = ["LanguageWarning", "ParserError"]


class ParserError(ValueError):
    """A model, a setting or an input that the parser cannot work with, and what to do about it."""


class LanguageWarning(UserWarning):
    """Text that does not look like the language that the model is for."""
