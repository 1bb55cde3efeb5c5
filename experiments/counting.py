"""Counts of right arcs in each sentence of a parse, stored in few bytes.

A list of counts is written as text, `3 0*5 1`: a number, or a number and how often it comes.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby

from treecrf.treebank import Sentence
from treecrf.treebank.metrics.counts import Counts, count_sentence, pair_sentences, punctuation
from treecrf.treebank.metrics.scores import Punctuation

__all__ = ["count_parses", "pack_gold", "pack_system", "unpack"]

# What the reference alone says of a sentence, and what a system adds. Complete matches follow from
# these; right relations under wrong heads are in no table and left out.
_GOLD = ("words", "sentences", "open_words", "gold_siblings")
_SYSTEM = ("wrong_heads", "wrong_arcs", "missed_siblings", "extra_siblings")

Packed = dict[str, str]


def count_parses(
    gold: Iterable[Sentence], parsed: Iterable[Sentence], *, punct: Punctuation
) -> list[Counts]:
    """The counts of each sentence."""
    counts = []
    for reference, answer in pair_sentences(gold, {"system": parsed}):
        ignored = punctuation(reference, punct)
        counts.append(count_sentence(reference, answer, ignored=ignored, subtypes="keep")[0])
    return counts


def pack_gold(counts: Sequence[Counts]) -> Packed:
    """Pack the counts that are the same for every system."""
    return {name: _text([getattr(count, name) for count in counts]) for name in _GOLD}


def pack_system(counts: Sequence[Counts]) -> Packed:
    """Pack the errors of one system; most sentences have none, which takes little space."""
    rows = [
        (
            count.words - count.right_heads,
            count.words - count.right_arcs,
            count.gold_siblings - count.right_siblings,
            count.system_siblings - count.right_siblings,
        )
        for count in counts
    ]
    columns = zip(*rows, strict=True) if rows else ((),) * len(_SYSTEM)
    return {name: _text(column) for name, column in zip(_SYSTEM, columns, strict=True)}


def unpack(gold: Packed, system: Packed) -> list[Counts]:
    """Unpack the counts of each sentence, except those of right relations."""
    columns = [_numbers(gold[name]) for name in _GOLD] + [
        _numbers(system[name]) for name in _SYSTEM
    ]
    return [
        Counts(
            words=words,
            right_heads=words - wrong_heads,
            right_arcs=words - wrong_arcs,
            gold_siblings=siblings,
            system_siblings=siblings - missed + extra,
            right_siblings=siblings - missed,
            open_words=open_words,
            sentences=sentences,
            matches=sentences * (wrong_heads == 0),
            labelled_matches=sentences * (wrong_arcs == 0),
        )
        for words, sentences, open_words, siblings, wrong_heads, wrong_arcs, missed, extra in zip(
            *columns, strict=True
        )
    ]


def _text(numbers: Iterable[int]) -> str:
    runs = [(number, sum(1 for _ in group)) for number, group in groupby(numbers)]
    return " ".join(f"{number}*{times}" if times > 1 else f"{number}" for number, times in runs)


def _numbers(text: str) -> list[int]:
    numbers: list[int] = []
    for item in text.split():
        number, _, times = item.partition("*")
        numbers += [int(number)] * int(times or 1)
    return numbers
