"""Counts of what is right in one sentence, which the metrics and the comparator add up."""

import os
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import zip_longest
from operator import add
from typing import NamedTuple, cast

from treecrf.treebank.errors import TreebankError
from treecrf.treebank.files.conllu import read_conllu
from treecrf.treebank.files.streams import File
from treecrf.treebank.metrics.scores import Punctuation, Score, Subtypes
from treecrf.treebank.sentence import Sentence
from treecrf.treebank.trees import adjacent_siblings

__all__ = [
    "COLUMN_METRICS",
    "ColumnCounts",
    "Counts",
    "ScoredWord",
    "Treebank",
    "count_sentence",
    "pair_sentences",
    "punctuation",
    "sentences_of",
    "universal_features",
]

Treebank = File | Iterable[Sentence]

ADVICE = "Files whose text is split differently are scored by `treecrf score --conll18`."


def sentences_of(treebank: Treebank) -> Iterator[Sentence]:
    """The sentences of a file, or those that are given."""
    if isinstance(treebank, (str, os.PathLike)) or hasattr(treebank, "read"):
        return read_conllu(cast(File, treebank))
    return iter(treebank)


def pair_sentences(
    gold: Treebank, systems: Mapping[str, Treebank]
) -> Iterator[tuple[Sentence, ...]]:
    """Each gold sentence and the same sentence of each system; errors call a system by its key."""
    streams = [sentences_of(treebank) for treebank in (gold, *systems.values())]
    for number, (reference, *others) in enumerate(zip_longest(*streams), 1):
        for name, sentence in zip(systems, others, strict=True):
            if reference is None and sentence is not None:
                raise _ended(number, "gold", name, sentence)
            if sentence is None and reference is not None:
                raise _ended(number, name, "gold", reference)
            if sentence is not None and reference.forms != sentence.forms:
                raise _differ(number, name, reference, sentence)
        yield (reference, *others)


def _ended(number: int, shorter: str, longer: str, sentence: Sentence) -> TreebankError:
    return sentence.error(
        f"{longer} goes on with {_named(number, sentence)}, but {shorter} has only {number - 1} "
        f"sentences; both must have the same. {ADVICE}"
    )


def _differ(number: int, name: str, gold: Sentence, system: Sentence) -> TreebankError:
    what = _named(number, gold)
    problem = f"{what} has {len(gold)} words in gold and {len(system)} in {name}"
    for index, (ours, theirs) in enumerate(zip(gold.forms, system.forms, strict=False), 1):
        if ours != theirs:
            problem = f"word {index} of {what} is {ours!r} in gold and {theirs!r} in {name}"
            break
    return system.error(f"{problem}; both must have the same. {ADVICE}")


def _named(number: int, sentence: Sentence) -> str:
    return f"sentence {number}" + (f" ({sentence.sent_id})" if sentence.sent_id else "")


# Brackets (-LRB-, -RRB-), # and $ are scored.
PTB_PUNCTUATION_TAGS = frozenset({"``", "''", ":", ",", "."})


class ScoredWord(NamedTuple):
    """The outcome of one word; words that agree in all of this are counted together."""

    gold_relation: str
    system_relation: str
    gold_distance: int  # from dependent to head in words; 0 for the root
    system_distance: int  # -1 where the system gives no head
    right_head: bool

    @property
    def right_relation(self) -> bool:
        return self.gold_relation == self.system_relation


class Counts(NamedTuple):
    """Counts of what is scored in one or more sentences, and of what is right."""

    words: int = 0
    right_heads: int = 0
    right_relations: int = 0
    right_arcs: int = 0  # words with the right head and the right relation
    gold_siblings: int = 0
    system_siblings: int = 0
    right_siblings: int = 0
    open_words: int = 0  # that would be scored if the reference had a head for them
    sentences: int = 0  # with a head in the reference; the others cannot be matched or missed
    matches: int = 0
    labelled_matches: int = 0

    def plus(self, other: "Counts") -> "Counts":
        return Counts(*map(add, self, other))

    def scores(self) -> dict[str, Score]:
        """The metrics by name, without SIB where the reference is partial."""
        scores = {
            "UAS": Score(self.right_heads, self.words, self.words),
            "LAS": Score(self.right_arcs, self.words, self.words),
            "LA": Score(self.right_relations, self.words, self.words),
            "UCM": Score(self.matches, self.sentences, self.sentences),
            "LCM": Score(self.labelled_matches, self.sentences, self.sentences),
        }
        if not self.open_words:
            scores["SIB"] = Score(self.right_siblings, self.gold_siblings, self.system_siblings)
        return scores


