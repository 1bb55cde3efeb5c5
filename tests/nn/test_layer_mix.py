"""The mix of layers and the mean over pieces."""

import numpy as np
import torch

from treecrf.nn.layer_mix import LayerMix, mean_by_token
from treecrf.nn.pooling_kernel import pool_tokens


def test_a_mix_starts_as_the_mean_of_the_last_layers() -> None:
    states = [torch.randn(2, 3, 4) for _ in range(5)]
    mix = LayerMix(3)
    torch.testing.assert_close(mix(states), torch.stack(states[2:]).mean(0))
    with torch.no_grad():
        mix.weights.copy_(torch.tensor([0.0, 0.0, 50.0]))
        mix.scale.fill_(2.0)
    torch.testing.assert_close(mix(states), 2 * states[4])


def test_where_there_are_few_layers_all_are_mixed() -> None:
    states = [torch.randn(2, 3, 4) for _ in range(2)]
    mix = LayerMix(4)
    torch.testing.assert_close(mix(states), torch.stack(states).mean(0))
    with torch.no_grad():
        mix.weights.copy_(torch.tensor([90.0, 80.0, 0.0, 50.0]))
    torch.testing.assert_close(mix(states), states[1])


def test_tokens_have_the_mean_of_their_pieces() -> None:
    pieces = torch.randn(5, 3)
    mean = mean_by_token(pieces, torch.tensor([1, 0, 1, 2, 1]), 3)
    torch.testing.assert_close(mean[0], pieces[1])
    torch.testing.assert_close(mean[1], pieces[[0, 2, 4]].mean(0))
    torch.testing.assert_close(mean[2], pieces[3])


def test_compiled_pooling_is_that_of_torch() -> None:
    states, table = torch.randn(6, 3), torch.randn(10, 2)
    rows, token = torch.tensor([5, 0, 2, 2, 1]), torch.tensor([1, 0, 1, 2, 1])
    features = torch.randint(10, (3, 4))
    found = np.full((3, 5), np.nan, np.float32)
    arrays = (part.numpy() for part in (states, rows, token, table, features))
    pool_tokens(*arrays, found)
    expected = torch.cat((mean_by_token(states[rows], token, 3), table[features].sum(1)), 1)
    torch.testing.assert_close(torch.from_numpy(found), expected)
