"""Counts of what a treebank contains."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from treecrf.treebank.sentence import Sentence
from treecrf.treebank.trees import is_projective, nonprojective_arcs, roots

__all__ = ["Statistics", "count"]


@dataclass(slots=True)
class Statistics:
    """Counts of sentences and of what is in them; arcs are those of words with a head."""

    sentences: int = 0
    words: int = 0
    multiword_tokens: int = 0
    empty_nodes: int = 0
    longest_sentence: int = 0
    annotated_words: int = 0
    partial_sentences: int = 0
    multiroot_sentences: int = 0
    nonprojective_sentences: int = 0
    nonprojective_arcs: int = 0  # of full trees: a partial one does not tell
    relations: Counter[str] = field(default_factory=Counter)
    tags: Counter[str] = field(default_factory=Counter)

    def to_dict(self) -> dict[str, Any]:
        """The counts for JSON, the most frequent relations and tags first."""
        counters = {"relations": self.relations, "tags": self.tags}
        return asdict(self) | {name: dict(item.most_common()) for name, item in counters.items()}


def count(sentences: Iterable[Sentence]) -> Statistics:
    """Count what is in the sentences."""
    counts = Statistics()
    for sentence in sentences:
        heads = [0, *sentence.heads]
        unannotated = heads.count(-1)
        counts.sentences += 1
        counts.words += len(sentence)
        counts.multiword_tokens += len(sentence.multiwords)
        counts.empty_nodes += len(sentence.empty_nodes)
        counts.longest_sentence = max(counts.longest_sentence, len(sentence))
        counts.annotated_words += len(sentence) - unannotated
        counts.partial_sentences += unannotated > 0
        counts.multiroot_sentences += len(roots(heads)) > 1
        if not is_projective(heads):
            counts.nonprojective_sentences += 1
            counts.nonprojective_arcs += 0 if unannotated else len(nonprojective_arcs(heads))
        for token in sentence.tokens:
            counts.tags[token.upos] += 1
            if token.head >= 0:
                counts.relations[token.deprel] += 1
    return counts