def count_sentence(
    gold: Sentence, system: Sentence, *, ignored: list[bool], subtypes: Subtypes
) -> tuple[Counts, list[ScoredWord]]:
    """Counts of a sentence, and its words that have a gold head and are not ignored."""
    heads, answers = gold.heads, system.heads
    relations = zip(_relations(gold, subtypes), _relations(system, subtypes), strict=True)
    rows = zip(heads, answers, relations, ignored, strict=True)
    words = [
        ScoredWord(*pair, _distance(word, head), _distance(word, answer), head == answer)
        for word, (head, answer, pair, skip) in enumerate(rows, 1)
        if head >= 0 and not skip
    ]
    right_heads = sum(word.right_head for word in words)
    right_arcs = sum(word.right_head and word.right_relation for word in words)
    gold_siblings, system_siblings = _siblings(heads, ignored), _siblings(answers, ignored)
    annotated = any(head >= 0 for head in heads)
    counts = Counts(
        words=len(words),
        right_heads=right_heads,
        right_relations=sum(word.right_relation for word in words),
        right_arcs=right_arcs,
        gold_siblings=len(gold_siblings),
        system_siblings=len(system_siblings),
        right_siblings=len(gold_siblings & system_siblings),
        open_words=len(gold) - sum(ignored) - len(words),
        sentences=int(annotated),
        matches=int(annotated and right_heads == len(words)),
        labelled_matches=int(annotated and right_arcs == len(words)),
    )
    return counts, words


# Of the shared task, and as they were in 2018.
# fmt: off
UNIVERSAL_FEATURES = frozenset({
    "Abbr", "Animacy", "Aspect", "Case", "Definite", "Degree", "Evident", "Foreign", "Gender",
    "Mood", "NumType", "Number", "Person", "Polarity", "Polite", "Poss", "PronType", "Reflex",
    "Tense", "VerbForm", "Voice",
})
# fmt: on


@lru_cache(maxsize=4096)
def universal_features(feats: str) -> str:
    """FEATS without features that are not universal."""
    features = feats.split("|")
    return "|".join(sorted(f for f in features if f.partition("=")[0] in UNIVERSAL_FEATURES))


COLUMN_METRICS = {"upos": "UPOS", "xpos": "XPOS", "feats": "UFeats", "lemma": "Lemmas"}


class ColumnCounts:
    """Counts of the words with the right tag, features or lemma, where the reference has one."""

    def __init__(self, columns: Iterable[str]) -> None:
        self.columns = list(columns)
        self.words: Counter[str] = Counter()
        self.right: Counter[str] = Counter()

    def add(self, gold: Sentence, system: Sentence) -> None:
        """Count the words of a sentence; no features is an annotation, where others have some."""
        for name in self.columns:
            cells, answers = gold.column(name), system.column(name)
            annotated = name == "feats" and any(cell != "_" for cell in cells)
            same = universal_features if name == "feats" else str
            pairs = [
                same(cell) == same(answer)
                for cell, answer in zip(cells, answers, strict=True)
                if annotated or cell != "_"
            ]
            self.words[name] += len(pairs)
            self.right[name] += sum(pairs)

    def scores(self) -> dict[str, Score]:
        """The metrics by name, of those columns that the reference has."""
        return {
            COLUMN_METRICS[name]: Score(self.right[name], self.words[name], self.words[name])
            for name in self.columns
            if self.words[name]
        }


def _relations(sentence: Sentence, subtypes: Subtypes) -> list[str]:
    if subtypes == "keep":
        return sentence.deprels
    if subtypes == "cut":
        return [relation.partition(":")[0] for relation in sentence.deprels]
    raise ValueError(f"subtypes is 'keep' or 'cut', not {subtypes!r}")


def _distance(word: int, head: int) -> int:
    return abs(word - head) if head > 0 else head


def _siblings(heads: list[int], ignored: list[bool]) -> set[tuple[int, int, int]]:
    """The adjacent siblings of the tree without the ignored words: a comma hides no sibling."""
    kept = [-1 if skip else head for head, skip in zip(heads, ignored, strict=True)]
    return set(adjacent_siblings([0, *kept]))


def punctuation(sentence: Sentence, punct: Punctuation) -> list[bool]:
    """For each word, whether it is punctuation that is left out."""
    if punct == "keep":
        return [False] * len(sentence)
    if punct == "unicode":
        return [_is_punctuation(form) for form in sentence.forms]
    if punct == "tag":
        tags = zip(sentence.column("xpos"), sentence.column("upos"), strict=True)
        return [_is_punctuation_tag(xpos, upos) for xpos, upos in tags]
    raise ValueError(f"punct is 'keep', 'unicode' or 'tag', not {punct!r}")


def _is_punctuation_tag(xpos: str, upos: str) -> bool:
    # Some files have all their tags in UPOS; in one of Universal Dependencies without XPOS, PUNCT
    # is the only word there is for it.
    tag = upos if xpos == "_" else xpos
    return tag in PTB_PUNCTUATION_TAGS or (xpos == "_" and upos == "PUNCT")


@lru_cache(maxsize=4096)
def _is_punctuation(form: str) -> bool:
    return all(unicodedata.category(character).startswith("P") for character in form)
