"""Models of a few weights, their batches, and every tree of those: what the tests share."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from hypothesis import strategies as st
from torch import Tensor

from tests.struct.expected import Expected
from tests.struct.problems import Problem
from treecrf.parser.api import Parser
from treecrf.parser.batching.batch import Batch, make_batch
from treecrf.parser.batching.encoding import encode, encode_annotation
from treecrf.parser.config import Config
from treecrf.parser.decoding.decoder import Decoding
from treecrf.parser.decoding.trees import Trees
from treecrf.parser.estimates import FACTORED_CELLS
from treecrf.parser.network.scorer import Scorer
from treecrf.parser.vocab import Vocabulary
from treecrf.treebank import Sentence

LOSSES = ("local", "crf", "crf2o", "crf3o", "nonprojective")
DECODERS = ("viterbi", "mbr", "mst")

SMALL = Config(
    nonprojective="none",
    word_size=6,
    char_embedding_size=4,
    char_size=6,
    max_chars=6,
    tag_size=3,
    lstm_layers=1,
    lstm_size=6,
    arc_size=6,
    label_size=4,
    sibling_size=4,
    grandparent_size=4,
    predict=(),
    column_size=4,
    min_marked=1,
    min_freq=1,
    embedding_dropout=0.0,
    encoder_dropout=0.0,
    recurrent_dropout=0.0,
    mlp_dropout=0.0,
)
"""Without dropout and without anything done about crossing arcs."""

VOCABULARY = Vocabulary(
    words=["a", "b", "c", "dog"],
    characters=["a", "b", "c", "d", "o", "g"],
    tags=["N", "V"],
    upos=["NOUN", "VERB", "X"],
    relations=["x", "y", "z"],
)

WORDS = ("a", "b", "c", "dog", "?", "doggedabc")


def random_scorer(
    config: Config,
    *,
    vocabulary: Vocabulary = VOCABULARY,
    seed: int = 0,
    spread: float = 0.7,
    vectors: Tensor | None = None,
) -> Scorer:
    """A model whose weights are drawn, in double precision."""
    generator = torch.Generator().manual_seed(seed)
    scorer = Scorer(config, vocabulary.sizes, vectors=vectors).double()
    with torch.no_grad():
        for parameter in scorer.parameters():
            parameter.copy_(spread * torch.randn(parameter.shape, generator=generator))
    return scorer.eval()


def random_parser(config: Config, *, vocabulary: Vocabulary = VOCABULARY, seed: int = 0) -> Parser:
    scorer = random_scorer(config, vocabulary=vocabulary, seed=seed)
    return Parser(config, vocabulary, scorer.state_dict(), device="cpu")


def sentence_of(length: int, *, seed: int = 0) -> Sentence:
    """A sentence of so many words, drawn from those that the vocabulary has and others."""
    random = np.random.default_rng([seed, length])
    return Sentence([WORDS[number] for number in random.integers(0, len(WORDS), length)])


def sentences_of(lengths: Sequence[int], *, seed: int = 0) -> list[Sentence]:
    return [sentence_of(length, seed=seed + row) for row, length in enumerate(lengths)]


def batch_of(
    sentences: Sequence[Sentence],
    config: Config,
    *,
    vocabulary: Vocabulary = VOCABULARY,
    annotated: bool = False,
) -> Batch:
    """All of the sentences in one batch, with their trees where asked for."""
    annotation = encode_annotation(sentences, vocabulary, config) if annotated else None
    encoded = encode(sentences, vocabulary, config)
    return make_batch(encoded, np.arange(len(sentences)), annotation=annotation)


@torch.inference_mode()
def decode(
    scorer: Scorer,
    batch: Batch,
    *,
    config: Config,
    allowed: Tensor | None = None,
    probs: bool = False,
    details: bool = False,
    factored_cells: int = FACTORED_CELLS,
) -> Trees:
    """The best trees of a batch."""
    decoding = Decoding(
        scorer, batch, config=config, allowed=allowed, factored_cells=factored_cells
    )
    return decoding.best(probs=probs, details=details)


def trees_of(
    scorer: Scorer,
    batch: Batch,
    config: Config,
    *,
    allowed: Tensor | None = None,
    crossing: bool | None = None,
) -> Expected:
    """Every tree of every sentence by the scores of the model, crossing ones where so told."""
    roles = scorer(batch)
    if crossing is None:
        crossing = config.loss == "nonprojective"
    siblings, grandparents = scorer.siblings(roles, batch), scorer.grandparents(roles, batch)
    if crossing:
        family, siblings, grandparents = "nonprojective", None, None
    elif grandparents is not None:
        family = "grandparent" if siblings is None else "grandsibling"
    else:
        family = "first_order" if siblings is None else "second_order"
    problem = Problem(
        family=family,
        arc_scores=scorer.arcs(roles, batch),
        sibling_scores=siblings,
        grandparent_scores=grandparents,
        lengths=batch.lengths,
        multiroot=config.multiroot,
        allowed=allowed,
    )
    return Expected(problem)


def row_of(trees: Trees, row: int) -> slice:
    """Where the tokens of a sentence are among all tokens of trees."""
    start = int(trees.starts[row])
    return slice(start, start + int(trees.lengths[row]) + 1)


def grid_of(trees: Trees, values: npt.NDArray[Any] | None) -> npt.NDArray[Any]:
    """Values `[sentence, token]`, 0 past the last word, of what trees have by the token."""
    assert values is not None
    grid = np.zeros((len(trees), int(trees.lengths.max()) + 1), values.dtype)
    for row in range(len(trees)):
        grid[row, : int(trees.lengths[row]) + 1] = values[row_of(trees, row)]
    return grid


def with_loss(loss: str, *, multiroot: bool = False, decoder: str = "auto") -> Config:
    return replace(SMALL, loss=loss, multiroot=multiroot, decoder=decoder)  # type: ignore[arg-type]


@st.composite
def heads_of(draw: st.DrawFn, words: int, *, partial: bool = True) -> list[int]:
    """Any heads of so many words, be they a tree or not; -1 is none."""
    choices = [
        st.integers(-1 if partial else 0, words).filter(lambda h, w=w: h != w)
        for w in range(1, words + 1)
    ]
    return [draw(choice) for choice in choices]
