"""One direction of an LSTM over a single sequence in single precision, compiled for the CPU."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from treecrf.nn.lstm.gates import GATES, UNITS, VECTOR, GateEmitter
from treecrf.ops.numba.compiling import kernel
from treecrf.ops.numba.lanes import Floats, Memory, array, operation


@operation(types.void, array, array, array, types.intp, types.intp, array, array)
def step_units(
    builder: Any,
    given: Memory,
    weights: Memory,
    before: Memory,
    size: ir.Value,
    first: ir.Value,
    cells: Memory,
    states: Memory,
) -> None:
    """Advance UNITS units by a step; `given [gate * unit]` is of the input, `before` the state."""
    emit = GateEmitter(builder)
    block = builder.mul(first, builder.mul(size, size.type(GATES)))
    packed = Memory(weights.at(builder, block), VECTOR)

    def load(values: Memory, place: ir.Value) -> ir.Value:
        return builder.load(values.at(builder, place), align=4, typ=VECTOR)

    totals = []
    for gate in range(GATES):
        place = builder.add(builder.mul(size, size.type(gate)), first)
        totals.append(cgutils.alloca_once_value(builder, load(given, place)))
    with cgutils.for_range(builder, size) as loop:
        state = builder.load(before.at(builder, loop.index), align=4, typ=before.element)
        row = builder.mul(loop.index, size.type(GATES))
        for gate, total in enumerate(totals):
            weight = load(packed, builder.add(row, size.type(gate)))
            added = emit.plus(
                builder.load(total, typ=VECTOR), emit.times(emit.splat(state), weight)
            )
            builder.store(added, total)
    gates = [builder.load(total, typ=VECTOR) for total in totals]
    cell, state = emit.new_states(gates, load(cells, first))
    builder.store(cell, cells.at(builder, first), align=4)
    builder.store(state, states.at(builder, first), align=4)


@kernel
def run_sequence(given: Floats, weights: Floats, backwards: bool, outputs: Floats) -> None:
    """Fill outputs `[step, unit]`, from the input's share `[step, gate * unit]` of the gates.

    The weights of the states are `[block of units, unit, gate, unit of the block]`, flat, with
    UNITS units in a block.
    """
    steps, size = outputs.shape
    cells = np.zeros(size, np.float32)
    states = np.zeros((2, size), np.float32)
    for number in range(steps):
        at = steps - 1 - number if backwards else number
        before, after = states[number % 2], states[1 - number % 2]
        for first in range(0, size, UNITS):
            step_units(given[at], weights, before, size, first, cells, after)
        outputs[at] = after


@operation(types.void, array, array, types.intp, types.intp, array, array)
def advance_units(
    builder: Any,
    given: Memory,
    added: Memory,
    size: ir.Value,
    first: ir.Value,
    cells: Memory,
    states: Memory,
) -> None:
    """Advance UNITS units by a step; their gates `[gate * unit]` are the sum of two shares."""
    emit = GateEmitter(builder)

    def load(values: Memory, place: ir.Value) -> ir.Value:
        return builder.load(values.at(builder, place), align=4, typ=VECTOR)

    gates = []
    for gate in range(GATES):
        place = builder.add(builder.mul(size, size.type(gate)), first)
        gates.append(emit.plus(load(given, place), load(added, place)))
    cell, state = emit.new_states(gates, load(cells, first))
    builder.store(cell, cells.at(builder, first), align=4)
    builder.store(state, states.at(builder, first), align=4)


@kernel
def advance(gates: Floats, given: Floats, cells: Floats, outputs: Floats) -> None:
    """Advance sequences by a step: `cells` and `outputs` are `[sequence, unit]`.

    `given` is the input's share `[sequence, gate * unit]` of the gates, `gates` that of the states
    before, which the last sequences may lack.
    """
    size = outputs.shape[1]
    nothing = np.zeros(GATES * size, np.float32)
    for sequence in range(len(outputs)):
        added = gates[sequence] if sequence < len(gates) else nothing
        for first in range(0, size, UNITS):
            advance_units(given[sequence], added, size, first, cells[sequence], outputs[sequence])
