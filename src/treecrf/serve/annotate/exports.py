"""Files to train on: what all annotators decided, and what they agree on."""

from typing import Literal, TypeAlias

from treecrf.serve.annotate.agreement import Opinion, opinions_on
from treecrf.serve.annotate.decisions import Record, partial_tree
from treecrf.serve.annotate.session import Team
from treecrf.serve.annotate.words import spans
from treecrf.treebank.trees import find_cycle

__all__ = ["Export", "agreed", "everything"]

Export: TypeAlias = Literal["all", "agreed"]


def everything(team: Team) -> str:
    """The sentences of all annotators in CoNLL-U, each with a comment that names its annotator."""
    pieces = []
    for name, each in team.items():
        for number in each.annotations:
            sentence, record = each.corpus[number], each.annotations[number]
            tree = partial_tree(number, sentence, record)
            tree.comments.insert(len(tree.comments) - 1, f"# annotator = {name}")
            pieces.append(tree.to_conllu())
    return "".join(pieces)


def agreed(team: Team) -> str:
    """In CoNLL-U, what at least two annotators confirmed and nobody who is done contradicts.

    A sentence that they cut into different words is left out.
    """
    pieces = []
    for number in team.numbers():
        opinions = opinions_on(team, number)
        if len(opinions) < 2:
            continue
        first, *others = opinions.values()
        if any(spans(other.sentence) != spans(first.sentence) for other in others):
            continue
        tree = partial_tree(number, team.first.corpus[number], _common([first, *others]))
        tree.comments.insert(len(tree.comments) - 1, f"# annotators = {' '.join(opinions)}")
        pieces.append(tree.to_conllu())
    return "".join(pieces)


def _common(opinions: list[Opinion]) -> Record:
    """What records of the same words have in common."""
    records = [each.record for each in opinions]
    words = len(opinions[0].sentence)
    heads: dict[int, int] = {}
    labels, tags = {}, {}
    for word in range(1, words + 1):
        said = [record.heads[word] for record in records if word in record.heads]
        if len(said) < 2 or len(set(said)) > 1:
            continue
        heads[word] = said[0]
        named = [record.labels[word] for record in records if word in record.labels]
        if len(named) > 1 and len(set(named)) == 1:
            labels[word] = named[0]
    # Each arc is in a tree of two people at least, and all of them perhaps in none of anybody.
    roots = [word for word, head in heads.items() if head == 0]
    for word in roots if len(roots) > 1 else ():
        del heads[word]
    while cycle := find_cycle([heads.get(word, -1) for word in range(words + 1)]):
        for word in cycle:
            del heads[word]
    for word, tag in records[0].tags.items():
        if all(record.tags.get(word) == tag for record in records):
            tags[word] = tag
    labels = {word: label for word, label in labels.items() if word in heads}
    return Record(heads, labels, "done", tags=tags, tokens=records[0].tokens)
