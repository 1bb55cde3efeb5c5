"""One direction of an LSTM over packed sequences in products of bytes, compiled for the CPU.

The columns of its weights are by unit: a tile has the four gates of sixteen units, so that what
comes out of a tile becomes new states at once.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from treecrf.nn.int8.products_kernel import (
    COLUMNS,
    ROWS,
    Bytes,
    Sums,
    Weights,
    multiply_rows,
    round_rows,
    tile_sums,
)
from treecrf.ops.numba.compiling import compiled, kernel
from treecrf.ops.numba.lanes import Floats, Integers, Memory, array, operation

__all__ = ["GATES", "UNITS", "run_direction"]

GATES = 4
UNITS = COLUMNS // GATES  # of a tile: one register
CHUNK = 128  # tokens whose products with the input weights are there at once

FLOAT = ir.FloatType()
VECTOR = ir.VectorType(FLOAT, UNITS)
SUMS = ir.VectorType(ir.IntType(32), UNITS)

# tanh(x) = x P(x²) / Q(x²) in single precision, up to where it is 1.
LARGEST = 7.90531110763549805
NUMERATOR = (
    -2.76076847742355e-16,
    2.00018790482477e-13,
    -8.60467152213735e-11,
    5.12229709037114e-08,
    1.48572235717979e-05,
    6.37261928875436e-04,
    4.89352455891786e-03,
)
DENOMINATOR = (
    1.19825839466702e-06,
    1.18534705686654e-04,
    2.26843463243900e-03,
    4.89352518554385e-03,
)


class _Emitter:
    """Writes instructions for sixteen numbers in single precision."""

    def __init__(self, builder: Any) -> None:
        self.builder = builder

    def constant(self, value: float) -> ir.Value:
        return ir.Constant(VECTOR, [float(np.float32(value))] * UNITS)

    def splat(self, value: ir.Value) -> ir.Value:
        vector = self.builder.insert_element(ir.Constant(VECTOR, None), value, SUMS.element(0))
        return self.builder.shuffle_vector(vector, vector, ir.Constant(SUMS, [0] * UNITS))

    def pointer(self, values: Memory, place: int = 0) -> ir.Value:
        return values.at(self.builder, ir.IntType(64)(place * UNITS))

    def load(self, values: Memory, place: int = 0) -> ir.Value:
        return self.builder.load(self.pointer(values, place), align=4, typ=VECTOR)

    def load_sums(self, values: Memory, place: int) -> ir.Value:
        sums = self.builder.load(self.pointer(values, place), align=4, typ=SUMS)
        return self.builder.sitofp(sums, VECTOR)

    def store(self, values: Memory, vector: ir.Value) -> None:
        self.builder.store(vector, self.pointer(values), align=4)

    def times(self, left: ir.Value, right: ir.Value) -> ir.Value:
        return self.builder.fmul(left, right, flags=("contract",))

    def plus(self, left: ir.Value, right: ir.Value) -> ir.Value:
        return self.builder.fadd(left, right, flags=("contract",))

    def polynomial(self, factors: tuple[float, ...], x: ir.Value) -> ir.Value:
        value = self.constant(factors[0])
        for factor in factors[1:]:
            value = self.plus(self.times(value, x), self.constant(factor))
        return value

    def tanh(self, x: ir.Value) -> ir.Value:
        for sign, limit in (("<", LARGEST), (">", -LARGEST)):
            bound = self.constant(limit)
            x = self.builder.select(self.builder.fcmp_ordered(sign, x, bound), x, bound)
        square = self.times(x, x)
        above = self.times(x, self.polynomial(NUMERATOR, square))
        return self.builder.fdiv(above, self.polynomial(DENOMINATOR, square))

    def sigmoid(self, x: ir.Value) -> ir.Value:
        half = self.constant(0.5)
        return self.plus(self.times(half, self.tanh(self.times(half, x))), half)


@operation(types.void, array, array, array, types.float32, array, array)
def new_states(
    builder: Any,
    given: Memory,
    sums: Memory,
    scales: Memory,
    scale: ir.Value,
    cells: Memory,
    states: Memory,
) -> None:
    """The cells and states of the units of a tile, from what the input gives and from the sums."""
    emit = _Emitter(builder)
    gates = [
        emit.plus(
            emit.load(given, gate),
            emit.times(
                emit.load_sums(sums, gate), emit.times(emit.load(scales, gate), emit.splat(scale))
            ),
        )
        for gate in range(GATES)
    ]
    i, f, o = (emit.sigmoid(gates[gate]) for gate in (0, 1, 3))
    # c = f c + i g, h = o tanh(c)
    cell = emit.plus(emit.times(f, emit.load(cells)), emit.times(i, emit.tanh(gates[2])))
    emit.store(cells, cell)
    emit.store(states, emit.times(o, emit.tanh(cell)))


@compiled
def step(
    given: Floats,
    rounded: Bytes,
    scales: Floats,
    weights: Weights,
    cells: Floats,
    states: Floats,
    sums: Sums,
) -> None:
    """The cells and states of the first sequences after one more token of each."""
    count, columns = given.shape
    depth = len(weights[0]) // columns
    for block in range(columns // COLUMNS):
        place, unit = block * COLUMNS, block * UNITS
        for first in range(0, count, ROWS):
            rows = min(ROWS, count - first)
            tile_sums(weights, block, rounded, first, rows, depth, sums)
            for row in range(rows):
                new_states(
                    given[first + row, place:],
                    sums[row * COLUMNS :],
                    weights[2][place:],
                    scales[first + row],
                    cells[first + row, unit:],
                    states[first + row, unit:],
                )


@kernel
def run_direction(
    tokens: Floats,
    sizes: Integers,
    input_weights: Weights,
    state_weights: Weights,
    bias: Floats,
    backwards: bool,
    outputs: Floats,
) -> None:
    """Fills outputs `[token, unit]` of packed tokens `[token, feature]`, sequences by step."""
    steps, sequences, size = len(sizes), sizes[0], outputs.shape[1]
    columns = len(bias)
    units = columns // GATES
    depth = len(input_weights[0]) // columns
    starts = np.zeros(steps + 1, np.int64)
    starts[1:] = np.cumsum(sizes)
    most = CHUNK + sequences
    inputs, input_scales = np.full(most * depth, 128, np.uint8), np.empty(most, np.float32)
    given = np.empty((most, columns), np.float32)
    # Padded units have no weights, and stay 0.
    state_depth = len(state_weights[0]) // columns
    rounded, scales = (
        np.full(sequences * state_depth, 128, np.uint8),
        np.zeros(sequences, np.float32),
    )
    cells = np.zeros((sequences, units), np.float32)
    states = np.zeros((sequences, units), np.float32)
    sums = np.empty(ROWS * COLUMNS, np.int32)
    done = 0
    while done < steps:
        # As many steps as have CHUNK tokens, or a few more.
        last, taken = done, 0
        while last < steps and taken < CHUNK:
            taken += sizes[steps - 1 - last if backwards else last]
            last += 1
        before = starts[steps - last] if backwards else starts[done]
        round_rows(tokens[before : before + taken], inputs, depth, input_scales)
        multiply_rows(inputs, input_scales, input_weights, bias, given[:taken])
        for number in range(done, last):
            at = steps - 1 - number if backwards else number
            alive, start = sizes[at], starts[at]
            step(
                given[start - before : start - before + alive],
                rounded,
                scales,
                state_weights,
                cells,
                states,
                sums,
            )
            outputs[start : start + alive] = states[:alive, :size]
            round_rows(outputs[start : start + alive], rounded, state_depth, scales)
        done = last
