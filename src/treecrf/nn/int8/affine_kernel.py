"""Forms in two vectors, y W(x), with int8 products, compiled for the CPU.

The product of a vector x with all weights is a matrix; rounded, it becomes the weights of a second
product, with one or several y. Its columns are in the order that the second product needs.
"""

import numpy as np
import numpy.typing as npt

from treecrf.nn.int8.products_kernel import (
    COLUMNS,
    LARGEST,
    Weights,
    largest_of,
    multiply_rows,
    round_rows,
    tile_sums,
)
from treecrf.ops.numba.compiling import compiled, kernel
from treecrf.ops.numba.lanes import Floats, Integers

__all__ = ["apply_forms"]

MATRICES = 12  # computed together, so that the weights are read once for them


@kernel
def apply_forms(
    vectors: Floats,
    weights: Weights,
    bias: Floats,
    places: Integers,
    others: Floats,
    outputs: Floats,
) -> None:
    """Fill outputs `[vector, row, column]` of vectors `[vector, feature]`.

    `others` are `[group, row, feature]`; equal numbers of successive vectors share a group. Tile t
    of the first product goes to register `places[t]` of the matrix.
    """
    each = len(vectors) // len(others)
    depth = len(weights[0]) // len(weights[1])
    inputs, scales = np.full(MATRICES * depth, 128, np.uint8), np.empty(MATRICES, np.float32)
    matrices = np.empty((MATRICES, len(bias)), np.float32)
    columns = -(-outputs.shape[2] // COLUMNS) * COLUMNS
    rows, other_depth = others.shape[1], -(-others.shape[2] // 4) * 4
    rounded, other_scales = np.full(rows * other_depth, 128, np.uint8), np.empty(rows, np.float32)
    ones = np.ones(other_depth, np.uint8)
    matrix = np.zeros(columns * other_depth, np.int8)
    starts, zeros = np.empty(columns, np.int32), np.zeros(columns, np.int32)
    matrix_scales, no_bias = np.empty(columns, np.float32), np.zeros(columns, np.float32)
    group = -1
    for first in range(0, len(vectors), MATRICES):
        count = min(MATRICES, len(vectors) - first)
        round_rows(vectors[first : first + count], inputs, depth, scales)
        multiply_rows(inputs, scales, weights, bias, matrices[:count])
        for number in range(count):
            if (first + number) // each != group:
                group = (first + number) // each
                round_rows(others[group], rounded, other_depth, other_scales)
            matrix_scales[:] = round_matrix(matrices[number], places, matrix)
            found = matrix, zeros, matrix_scales
            for block in range(columns // COLUMNS):
                tile_sums(found, block, ones, 0, 1, other_depth, starts[block * COLUMNS :])
            for column in range(columns):
                starts[column] *= -128
            found = matrix, starts, matrix_scales
            multiply_rows(rounded, other_scales, found, no_bias, outputs[first + number])


@compiled
def round_matrix(values: Floats, places: Integers, matrix: npt.NDArray[np.int8]) -> np.float32:
    """Round the values of a matrix by one scale, each register of them to its place."""
    scale = largest_of(values) / np.float32(LARGEST)
    factor = np.float32(1) / scale if scale > 0 else np.float32(0)
    for tile in range(len(places)):
        given = values[tile * COLUMNS : (tile + 1) * COLUMNS]
        target = matrix[places[tile] * COLUMNS :]
        for at in range(COLUMNS):
            target[at] = np.int8(np.int32(given[at] * factor + np.float32(128.5)) - 128)
    return scale
