"""Training data: sentences that a loss can learn from, and errors about the others."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from treecrf.parser.config import Config
from treecrf.parser.errors import ParserError
from treecrf.treebank import Sentence, TreebankError
from treecrf.treebank.pseudoprojective import is_lifted, project, without_marks
from treecrf.treebank.trees import find_cycle, is_projective, roots

__all__ = ["Prepared", "fingerprint", "prepare"]


@dataclass(slots=True)
class Prepared:
    """Training sentences as the loss takes them."""

    sentences: list[Sentence] = field(default_factory=list)
    partial: int = 0  # sentences in which some words have no head
    unannotated: int = 0  # sentences without any head, learnt from teachers alone
    headless: int = 0  # such sentences where there is no teacher, left out
    lifted: int = 0  # sentences with lifted arcs
    left_out: list[Sentence] = field(default_factory=list)  # no projective tree has their heads
    missing: list[str] = field(default_factory=list)  # columns to predict that the data lacks

    def warnings(self) -> list[str]:
        """Warnings for the user, a line each."""
        if not self.left_out:
            return []
        count = len(self.left_out)
        names = ", ".join(sentence.where for sentence in self.left_out[:5])
        more = f" and {count - 5:,} more" if count > 5 else ""
        whole = any(-1 not in sentence.heads for sentence in self.left_out)
        lifting = "--nonprojective pseudo lifts the arcs of whole trees, " if whole else ""
        return [
            f"left out {count:,} {'sentence' if count == 1 else 'sentences'} whose heads no "
            f"projective tree has ({names}{more}); {lifting}--loss nonprojective learns any tree",
        ]


def prepare(
    sentences: Iterable[Sentence], config: Config, *, taught: bool = False, name: str = ""
) -> Prepared:
    """Validate sentences, lift crossing arcs (`pseudo`), and leave out what cannot be learnt.

    A loss that sums over projective trees cannot learn from heads that no projective tree has.
    Sentences without any head teach nothing, unless the training has a teacher (`taught`). `name`
    is that of their files, for an error.
    """
    prepared = Prepared()
    unannotated = []
    for sentence in sentences:
        heads = [0, *sentence.heads]
        if not any(head >= 0 for head in heads[1:]):
            if taught and len(sentence):
                unannotated.append(sentence)
            else:
                prepared.headless += 1
            continue
        _check_tree(sentence, heads, config)
        partial = -1 in heads
        if not is_projective(heads):
            if config.pseudo and not partial:
                sentence = project(sentence, encoding=config.encoding)
                prepared.lifted += 1
            elif config.learns_projective:
                prepared.left_out.append(sentence)
                continue
        elif config.pseudo and not (partial and is_lifted(sentence.deprels)):
            # Arrows in relations are escaped; those of a partial tree are marks that were made
            # before some of its heads were removed.
            sentence = project(sentence, encoding=config.encoding)
        prepared.sentences.append(sentence)
    if config.pseudo:
        prepared.sentences = _without_rare_marks(prepared.sentences, config.min_marked)
    prepared.partial = sum(-1 in sentence.heads for sentence in prepared.sentences)
    if not prepared.sentences:
        where = f"{name}: " if name else ""
        problem = "there is no sentence to train on: none has a head that can be learnt"
        raise ParserError(f"{where}{problem}")
    prepared.sentences += unannotated
    prepared.unannotated = len(unannotated)
    return prepared


def _check_tree(sentence: Sentence, heads: list[int], config: Config) -> None:
    if cycle := find_cycle(heads):
        raise sentence.error(f"word {cycle[0]} is in a cycle: this is no tree to learn from")
    tops = roots(heads)
    if len(tops) > 1 and not config.multiroot:
        raise sentence.error(
            f"words {tops[0]} and {tops[1]} are both roots; if that is meant, train with "
            "--set multiroot=true"
        )


def _without_rare_marks(sentences: list[Sentence], least: int) -> list[Sentence]:
    """Take the marks off relations that are too rare to be learnt.

    These outnumber all other relations together, and each costs time in every parse.
    """
    counts = Counter(relation for sentence in sentences for relation in sentence.deprels)
    rare = [name for name, count in counts.items() if count < least and is_lifted([name])]
    plain = {name: without_marks(name) for name in rare}
    return [
        sentence
        if plain.keys().isdisjoint(deprels := sentence.deprels)
        else sentence.with_tree(sentence.heads, [plain.get(name, name) for name in deprels])
        for sentence in sentences
    ]


def fingerprint(sentences: Sequence[Sentence]) -> str:
    """A hash of the sentences: resumed training must have the same."""
    digest = hashlib.sha256()
    for sentence in sentences:
        try:
            digest.update(sentence.to_conllu().encode())
        except TreebankError:  # made in memory with what a file cannot hold
            digest.update(repr((sentence.forms, sentence.heads, sentence.deprels)).encode())
    return digest.hexdigest()[:16]
