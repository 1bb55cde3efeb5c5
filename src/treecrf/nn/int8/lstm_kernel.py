"""One direction of an LSTM over packed sequences with int8 products, compiled for the CPU.

The columns of its weights are by unit: a tile has the four gates of sixteen units, so that the sums
of a tile become new states at once.
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
from treecrf.nn.lstm.gates import GATES, UNITS, GateEmitter
from treecrf.ops.numba.compiling import compiled, kernel
from treecrf.ops.numba.lanes import Floats, Integers, Memory, array, operation

__all__ = ["GATES", "UNITS", "run_direction"]

CHUNK = 128  # tokens multiplied by the input weights at once

assert COLUMNS == GATES * UNITS  # a tile has a register for each gate


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
    """New cells and states of the units of a tile, from `given` (of the input) and the sums."""
    emit = GateEmitter(builder)
    gates = [
        emit.plus(
            emit.load(given, gate),
            emit.times(
                emit.load_sums(sums, gate), emit.times(emit.load(scales, gate), emit.splat(scale))
            ),
        )
        for gate in range(GATES)
    ]
    cell, state = emit.new_states(gates, emit.load(cells))
    emit.store(cells, cell)
    emit.store(states, state)


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
    """Advance the cells and states of the first sequences by one token."""
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
    """Fill outputs `[token, unit]` of packed tokens `[token, feature]`; `sizes` are by step."""
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
        # Steps with CHUNK tokens, or a few more.
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
