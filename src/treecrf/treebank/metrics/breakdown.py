"""Scores of a part of the words: those of a relation, of a distance, of sentences of a length."""

from collections import Counter

from treecrf.treebank.metrics.counts import NO_DISTANCE, ROOT_DISTANCE, ScoredWord
from treecrf.treebank.metrics.scores import Score

__all__ = ["Breakdown", "by_distance", "by_relation", "length_range"]

Breakdown = dict[str, dict[str, Score]]
"""A group of words or sentences -> a metric -> its score."""

DISTANCES = ("root", "1", "2", "3-6", "7+")
LENGTHS = ("1-10", "11-20", "21-30", "31-40", "41-50", "51+")


def length_range(words: int) -> str:
    """The group of a sentence of so many words."""
    return LENGTHS[min(max(words - 1, 0) // 10, len(LENGTHS) - 1)]


def distance_range(distance: int) -> str:
    """The group of an arc between words so far apart."""
    if distance == ROOT_DISTANCE:
        return "root"
    if distance <= 2:
        return str(distance)
    return "3-6" if distance <= 6 else "7+"


def by_relation(words: Counter[ScoredWord]) -> Breakdown:
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


def by_distance(words: Counter[ScoredWord]) -> Breakdown:
    """Scores of the arcs of each length: of gold arcs that long, and of the system's."""
    gold: Counter[str] = Counter()
    system: Counter[str] = Counter()
    heads: Counter[str] = Counter()
    arcs: Counter[str] = Counter()
    for word, number in words.items():
        group = distance_range(word.gold_distance)
        gold[group] += number
        if word.system_distance != NO_DISTANCE:
            system[distance_range(word.system_distance)] += number
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
