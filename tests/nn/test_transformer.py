"""Our BERT against that of the package transformers, with the same weights."""

import pytest
import torch

from treecrf.nn.transformer.bert import BertEncoder, BertShape, bert_weights

transformers = pytest.importorskip("transformers")


def test_states_are_those_of_transformers() -> None:
    torch.manual_seed(1)
    config = transformers.BertConfig(
        vocab_size=50,
        hidden_size=24,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=40,
        max_position_embeddings=16,
    )
    theirs = transformers.BertModel(config).eval()
    with torch.no_grad():
        for parameter in theirs.parameters():  # norms and biases that matter
            parameter.add_(0.1 * torch.randn_like(parameter))
    ours = BertEncoder(BertShape.from_transformers(config.to_dict()), dropout=0.1).eval()
    ours.load_state_dict(bert_weights(theirs.state_dict()))

    lengths = torch.tensor([11, 7, 1])
    pieces = torch.randint(0, 50, (3, 11))
    seen = torch.arange(11) < lengths[:, None]
    with torch.no_grad():
        states = ours(pieces, lengths)
        expected = theirs(pieces, attention_mask=seen.long(), output_hidden_states=True)
    assert len(states) == 4
    for mine, other in zip(states, expected.hidden_states, strict=True):
        torch.testing.assert_close(mine[seen], other[seen], rtol=1e-4, atol=1e-5)


def test_packed_pieces_have_the_same_states() -> None:
    torch.manual_seed(1)
    shape = BertShape(vocabulary=9, size=8, layers=2, heads=2, feed_forward=12, positions=10)
    encoder = BertEncoder(shape, dropout=0.5).eval()
    lengths = torch.tensor([2, 5, 9, 5, 1])
    pieces = torch.randint(0, 9, (5, 9))
    seen = torch.arange(9) < lengths[:, None]
    states, packed = encoder.read_packed(pieces, lengths)
    for mine, other in zip(states, encoder(pieces, lengths), strict=True):
        assert len(mine) == lengths.sum()
        torch.testing.assert_close(mine[packed[seen]], other[seen])


def test_padding_changes_nothing() -> None:
    torch.manual_seed(1)
    shape = BertShape(vocabulary=9, size=8, layers=2, heads=2, feed_forward=12, positions=10)
    encoder = BertEncoder(shape, dropout=0.5).eval()
    pieces = torch.randint(0, 9, (1, 6))
    padded = torch.cat((pieces, torch.randint(0, 9, (1, 4))), 1)
    alone = encoder(pieces, torch.tensor([6]))[-1]
    torch.testing.assert_close(encoder(padded, torch.tensor([6]))[-1][:, :6], alone)
