"""Layers of a transformer with int8 products, compiled for the CPU."""

import numpy as np

from treecrf.nn.int8.attention_kernel import ROWS, attend
from treecrf.nn.int8.products_kernel import Weights, multiply
from treecrf.ops.numba.compiling import compiled, kernel, relaxed
from treecrf.ops.numba.lanes import Floats, Integers

__all__ = ["CHUNK", "run_layer", "run_layers"]

CHUNK = 96  # rows that stay in the cache from the first product to the last
Linear = tuple[Weights, Floats]
"""Weights and bias of a product."""
Norm = tuple[Floats, Floats]
"""Weight and bias of a layer norm."""

# erf(x / √2) = x P(x²) / Q(x²) in single precision, for x up to LARGEST, where it is 1.
LARGEST = np.float32(5.6)
P = (4.45950491e-08, 1.25794696e-05, 3.37852058e-04, 9.35466166e-03, 6.78574711e-02, 0.797884544)
Q = (1.17965701e-06, 7.33430493e-05, 1.88547393e-03, 2.86773843e-02, 0.251713055, 1.0)
NUMERATOR, DENOMINATOR = tuple(map(np.float32, P)), tuple(map(np.float32, Q))


@relaxed
def gelu(rows: Floats) -> None:
    """Replace each x by x Φ(x)."""
    n5, n4, n3, n2, n1, n0 = NUMERATOR
    d5, d4, d3, d2, d1, d0 = DENOMINATOR
    zero, half, one = np.float32(0), np.float32(0.5), np.float32(1)
    for number in range(len(rows)):
        row = rows[number]
        for place in range(len(row)):
            x = row[place]
            s = x * x
            above = ((((n5 * s + n4) * s + n3) * s + n2) * s + n1) * s + n0
            below = ((((d5 * s + d4) * s + d3) * s + d2) * s + d1) * s + d0
            within = half * x * (one + x * above / below)
            positive = x if x > zero else zero
            row[place] = within if s < LARGEST * LARGEST else positive


@relaxed
def add_and_norm(rows: Floats, added: Floats, norm: Norm, epsilon: float) -> None:
    """Add to each row and give the sum mean 0 and variance 1, then the norm's weight and bias."""
    weight, bias = norm
    size = np.float32(rows.shape[1])
    for number in range(len(rows)):
        row, other = rows[number], added[number]
        total = np.float32(0)
        for place in range(len(row)):
            row[place] += other[place]
            total += row[place]
        mean = total / size
        squares = np.float32(0)
        for place in range(len(row)):
            squares += (row[place] - mean) * (row[place] - mean)
        factor = np.float32(1) / np.sqrt(squares / size + np.float32(epsilon))
        for place in range(len(row)):
            row[place] = (row[place] - mean) * factor * weight[place] + bias[place]


@compiled
def finish_layer(
    states: Floats,
    attended: Floats,
    linears: tuple[Linear, Linear, Linear],
    norms: tuple[Norm, Norm],
    width: int,
    epsilon: float,
    outputs: Floats,
) -> None:
    """Fill outputs `[row, feature]` from the states before a layer and what its heads attended to.

    The three products are those of attention's output and of the feed-forward network, which is
    `width` units wide.
    """
    (output, output_bias), (expand, expand_bias), (contract, contract_bias) = linears
    most = min(CHUNK, len(states))
    middle = np.empty((most, states.shape[1]), np.float32)
    expanded = np.empty((most, width), np.float32)
    for first in range(0, len(states), CHUNK):
        rows = slice(first, min(first + CHUNK, len(states)))
        count = rows.stop - first
        inner, wide = middle[:count], expanded[:count]
        multiply(attended[rows], output, output_bias, inner)
        add_and_norm(inner, states[rows], norms[0], epsilon)
        multiply(inner, expand, expand_bias, wide)
        gelu(wide)
        multiply(wide, contract, contract_bias, outputs[rows])
        add_and_norm(outputs[rows], inner, norms[1], epsilon)


@kernel
def run_layer(
    states: Floats,
    lengths: Integers,
    heads: int,
    projection: Linear,
    linears: tuple[Linear, Linear, Linear],
    norms: tuple[Norm, Norm],
    width: int,
    epsilon: float,
    outputs: Floats,
) -> None:
    """Fill outputs `[row, feature]` from the states before a layer, of windows one after the other.

    `lengths [window]` are their rows; `projection` makes queries, keys and values.
    """
    rows, size = states.shape
    weights, bias = projection
    projected = np.empty((rows + ROWS, 3 * size), np.float32)
    multiply(states, weights, bias, projected[:rows])
    projected[rows:] = 0  # read by the last tile, whatever it is
    attended = np.empty((rows, size), np.float32)
    flat = projected.reshape(-1)
    first = 0
    for length in lengths:
        attend(flat, first, length, heads, size, attended)
        first += length
    finish_layer(states, attended, linears, norms, width, epsilon, outputs)


@kernel
def run_layers(
    states: Floats,
    lengths: Integers,
    heads: int,
    weights: tuple[Linear, tuple[Linear, Linear, Linear], tuple[Norm, Norm]],
    width: int,
    epsilon: float,
    shares: Floats,
    mixed: Floats,
) -> None:
    """Fill `mixed [row, feature]` with the last states, each times its share.

    The states are those before the first layer and after each one. The weights are the projection,
    linears and norms of `run_layer`, each array with a first axis for layers.
    """
    projection, linears, norms = weights
    layers = len(projection[1])
    first_mixed = layers + 1 - len(shares)
    mixed[:] = 0
    before, after = states, np.empty_like(states)
    spare = np.empty_like(states)
    for number in range(layers + 1):
        if number >= first_mixed:
            add_share(mixed, before, shares[number - first_mixed])
        if number == layers:
            break
        output, expand, contract = linears
        own = layer_of(output, number), layer_of(expand, number), layer_of(contract, number)
        own_norms = norm_of(norms[0], number), norm_of(norms[1], number)
        window = row = 0
        while window < len(lengths):  # windows that have CHUNK rows together, or one alone
            last, stop = window + 1, row + lengths[window]
            while last < len(lengths) and stop + lengths[last] - row <= CHUNK:
                stop += lengths[last]
                last += 1
            run_layer(
                before[row:stop],
                lengths[window:last],
                heads,
                layer_of(projection, number),
                own,
                own_norms,
                width,
                epsilon,
                after[row:stop],
            )
            window, row = last, stop
        before, after, spare = after, spare, after


@compiled
def layer_of(linear: Linear, number: int) -> Linear:
    """Weights and bias of one layer."""
    (values, starts, scales), bias = linear
    return (values[number], starts[number], scales[number]), bias[number]


@compiled
def norm_of(norm: Norm, number: int) -> Norm:
    """Weight and bias of the norm of one layer."""
    return norm[0][number], norm[1][number]


@compiled
def add_share(total: Floats, states: Floats, share: np.float32) -> None:
    """Add to each row of a total the states times a share."""
    for row in range(len(states)):
        for place in range(states.shape[1]):
            total[row, place] += share * states[row, place]
