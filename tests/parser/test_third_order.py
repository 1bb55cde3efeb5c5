"""Parsers of the third order, whose long sentences are trained and parsed without grandparents."""

from pathlib import Path

import pytest
import torch

from tests.enumeration import is_projective, is_tree
from treecrf.parser import Parser, load
from treecrf.parser.presets import load_config
from treecrf.parser.training.loop import train
from treecrf.parser.training.setup import set_up
from treecrf.struct import (
    GrandparentTreeCRF,
    GrandSiblingTreeCRF,
    ProjectiveTreeCRF,
    SiblingTreeCRF,
)
from treecrf.treebank import Sentence, read_conllu

LONGEST = 7
"""Words of the longest sentence with grandparents; the generated treebank has many on each side."""

KINDS = {
    True: (GrandSiblingTreeCRF, SiblingTreeCRF),
    False: (GrandparentTreeCRF, ProjectiveTreeCRF),
}


@pytest.fixture(scope="module", params=[True, False], ids=["siblings", "grandparents alone"])
def trained(
    request: pytest.FixtureRequest, treebank: Path, tmp_path_factory: pytest.TempPathFactory
) -> Parser:
    """A parser that was trained for an epoch on sentences of both kinds."""
    changes = {
        "loss": "crf3o",
        "crf3o_siblings": request.param,
        "longest_third_order": LONGEST,
        "epochs": 1,
    }
    folder = tmp_path_factory.mktemp("third-order") / "model"
    data = {"train": [treebank / "train.conllu"], "dev": treebank / "dev.conllu"}
    train(set_up(folder, load_config("tiny", changes), **data, device="cpu"), folder)
    return load(folder, device="cpu")


@pytest.fixture(scope="module")
def sentences(treebank: Path) -> list[Sentence]:
    """Sentences in the order of the file: with the limit exactly, and shorter and longer ones."""
    found = list(read_conllu(treebank / "dev.conllu"))
    lengths = {len(sentence) for sentence in found}
    assert {LONGEST, LONGEST + 1} <= lengths
    return found


def test_long_sentences_are_parsed_without_grandparents(
    trained: Parser, sentences: list[Sentence]
) -> None:
    with_grandparents, without = KINDS[trained.config.crf3o_siblings]
    parsed = trained.parse_tokens(sentences)
    for sentence, answer in zip(sentences, parsed, strict=True):
        heads = (0, *answer.heads)
        assert is_tree(heads)
        assert is_projective(heads) or trained.config.nonprojective == "pseudo"
        crf = trained.distribution([sentence])
        assert type(crf) is (with_grandparents if len(sentence) <= LONGEST else without)
        if is_projective(heads):
            chosen = crf.marginals[0, torch.arange(1, len(heads)), list(answer.heads)]
            torch.testing.assert_close(
                torch.tensor(answer.probs), chosen.float(), rtol=0, atol=1e-4
            )


def test_a_sentence_has_the_same_tree_beside_longer_ones(
    trained: Parser, sentences: list[Sentence]
) -> None:
    """No batch has sentences on both sides of the limit."""
    together = trained.parse_tokens(sentences)
    for sentence, answer in list(zip(sentences, together, strict=True))[:20]:
        (alone,) = trained.parse_tokens([sentence])
        assert alone.heads == answer.heads
        assert alone.probs == pytest.approx(answer.probs, abs=1e-4)
