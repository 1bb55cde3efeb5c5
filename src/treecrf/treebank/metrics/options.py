"""What one can choose about metrics; a command names these without loading what computes them."""

from typing import Literal

__all__ = ["By", "Punctuation", "Subtypes"]

Punctuation = Literal["keep", "unicode", "tag"]
"""Words to leave out: none, those that are all punctuation in Unicode, those tagged so."""

Subtypes = Literal["keep", "cut"]
"""What follows the colon in a relation."""

By = Literal["relation", "length", "distance"]
"""A breakdown by relation, sentence length or arc length."""
