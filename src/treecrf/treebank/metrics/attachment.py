"""The metrics of a parse: attachment, complete matches, adjacent siblings, and their breakdowns."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from treecrf.treebank.metrics.counts import (
    NO_DISTANCE,
    ROOT_DISTANCE,
    Counts,
    ScoredWord,
    count_sentence,
    punctuation,
    scored_words,
)
from treecrf.treebank.metrics.pairing import Treebank, pair_sentences
from treecrf.treebank.metrics.scores import By, Punctuation, Score, Subtypes

__all__ = ["Evaluation", "evaluate", "needs_whole_trees", "scores_to_dict"]

Breakdown = dict[str, dict[str, Score]]
"""A group of words or sentences -> a metric -> its score."""

DISTANCES = ("root", "1", "2", "3-6", "7+")
LENGTHS = ("1-10", "11-20", "21-30", "31-40", "41-50", "51+")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Every metric of a system's trees, by its name: `evaluation["LAS"].f1`."""

    scores: dict[str, Score]
    missing: dict[str, str]
    """Metrics that cannot be had, and why: SIB where the reference is partial."""
    sentences: int
    words: int
    """The words that are scored: annotated in the reference, not ignored as punctuation."""
    ignored: int
    """The words that are ignored as punctuation."""
    by_relation: Breakdown = field(repr=False)
    by_length: Breakdown = field(repr=False)
    by_distance: Breakdown = field(repr=False)

    def __getitem__(self, name: str) -> Score:
        if name in self.missing:
            raise KeyError(f"{name}: {self.missing[name]}")
        return self.scores[name]

    @property
    def uas(self) -> Score:
        """Words with the right head."""
        return self.scores["UAS"]

    @property
    def las(self) -> Score:
        """Words with the right head and the right relation."""
        return self.scores["LAS"]

    @property
    def la(self) -> Score:
        """Words with the right relation, whatever their head."""
        return self.scores["LA"]

    @property
    def ucm(self) -> float:
        """The share of sentences in which every head is right."""
        return self.scores["UCM"].f1

    @property
    def lcm(self) -> float:
        """The share of sentences in which every head and every relation is right."""
        return self.scores["LCM"].f1

    @property
    def sib(self) -> Score | None:
        """Adjacent siblings; None where the reference is partial."""
        return self.scores.get("SIB")

    def by(self, what: By) -> Breakdown:
        """The breakdown by relation, sentence length or arc length ("distance")."""
        match what:
            case "relation":
                return self.by_relation
            case "length":
                return self.by_length
            case "distance":
                return self.by_distance

    def to_dict(self, *, by: By | None = None) -> dict[str, Any]:
        """The metrics by name as fractions, for JSON; a breakdown is added where one is named."""
        figures = scores_to_dict(self.scores)
        for name, reason in self.missing.items():
            figures[name] = {"precision": None, "recall": None, "f1": None, "reason": reason}
        if by is not None:
            groups = self.by(by).items()
            figures[f"by_{by}"] = {group: scores_to_dict(scores) for group, scores in groups}
        return figures


