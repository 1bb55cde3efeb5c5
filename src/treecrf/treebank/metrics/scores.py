"""What a metric comes to: counts, and the precision, recall and F1 that follow from them."""

from dataclasses import dataclass

__all__ = ["Score", "ScoreDict"]

ScoreDict = dict[str, float | None]


@dataclass(frozen=True, slots=True)
class Score:
    """How many of the gold and of the system's things are right; 0 of 0 counts as 0."""

    correct: int
    gold: int
    system: int
    aligned: int | None = None
    """The gold things whose words were found in both files, where that is asked (CoNLL-18)."""

    @property
    def precision(self) -> float:
        return self.correct / self.system if self.system else 0.0

    @property
    def recall(self) -> float:
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        total = self.gold + self.system
        return 2 * self.correct / total if total else 0.0

    @property
    def aligned_accuracy(self) -> float | None:
        """The share of right ones among those whose words were found in both files."""
        if self.aligned is None:
            return None
        return self.correct / self.aligned if self.aligned else 0.0

    def to_dict(self) -> ScoreDict:
        """The figures as fractions, for JSON."""
        figures: ScoreDict = {"precision": self.precision, "recall": self.recall, "f1": self.f1}
        if self.aligned is not None:
            figures["aligned_accuracy"] = self.aligned_accuracy
        return figures
