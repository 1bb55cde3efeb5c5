"""A model folder to load from and save to, and what tells two parsers apart."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.parser.models import VOCABULARY, random_scorer, with_loss
from treecrf.locks import LOCK_FILES
from treecrf.parser import Parser
from treecrf.treebank import Sentence, Token

TAGGED = [[("a", "V"), ("dog", "N"), ("?", "X")], [("p", "N"), ("b", "_")]]
SENTENCES = [
    Sentence.from_tokens([Token(id, form, upos=tag) for id, (form, tag) in enumerate(words, 1)])
    for words in TAGGED
]
WITH_VECTORS = VOCABULARY.with_vectors(["p", "q"])
VECTORS = torch.tensor([[0.0, 0.0], [1.0, -1.0], [2.0, 0.5]]).half()


def parser_of(loss: str = "crf2o", *, seed: int = 0) -> Parser:
    """A parser in single precision, with pretrained vectors."""
    config = replace(with_loss(loss), tags="upos")
    scorer = random_scorer(config, vocabulary=WITH_VECTORS, vectors=VECTORS, seed=seed).float()
    return Parser(config, WITH_VECTORS, scorer.state_dict(), vectors=VECTORS, device="cpu")


def assert_same_trees(ours: Parser, theirs: Parser) -> None:
    """But for the last digits, which depend on where weights lie in memory."""
    trees = (parser.parse_tokens(SENTENCES) for parser in (ours, theirs))
    for one, other in zip(*trees, strict=True):
        assert (one.heads, one.deprels) == (other.heads, other.deprels)
        assert one.probs == pytest.approx(other.probs)


def content(folder: Path) -> dict[str, bytes]:
    """Its files, but for those of the lock that a training has."""
    kept = (path for path in folder.iterdir() if path.name not in LOCK_FILES)
    return {path.name: path.read_bytes() for path in kept}
