"""Training data: which sentences a loss can learn from, and what is wrong with the others."""

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
    """Sentences to train on, and those that had to be left out."""

    sentences: list[Sentence] = field(default_factory=list)
    partial: int = 0
    """Sentences in which some words have no head."""
    lifted: int = 0
    """Sentences with arcs that were lifted."""
    left_out: list[Sentence] = field(default_factory=list)
    """Sentences that no projective tree fits."""

    def warnings(self) -> list[str]:
        """What the user should know, a line each."""
        if not self.left_out:
            return []
        names = ", ".join(sentence.where for sentence in self.left_out[:5])
        more = f" and {len(self.left_out) - 5:,} more" if len(self.left_out) > 5 else ""
        count = len(self.left_out)
        whole = any(-1 not in sentence.heads for sentence in self.left_out)
        lifting = "--nonprojective pseudo lifts the arcs of whole trees, " if whole else ""
        return [
            f"left out {count:,} {'sentence' if count == 1 else 'sentences'} whose heads no "
            f"projective tree has ({names}{more}); {lifting}--loss nonprojective learns any tree"
        ]


def prepare(sentences: Iterable[Sentence], config: Config) -> Prepared:
    """The sentences as the configured loss learns from them.

    Under `pseudo` crossing arcs are lifted. A loss that sums over projective trees cannot learn
    from what no projective tree fits, so such sentences are left out, and named.
    """
    prepared = Prepared()
    for sentence in sentences:
        heads = [0, *sentence.heads]
        if not any(head >= 0 for head in heads[1:]):
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
            # Arrows in labels are escaped; but those of a partial tree are marks, made before some
            # of its heads were taken away.
            sentence = project(sentence, encoding=config.encoding)
        prepared.sentences.append(sentence)
    if config.pseudo:
        prepared.sentences = _without_rare_marks(prepared.sentences, config.min_marked)
    prepared.partial = sum(-1 in sentence.heads for sentence in prepared.sentences)
    if not prepared.sentences:
        raise ParserError("there is no sentence to train on: none has a head that can be learnt")
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
    """The sentences without marked labels that are too rare to be learnt.

    There are more of those than of all other labels together, and each costs time in every parse.
    """
    counts = Counter(label for sentence in sentences for label in sentence.deprels)
    plain = {
        label: without_marks(label)
        for label, count in counts.items()
        if count < least and is_lifted([label])
    }
    return [
        sentence
        if plain.keys().isdisjoint(labels := sentence.deprels)
        else sentence.with_tree(sentence.heads, [plain.get(label, label) for label in labels])
        for sentence in sentences
    ]


def fingerprint(sentences: Sequence[Sentence]) -> str:
    """A short name for the content of training data: resumed training must have the same."""
    digest = hashlib.sha256()
    for sentence in sentences:
        try:
            digest.update(sentence.to_conllu().encode())
        except TreebankError:  # made in memory with what a file cannot hold
            digest.update(repr((sentence.forms, sentence.heads, sentence.deprels)).encode())
    return digest.hexdigest()[:16]
