"""Attention within windows in single precision, compiled for the CPU.

torch takes three times as long for a window as short as a sentence.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from treecrf.nn.lstm.gates import UNITS, VECTOR, GateEmitter
from treecrf.ops.numba.compiling import compiled, relaxed
from treecrf.ops.numba.lanes import Floats, Memory, array, operation

__all__ = ["COLUMNS", "ROWS", "attend"]

ROWS = 4  # of a tile
COLUMNS = 2 * UNITS  # of a tile: two registers a row

# 2**x for x in [-0.5, 0.5] in single precision: the coefficients of x**5, x**4, ...
_POWERS = tuple(
    map(np.float32, (0.00134004, 0.00967604, 0.05550327, 0.24022107, 0.69314721, 1.00000008))
)
_LOG2_E = np.float32(1.4426950408889634)
_LEAST = np.float32(-120)  # exponents below are taken for this: a weight of about 0
_BIAS = np.int32(127)  # of the exponent of a float32
_MANTISSA = np.int32(23)  # bits
_MINUS_INFINITY = np.float32(-np.inf)


@operation(
    types.void,
    *(array, types.intp, types.intp),
    *(array, types.intp, types.intp),
    types.intp,
    *(array, types.intp, types.intp),
)
def tile(
    builder: Any,
    left: Memory,
    left_first: ir.Value,
    left_stride: ir.Value,
    right: Memory,
    right_first: ir.Value,
    right_stride: ir.Value,
    depth: ir.Value,
    product: Memory,
    first: ir.Value,
    stride: ir.Value,
) -> None:
    """Write the product `[ROWS, COLUMNS]` of `left [ROWS, depth]` and `right [depth, COLUMNS]`.

    Each is in a flat array: its first element, and the elements from a row to the next.
    """
    emit = GateEmitter(builder)
    registers = range(COLUMNS // UNITS)
    zero = ir.Constant(VECTOR, None)
    totals = {
        (row, at): cgutils.alloca_once_value(builder, zero)
        for row in range(ROWS)
        for at in registers
    }

    def place(start: ir.Value, row: ir.Value, width: ir.Value, column: ir.Value) -> ir.Value:
        return builder.add(builder.add(start, builder.mul(row, width)), column)

    with cgutils.for_range(builder, depth) as loop:
        given = []
        for at in registers:
            here = place(right_first, loop.index, right_stride, depth.type(at * UNITS))
            given.append(builder.load(right.at(builder, here), align=4, typ=VECTOR))
        for row in range(ROWS):
            here = place(left_first, depth.type(row), left_stride, loop.index)
            factor = emit.splat(builder.load(left.at(builder, here), align=4, typ=left.element))
            for at in registers:
                before = builder.load(totals[row, at], typ=VECTOR)
                builder.store(emit.plus(before, emit.times(factor, given[at])), totals[row, at])
    for (row, at), total in totals.items():
        here = place(first, depth.type(row), stride, depth.type(at * UNITS))
        builder.store(builder.load(total, typ=VECTOR), product.at(builder, here), align=4)


@relaxed
def weigh(scores: Floats, count: int, scale: np.float32) -> None:
    """Replace scores by their softmax; those from number `count` on have weight 0."""
    factor = scale * _LOG2_E
    scores[count:] = _MINUS_INFINITY
    largest = _MINUS_INFINITY
    for place in range(len(scores)):
        largest = max(largest, scores[place])
    p5, p4, p3, p2, p1, p0 = _POWERS
    total = np.float32(0)
    for place in range(len(scores)):
        power = max((scores[place] - largest) * factor, _LEAST)
        whole = np.int32(power - np.float32(0.5))
        x = power - np.float32(whole)
        value = ((((p5 * x + p4) * x + p3) * x + p2) * x + p1) * x + p0
        value *= np.int32((whole + _BIAS) << _MANTISSA).view(np.float32)
        scores[place] = value
        total += value
    share = np.float32(1) / total
    for place in range(len(scores)):
        scores[place] *= share


@compiled
def attend(
    projected: Floats, first: int, length: int, heads: int, size: int, attended: Floats
) -> None:
    """Fill `attended [row, size]` for a window of `length` rows, from the row `first` on.

    `projected [row * 3 * size]` has queries, keys and values, with ROWS rows after the last window
    that may be anything.
    """
    width = size // heads
    padded, wide = -(-length // COLUMNS) * COLUMNS, -(-width // COLUMNS) * COLUMNS
    keys = np.zeros(width * padded, np.float32)  # [feature, row]
    weights = np.empty(ROWS * padded, np.float32)  # [row, row]
    found = np.empty(ROWS * wide, np.float32)  # [row, feature]
    scale = np.float32(1 / np.sqrt(width))
    stride = 3 * size
    for head in range(heads):
        start = first * stride + head * width
        for row in range(length):
            key = start + row * stride + size
            for feature in range(width):
                keys[feature * padded + row] = projected[key + feature]
        for row in range(0, length, ROWS):
            query = start + row * stride
            for column in range(0, padded, COLUMNS):
                tile(projected, query, stride, keys, column, padded, width, weights, column, padded)
            for part in range(ROWS):
                weigh(weights[part * padded : (part + 1) * padded], length, scale)
            for column in range(0, width, COLUMNS):
                value = start + 2 * size + column
                tile(weights, 0, padded, projected, value, stride, length, found, column, wide)
            for part in range(min(ROWS, length - row)):
                target = attended[first + row + part, head * width :]
                for feature in range(width):
                    target[feature] = found[part * wide + feature]
