"""Matrix products of int8, compiled: fast on CPUs with VNNI.

Inputs are rounded row by row to -127 to 127 and stored with 128 added: the instruction needs one
unsigned side, and what this adds to a sum is known from the weights. Sums of products of integers
are exact, so a row has the same result whatever the other rows are.
"""

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.registry import cpu_target

from treecrf.ops.numba.compiling import compiled, kernel, relaxed
from treecrf.ops.numba.lanes import Floats, Memory, array, operation

Bytes = npt.NDArray[np.uint8]
Sums = npt.NDArray[np.int32]
Weights = tuple[npt.NDArray[np.int8], Sums, Floats]
"""Weights `[block, depth / 4, COLUMNS, 4]`, start values of sums and scales, both `[column]`."""

WIDTH = 16  # sums in a register
COLUMNS = 64  # of a tile: four registers
ROWS = 6  # of a tile, whose sums take 24 of the 32 registers
CHUNK = 192  # rows that stay in the cache while the weights are read

LARGEST = 127

WORD = ir.IntType(32)
VECTOR = ir.VectorType(WORD, WIDTH)
BYTES = ir.VectorType(ir.IntType(8), 4 * WIDTH)
WORDS = ir.VectorType(WORD, 4 * WIDTH)


@cache
def has_instruction() -> bool:
    """Whether code is compiled for a CPU with AVX-512 VNNI."""
    # Triple, processor and features: those of this CPU, unless others were chosen.
    features: str = cpu_target.target_context.codegen().magic_tuple()[2]
    return "+avx512vnni" in features.split(",")


def _dot(builder: Any, total: ir.Value, inputs: ir.Value, weights: ir.Value) -> ir.Value:
    """Add to each sum the products of four unsigned and four signed bytes."""
    if has_instruction():
        kind = ir.FunctionType(VECTOR, [VECTOR] * 3)
        name = "llvm.x86.avx512.vpdpbusd.512"
        dot = cgutils.get_or_insert_function(builder.module, kind, name)
        return builder.call(dot, [total, inputs, weights])
    wide = builder.zext(builder.bitcast(inputs, BYTES), WORDS)
    products = builder.mul(wide, builder.sext(builder.bitcast(weights, BYTES), WORDS))
    for byte in range(4):
        places = ir.Constant(VECTOR, [4 * at + byte for at in range(WIDTH)])
        total = builder.add(total, builder.shuffle_vector(products, products, places))
    return total


