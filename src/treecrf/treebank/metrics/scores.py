"""Precision, recall and F1, and the choices that commands name; loads nothing else."""

from dataclasses import dataclass
from typing import Literal

__all__ = ["By", "Punctuation", "Score", "Subtypes"]

Punctuation = Literal["keep", "unicode", "tag"]
"""Words to leave out: none, those that are all punctuation in Unicode, those tagged so."""

Subtypes = Literal["keep", "cut"]
"""Whether relations keep the part after the colon."""

By = Literal["relation", "length", "distance"]
"""A breakdown by relation, sentence length or arc length."""

ScoreDict = dict[str, float | None]


@dataclass(frozen=True, slots=True)
class Score:
    """Counts of correct, gold and system items; a share of 0 items is 0."""

    correct: int
    gold: int
    system: int
    aligned: int | None = None
    """The gold things whose words were found in both files, where that is asked (CoNLL-18)."""

    @property
    def precision(self) -> float:
        return self.correct / max(self.system, 1)

    @property
    def recall(self) -> float:
        return self.correct / max(self.gold, 1)

    @property
    def f1(self) -> float:
        return 2 * self.correct / max(self.gold + self.system, 1)

    @property
    def aligned_accuracy(self) -> float | None:
        """The share of right ones among those whose words were found in both files."""
        return None if self.aligned is None else self.correct / max(self.aligned, 1)

    def to_dict(self) -> ScoreDict:
        """The figures as fractions, for JSON."""
        figures: ScoreDict = {"precision": self.precision, "recall": self.recall, "f1": self.f1}
        if self.aligned is not None:
            figures["aligned_accuracy"] = self.aligned_accuracy
        return figures
