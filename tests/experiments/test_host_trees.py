"""The TreeCRF on the CPU beside the network gives the trees that the parser gives."""

import pytest
import torch

from experiments.host_trees import greedy_share, parse_with_host_trees
from experiments.speed import check_host_trees
from experiments.systems import CRF2O
from tests.parser.models import random_parser, sentences_of, with_loss
from treecrf.parser.decoding.mbr import is_projective_tree

SENTENCES = sentences_of([1, 3, 7, 2, 12, 5])


@pytest.mark.parametrize("loss", ["crf", "crf2o"])
def test_trees_and_greedy_heads(loss: str) -> None:
    parser = random_parser(with_loss(loss))
    ours = parser.parse_tokens(SENTENCES)
    theirs = parse_with_host_trees(parser, SENTENCES)
    assert [(tree.heads, tree.deprels) for tree in ours] == [
        (tree.heads, tree.deprels) for tree in theirs
    ]
    check_host_trees(CRF2O, parser, SENTENCES)
    settled = 0
    for sentence in SENTENCES:
        heads = parser.distribution([sentence]).marginals.argmax(2)
        heads[:, 0] = 0
        lengths = torch.tensor([len(sentence)])
        settled += int(is_projective_tree(heads, lengths, multiroot=False))
    assert greedy_share(parser, SENTENCES) == settled / len(SENTENCES)
    assert 0 < settled < len(SENTENCES)