def _tile(rows: int) -> Any:
    """Make an operation that writes the sums `[rows, COLUMNS]` of one tile."""

    @operation(types.void, array, types.intp, array, array, types.intp, types.intp, array)
    def tile(
        builder: Any,
        weights: Memory,
        block: ir.Value,
        starts: Memory,
        inputs: Memory,
        first: ir.Value,
        depth: ir.Value,
        sums: Memory,
    ) -> None:
        """Multiply rows of `depth` bytes, from number `first` on, by a block of the weights."""
        columns = range(COLUMNS // WIDTH)
        width = depth.type(COLUMNS)
        # Registers of weights, starts and sums, and four bytes of an input at a time.
        start = weights.at(builder, builder.mul(builder.mul(block, depth), width))
        weight_registers = Memory(start, VECTOR)
        start_registers = Memory(starts.at(builder, builder.mul(block, width)), VECTOR)
        sum_registers = Memory(sums.start, VECTOR)
        words = [
            Memory(
                inputs.at(builder, builder.mul(builder.add(first, depth.type(row)), depth)), WORD
            )
            for row in range(rows)
        ]
        totals = {}
        for at in columns:
            start = builder.load(start_registers.at(builder, depth.type(at)), align=4, typ=VECTOR)
            for row in range(rows):
                totals[row, at] = cgutils.alloca_once_value(builder, start)
        with cgutils.for_range(builder, builder.udiv(depth, depth.type(4))) as loop:
            step = builder.mul(loop.index, depth.type(len(columns)))
            register = [
                builder.load(
                    weight_registers.at(builder, builder.add(step, depth.type(at))),
                    align=1,
                    typ=VECTOR,
                )
                for at in columns
            ]
            for row in range(rows):
                word = builder.load(words[row].at(builder, loop.index), align=1, typ=WORD)
                given = builder.insert_element(ir.Constant(VECTOR, None), word, WORD(0))
                given = builder.shuffle_vector(given, given, ir.Constant(VECTOR, [0] * WIDTH))
                for at in columns:
                    total = totals[row, at]
                    before = builder.load(total, typ=VECTOR)
                    builder.store(_dot(builder, before, given, register[at]), total)
        for (row, at), total in totals.items():
            place = depth.type(row * len(columns) + at)
            value = builder.load(total, typ=VECTOR)
            builder.store(value, sum_registers.at(builder, place), align=4)

    return tile


_one, _two, _three, _four, _five, _six = (_tile(rows) for rows in range(1, ROWS + 1))


@compiled
def tile_sums(
    weights: Weights, block: int, inputs: Bytes, first: int, rows: int, depth: int, sums: Sums
) -> None:
    """Write the sums `[row, COLUMNS]` of at most ROWS rows."""
    values, starts, _ = weights
    if rows == 6:
        _six(values, block, starts, inputs, first, depth, sums)
    elif rows == 5:
        _five(values, block, starts, inputs, first, depth, sums)
    elif rows == 4:
        _four(values, block, starts, inputs, first, depth, sums)
    elif rows == 3:
        _three(values, block, starts, inputs, first, depth, sums)
    elif rows == 2:
        _two(values, block, starts, inputs, first, depth, sums)
    else:
        _one(values, block, starts, inputs, first, depth, sums)


@compiled
def largest_of(values: Floats) -> np.float32:
    """Largest absolute value."""
    # Without signs, floats are ordered as the integers with the same bits, and the maximum of
    # integers is vectorised.
    bits = values.view(np.int32)
    largest = np.int32(0)
    for place in range(len(values)):
        largest = max(largest, np.int32(bits[place] & np.int32(0x7FFFFFFF)))
    return np.int32(largest).view(np.float32)


@compiled
def round_rows(rows: Floats, rounded: Bytes, depth: int, scales: Floats) -> None:
    """Round rows `[row, feature]` to rows of `depth` bytes."""
    for number in range(len(rows)):
        row = rows[number]
        scale = largest_of(row) / np.float32(LARGEST)
        scales[number] = scale
        factor = np.float32(1) / scale if scale > 0 else np.float32(0)
        target = rounded[number * depth :]
        for feature in range(len(row)):
            target[feature] = np.uint8(np.int32(row[feature] * factor + np.float32(128.5)))


@relaxed
def multiply_rows(
    inputs: Bytes, scales: Floats, weights: Weights, bias: Floats, outputs: Floats
) -> None:
    """Write outputs `[row, column]` of rounded rows."""
    sums = np.empty(ROWS * COLUMNS, np.int32)
    values, starts, by_column = weights
    depth = len(values) // len(starts)
    count, columns = outputs.shape
    for block in range(len(starts) // COLUMNS):
        place = block * COLUMNS
        for first in range(0, count, ROWS):
            rows = min(ROWS, count - first)
            tile_sums(weights, block, inputs, first, rows, depth, sums)
            for row in range(rows):
                scale = scales[first + row]
                output = outputs[first + row, place:]
                found = sums[row * COLUMNS :]
                of_column, added = by_column[place:], bias[place:]
                for column in range(min(COLUMNS, columns - place)):
                    output[column] = found[column] * (scale * of_column[column]) + added[column]


@kernel
def multiply(rows: Floats, weights: Weights, bias: Floats, outputs: Floats) -> None:
    """Write outputs `[row, column]` of rows `[row, feature]` of floats."""
    depth = len(weights[0]) // len(weights[1])
    most = min(CHUNK, len(rows))
    inputs = np.full(most * depth, 128, np.uint8)
    scales = np.empty(most, np.float32)
    for first in range(0, len(rows), CHUNK):
        chunk = rows[first : first + CHUNK]
        round_rows(chunk, inputs, depth, scales)
        multiply_rows(inputs, scales, weights, bias, outputs[first : first + CHUNK])