def evaluate(
    gold: Treebank,
    system: Treebank,
    *,
    punct: Punctuation = "keep",
    subtypes: Subtypes = "keep",
) -> Evaluation:
    """Score a system's trees against the reference; both are files or sentences.

    `punct` says which words to leave out: none ("keep"), those that are all punctuation in Unicode
    ("unicode"), or those with a punctuation tag of the Penn Treebank ("tag"). `subtypes` keeps or
    cuts what follows the colon in a relation. Words that the reference has no head for are left
    out. Raises `TreebankError` where the two do not have the same sentences and words.
    """
    total = Counts()
    totals_by_length = dict.fromkeys(LENGTHS, Counts())
    words: Counter[ScoredWord] = Counter()
    number_ignored = 0
    for reference, answer in pair_sentences(gold, {"system": system}):
        ignored = punctuation(reference, punct)
        number_ignored += sum(ignored)
        scored = scored_words(reference, answer, ignored=ignored, subtypes=subtypes)
        words.update(scored)
        counts = count_sentence(reference, answer, scored, ignored=ignored)
        total = total.plus(counts)
        group = _length_range(len(reference))
        totals_by_length[group] = totals_by_length[group].plus(counts)

    scores = total.scores()
    missing = {}
    if "SIB" not in scores:
        missing["SIB"] = needs_whole_trees(total.open_words)
    return Evaluation(
        scores=scores,
        missing=missing,
        sentences=total.sentences,
        words=scores["UAS"].gold,
        ignored=number_ignored,
        by_relation=_by_relation(words),
        by_length={
            group: {name: score for name, score in part.scores().items() if name in scores}
            for group, part in totals_by_length.items()
            if part.sentences
        },
        by_distance=_by_distance(words),
    )


def needs_whole_trees(open_words: int) -> str:
    """Why a partial reference has no SIB."""
    words = "a word" if open_words == 1 else f"{open_words} words"
    return f"adjacent siblings need whole trees, and the reference has {words} without a head"


def scores_to_dict(scores: dict[str, Score]) -> dict[str, Any]:
    """Scores as JSON has them: complete matches have one figure, the others three."""
    return {
        name: score.f1 if name in ("UCM", "LCM") else score.to_dict()
        for name, score in scores.items()
    }


def _length_range(words: int) -> str:
    """The group of a sentence of so many words."""
    return LENGTHS[min(max(words - 1, 0) // 10, len(LENGTHS) - 1)]


def _distance_range(distance: int) -> str:
    """The group of an arc between words so far apart."""
    if distance == ROOT_DISTANCE:
        return "root"
    if distance <= 2:
        return str(distance)
    return "3-6" if distance <= 6 else "7+"


def _by_relation(words: Counter[ScoredWord]) -> Breakdown:
    """Scores of each relation, the most frequent first.

    LAS and LA have the gold words of a relation and those that the system gives it; UAS asks for
    the heads of the gold words alone.
    """
    gold: Counter[str] = Counter()
    system: Counter[str] = Counter()
    right: dict[str, Counter[str]] = {"UAS": Counter(), "LAS": Counter(), "LA": Counter()}
    for word, number in words.items():
        gold[word.gold_relation] += number
        system[word.system_relation] += number
        same = word.gold_relation == word.system_relation
        right["UAS"][word.gold_relation] += number * word.right_head
        right["LAS"][word.gold_relation] += number * (same and word.right_head)
        right["LA"][word.gold_relation] += number * same
    relations = sorted(gold | system, key=lambda name: (-gold[name], -system[name], name))
    return {
        relation: {
            "UAS": Score(right["UAS"][relation], gold[relation], gold[relation]),
            "LAS": Score(right["LAS"][relation], gold[relation], system[relation]),
            "LA": Score(right["LA"][relation], gold[relation], system[relation]),
        }
        for relation in relations
    }


def _by_distance(words: Counter[ScoredWord]) -> Breakdown:
    """Scores of the arcs of each length: of gold arcs that long, and of the system's."""
    gold: Counter[str] = Counter()
    system: Counter[str] = Counter()
    heads: Counter[str] = Counter()
    arcs: Counter[str] = Counter()
    for word, number in words.items():
        group = _distance_range(word.gold_distance)
        gold[group] += number
        if word.system_distance != NO_DISTANCE:
            system[_distance_range(word.system_distance)] += number
        if word.right_head:
            heads[group] += number
            arcs[group] += number * (word.gold_relation == word.system_relation)
    return {
        group: {
            "UAS": Score(heads[group], gold[group], system[group]),
            "LAS": Score(arcs[group], gold[group], system[group]),
        }
        for group in DISTANCES
        if gold[group] or system[group]
    }
