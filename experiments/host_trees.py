"""Parsing with the network on one device and the TreeCRF on the CPU, as parsers did before."""

from collections.abc import Sequence

import numpy as np
import torch

from treecrf.parser import Parser
from treecrf.parser.batching.batch import cut_batches, make_batch
from treecrf.parser.batching.encoding import encode
from treecrf.parser.decoding.batches import BATCH_WORDS
from treecrf.parser.decoding.mbr import is_projective_tree, mbr_heads
from treecrf.parser.decoding.sentences import TreeNamer
from treecrf.parser.device import fast_products
from treecrf.parser.network.loss import TreeScores
from treecrf.treebank import Sentence

__all__ = ["greedy_share", "parse_with_host_trees"]


@torch.inference_mode()
def parse_with_host_trees(parser: Parser, sentences: Sequence[Sentence]) -> list[Sentence]:
    """Parse by MBR like `parser.parse_tokens`, with inside-outside and decoding on the CPU.

    It computes no probabilities.
    """
    namer = TreeNamer(parser.vocabulary, parser.config)
    encoded = encode(sentences, parser.vocabulary, parser.config)
    order = np.argsort(-encoded.lengths, kind="stable")
    parsed: list[Sentence | None] = [None] * len(sentences)
    scorer = parser.scorer
    tokens = BATCH_WORDS[parser.device.type]
    apart = parser.config.longest_together
    for rows in cut_batches(encoded.lengths, order, tokens=tokens, apart=apart):
        batch = make_batch(encoded, rows, device=parser.device)
        with fast_products():
            roles = scorer(batch)
            scores = TreeScores.of(scorer, roles, batch, config=parser.config)
            scores = scores.change(lambda part: part.cpu())
            crf = scores.distribution(batch.lengths.cpu(), config=parser.config)
            heads = mbr_heads(crf)
            numbers = scorer.relations(roles, batch, heads.to(parser.device)).argmax(1)
        relations = batch.unpack(numbers.unsqueeze(1)).squeeze(2).cpu()
        for place, row in enumerate(batch.rows.tolist()):
            words = slice(1, len(sentences[row]) + 1)
            tree = namer.name(heads[place, words].tolist(), relations[place, words].tolist())
            parsed[row] = sentences[row].with_tree(*tree)
    return [sentence for sentence in parsed if sentence is not None]


def greedy_share(parser: Parser, sentences: Sequence[Sentence]) -> float:
    """The share of sentences whose most probable heads are a projective tree already."""
    lengths = np.array([len(sentence) for sentence in sentences])
    order = np.argsort(-lengths, kind="stable")
    settled = 0
    for rows in cut_batches(lengths, order, tokens=BATCH_WORDS[parser.device.type]):
        crf = parser.distribution([sentences[row] for row in rows])
        marginals = crf.marginals
        token = torch.arange(marginals.shape[1], device=marginals.device)
        is_word = (token > 0) & (token <= crf.lengths[:, None])
        heads = torch.where(is_word, marginals.argmax(2), 0)
        trees = is_projective_tree(heads, crf.lengths, multiroot=crf.multiroot)
        settled += int(trees.sum())
    return settled / len(sentences)
