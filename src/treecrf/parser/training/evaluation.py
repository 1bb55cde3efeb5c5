"""Attachment scores on the dev data during training."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from treecrf.parser.batching.batch import cut_batches, make_batch
from treecrf.parser.batching.encoding import encode
from treecrf.parser.config import Config
from treecrf.parser.decoding.decoder import Decoding
from treecrf.parser.decoding.sentences import TreeNamer
from treecrf.parser.errors import ParserError
from treecrf.parser.network.scorer import Scorer
from treecrf.parser.training.ranks import ALONE, Ranks
from treecrf.parser.vocab import Vocabulary
from treecrf.treebank import Sentence
from treecrf.treebank.metrics.counts import punctuation
from treecrf.treebank.metrics.scores import Punctuation

__all__ = ["DevSet", "Scores"]


@dataclass(frozen=True, slots=True)
class Scores:
    """Percentages of words with the right head (UAS), and also the right relation (LAS)."""

    uas: float
    las: float


class DevSet:
    """Dev sentences in batches that stay on the device; each process has some of them."""

    def __init__(
        self,
        sentences: Sequence[Sentence],
        vocabulary: Vocabulary,
        config: Config,
        *,
        device: torch.device,
        ranks: Ranks = ALONE,
        batch_words: int = 5_000,
    ) -> None:
        self.config = config
        self.ranks = ranks
        self.namer = TreeNamer(vocabulary, config)
        self.gold = [
            (_scored_heads(sentence, config.punct), sentence.deprels) for sentence in sentences
        ]
        self.words = sum(head >= 0 for heads, _ in self.gold for head in heads)
        if not self.words:
            raise ParserError(
                "no word of the dev data has a head"
                + ("" if config.punct == "keep" else ", but for punctuation")
                + ", so there is nothing to score"
            )
        encoded = encode(sentences, vocabulary, config)
        batches = list(
            cut_batches(encoded.lengths, tokens=batch_words, apart=config.longest_together)
        )
        self.batches = [
            make_batch(encoded, rows, device=device) for rows in batches[ranks.rank :: ranks.size]
        ]

    def evaluate(self, scorer: Scorer) -> Scores:
        """Score the trees of a model; words without a gold head, and `punct`, do not count."""
        scorer.eval()
        right_heads = right = 0
        for batch in self.batches:
            with torch.inference_mode():
                trees = Decoding(scorer, batch, config=self.config).best()
            for start, row in zip(trees.starts.tolist(), batch.rows.tolist(), strict=True):
                gold_heads, gold_relations = self.gold[row]
                words = slice(start + 1, start + len(gold_heads) + 1)
                heads, relations = self.namer.name(
                    trees.heads[words].tolist(), trees.relations[words].tolist()
                )
                for gold, head, gold_relation, relation in zip(
                    gold_heads, heads, gold_relations, relations, strict=True
                ):
                    if gold == head:
                        right_heads += 1
                        right += gold_relation == relation
        right_heads, right = self.ranks.add([right_heads, right])
        return Scores(100 * right_heads / self.words, 100 * right / self.words)


def _scored_heads(sentence: Sentence, punct: Punctuation) -> list[int]:
    """Gold heads; -1, which no parse has, for words that do not count."""
    left_out = punctuation(sentence, punct)
    return [-1 if out else head for head, out in zip(sentence.heads, left_out, strict=True)]
