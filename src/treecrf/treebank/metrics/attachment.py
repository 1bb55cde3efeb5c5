"""The metrics of a parse: attachment, complete matches, adjacent siblings, and their breakdowns."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from treecrf.treebank.metrics.counts import (
    ColumnCounts,
    Counts,
    ScoredWord,
    Treebank,
    count_sentence,
    pair_sentences,
    punctuation,
)
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
        breakdowns = {"relation": self.by_relation, "length": self.by_length}
        return breakdowns.get(what, self.by_distance)

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
    columns: Iterable[str] = (),
) -> Evaluation:
    """Score a system's trees against the reference; both are files or sentences.

    `punct` says which words to leave out: none ("keep"), those that are all punctuation in Unicode
    ("unicode"), or those with a punctuation tag of the Penn Treebank ("tag"). `subtypes` keeps or
    cuts what follows the colon in a relation. Words that the reference has no head for are left
    out. `columns` ("upos", "xpos", "feats", "lemma") adds UPOS, XPOS, UFeats and Lemmas, over all
    words for which the reference has them, punctuation too. Raises `TreebankError` where the two do
    not have the same sentences and words.
    """
    total = Counts()
    totals_by_length = dict.fromkeys(LENGTHS, Counts())
    words: Counter[ScoredWord] = Counter()
    number_ignored = 0
    of_columns = ColumnCounts(columns)
    for reference, answer in pair_sentences(gold, {"system": system}):
        ignored = punctuation(reference, punct)
        number_ignored += sum(ignored)
        counts, scored = count_sentence(reference, answer, ignored=ignored, subtypes=subtypes)
        words.update(scored)
        of_columns.add(reference, answer)
        total = total.plus(counts)
        group = LENGTHS[min(max(len(reference) - 1, 0) // 10, len(LENGTHS) - 1)]
        totals_by_length[group] = totals_by_length[group].plus(counts)

    scores = total.scores()
    return Evaluation(
        scores=scores | of_columns.scores(),
        missing={} if "SIB" in scores else {"SIB": needs_whole_trees(total.open_words)},
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
    """Explain why a partial reference has no SIB."""
    words = "a word" if open_words == 1 else f"{open_words} words"
    return f"adjacent siblings need whole trees, and the reference has {words} without a head"


def scores_to_dict(scores: dict[str, Score]) -> dict[str, Any]:
    """Scores as JSON has them: complete matches have one figure, the others three."""
    return {
        name: score.f1 if name in ("UCM", "LCM") else score.to_dict()
        for name, score in scores.items()
    }


def _by_relation(words: Counter[ScoredWord]) -> Breakdown:
    """Scores of each relation, the most frequent first; UAS is that of its gold words alone."""
    pairs = ((word.gold_relation, word.system_relation) for word in words)
    groups = _by_groups(words, pairs)
    for scores in groups.values():
        scores["UAS"] = Score(scores["UAS"].correct, scores["UAS"].gold, scores["UAS"].gold)
    sizes = {name: (-item["LA"].gold, -item["LA"].system, name) for name, item in groups.items()}
    return {relation: groups[relation] for relation in sorted(groups, key=sizes.__getitem__)}


def _by_distance(words: Counter[ScoredWord]) -> Breakdown:
    """Scores of the arcs of each length: of gold arcs that long, and of the system's."""
    pairs = ((_range(word.gold_distance), _range(word.system_distance)) for word in words)
    groups = _by_groups(words, pairs)
    for scores in groups.values():
        del scores["LA"]
    return {group: groups[group] for group in DISTANCES if group in groups}


def _by_groups(words: Counter[ScoredWord], pairs: Iterable[tuple[str, str]]) -> Breakdown:
    """Scores of the groups that words are in, by their gold and by their system analysis."""
    gold, system, heads, relations, arcs = (Counter[str]() for _ in range(5))
    for (word, number), (ours, theirs) in zip(words.items(), pairs, strict=True):
        gold[ours] += number
        system[theirs] += number
        heads[ours] += number * word.right_head
        relations[ours] += number * word.right_relation
        arcs[ours] += number * (word.right_head and word.right_relation)
    return {
        group: {
            "UAS": Score(heads[group], gold[group], system[group]),
            "LAS": Score(arcs[group], gold[group], system[group]),
            "LA": Score(relations[group], gold[group], system[group]),
        }
        for group in gold | system
    }


def _range(distance: int) -> str:
    """The group of an arc between words so far apart, which is in no table without a head."""
    if distance < 3:
        return ("root", "1", "2", "none")[distance]
    return "3-6" if distance <= 6 else "7+"
