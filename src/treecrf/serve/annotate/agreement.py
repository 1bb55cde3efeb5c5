"""What several annotators agree on: figures for each pair, and the words they differ in."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

from treecrf.serve.annotate.decisions import Record, corrected
from treecrf.serve.annotate.session import Team
from treecrf.serve.annotate.words import spans
from treecrf.treebank import Sentence

__all__ = ["Agreement", "agreement_of", "cohens_kappa", "compare", "opinions_on"]

Span: TypeAlias = tuple[int, int, int]
"""A word by its place in the text, which is the same however the text is cut elsewhere."""
_ROOT: Span = (-1, -1, -1)


class Choice(NamedTuple):
    """The head that somebody confirmed of a word, and the relation, None if not confirmed."""

    head: Span
    label: str | None


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one annotator says of a sentence, by the places of its words."""

    sentence: Sentence
    record: Record
    choices: Mapping[Span, Choice]
    tags: Mapping[Span, str]


def opinion(sentence: Sentence, record: Record) -> Opinion:
    """What a record says of a sentence of the corpus."""
    shown = corrected(sentence, record)
    places = spans(shown)
    choices = {}
    for word, head in record.heads.items():
        place = _ROOT if head == 0 else places[head - 1]
        choices[places[word - 1]] = Choice(place, record.labels.get(word))
    tags = {place: shown.tokens[number].upos for number, place in enumerate(places)}
    return Opinion(shown, record, choices, tags)


def opinions_on(team: Team, number: int) -> dict[str, Opinion]:
    """The opinions of those who are done with a sentence."""
    sentence = team.first.corpus[number]
    records = {name: each.annotations[number] for name, each in team.items()}
    done = {name: record for name, record in records.items() if record.state == "done"}
    return {name: opinion(sentence, record) for name, record in done.items()}


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two annotators agree on the sentences that both are done with.

    Shares are None where there is nothing to compare.
    """

    sentences: int
    same_tokens: int
    """Sentences that both cut into the same words."""
    words: int
    """Words whose head both have confirmed."""
    uas: float | None
    """The share of those with the same head."""
    relations: int
    """Words whose head and relation both have confirmed."""
    las: float | None
    """The share of those with the same head and relation."""
    kappa: float | None
    """Cohen's kappa of the relations of those."""


def compare(pairs: Sequence[tuple[Opinion, Opinion]]) -> Agreement:
    """Compare what two annotators say of the same sentences."""
    choices = [
        (one.choices[place], other.choices[place])
        for one, other in pairs
        for place in one.choices
        if place in other.choices
    ]
    labelled = [(one, other) for one, other in choices if one.label and other.label]
    return Agreement(
        sentences=len(pairs),
        same_tokens=sum(spans(one.sentence) == spans(other.sentence) for one, other in pairs),
        words=len(choices),
        uas=_share([one.head == other.head for one, other in choices]),
        relations=len(labelled),
        las=_share([one == other for one, other in labelled]),
        kappa=cohens_kappa([(str(one.label), str(other.label)) for one, other in labelled]),
    )


def _share(hits: Sequence[bool]) -> float | None:
    return sum(hits) / len(hits) if hits else None


def cohens_kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Agreement beyond chance: (p - e) / (1 - e); None without pairs, 1 if all have one label.

    `p` is the share of equal pairs and `e` the share that two people would have by chance, each
    with labels as frequent as they gave them.
    """
    count = len(pairs)
    if not count:
        return None
    ones, others = (Counter(labels) for labels in zip(*pairs, strict=True))
    chance = sum(ones[label] * others[label] for label in ones) / count**2
    if chance == 1:
        return 1.0
    return (sum(one == other for one, other in pairs) / count - chance) / (1 - chance)


def agreement_of(team: Team) -> dict[str, Any]:
    """Everything the page of disagreements shows."""
    by_pair: dict[tuple[str, str], list[tuple[Opinion, Opinion]]] = {
        pair: [] for pair in combinations(team.names, 2)
    }
    places = {
        name: {number: place for place, number in enumerate(each.queue.numbers, 1)}
        for name, each in team.items()
    }
    disagreements: list[dict[str, Any]] = []
    remarks: list[dict[str, Any]] = []
    for number in team.numbers():
        where = {name: places[name][number] for name in team}
        remarks += _remarks(team, number, where)
        opinions = opinions_on(team, number)
        for one, other in combinations(opinions, 2):
            by_pair[one, other].append((opinions[one], opinions[other]))
        if found := _disagreement(opinions):
            text = team.first.corpus[number].text
            disagreements.append({"number": number, "text": text, "places": where, **found})
    pairs = [
        {"annotators": names, **asdict(compare(opinions))} for names, opinions in by_pair.items()
    ]
    return {"pairs": pairs, "disagreements": disagreements, "remarks": remarks}


def _remarks(team: Team, number: int, where: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    for name, each in team.items():
        record = each.annotations[number]
        if record.comment or record.flag:
            yield {
                "number": number,
                "text": team.first.corpus[number].text,
                "annotator": name,
                "place": where[name],
                "comment": record.comment,
                "flag": record.flag,
            }


def _disagreement(opinions: Mapping[str, Opinion]) -> dict[str, Any] | None:
    """The words of a sentence that annotators differ in; None where they do not."""
    tokens = {name: spans(each.sentence) for name, each in opinions.items()}
    are_cut_alike = len({tuple(places) for places in tokens.values()}) < 2
    order = sorted({place for places in tokens.values() for place in places})
    words = [found for place in order if (found := _word(opinions, place))]
    if are_cut_alike and not words:
        return None
    cut = {} if are_cut_alike else {name: each.sentence.forms for name, each in opinions.items()}
    return {"words": words, "tokens": cut}


def _word(opinions: Mapping[str, Opinion], place: Span) -> dict[str, Any] | None:
    said = {name: each for name, each in opinions.items() if place in each.tags}
    choices = {name: each.choices[place] for name, each in said.items() if place in each.choices}
    # Whoever confirmed a head alone says nothing about the relation.
    heads = {choice.head for choice in choices.values()}
    labels = {choice.label for choice in choices.values() if choice.label}
    tags = {each.tags[place] for each in said.values()}
    if max(len(heads), len(labels), len(tags)) < 2:
        return None
    first = next(iter(said.values()))
    return {
        "form": first.sentence.forms[spans(first.sentence).index(place)],
        "said": {name: _said(each, place, choices.get(name)) for name, each in said.items()},
        "differs": [
            what
            for what, values in (("head", heads), ("relation", labels), ("tag", tags))
            if len(values) > 1
        ],
    }


def _said(each: Opinion, place: Span, choice: Choice | None) -> dict[str, Any]:
    head = None
    if choice is not None:
        at = 0 if choice.head == _ROOT else spans(each.sentence).index(choice.head) + 1
        head = {"id": at, "form": each.sentence.forms[at - 1] if at else "ROOT"}
    tag = each.tags[place]
    return {
        "head": head,
        "deprel": choice.label if choice else None,
        "upos": None if tag == "_" else tag,
    }
