"""Gates of LSTMs in compiled code: UNITS units at once in float32 (for emitters)."""

from typing import Any

import numpy as np
from llvmlite import ir

from treecrf.ops.numba.lanes import Memory

GATES = 4
UNITS = 16  # of one register

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


class GateEmitter:
    """Emitter of instructions for UNITS float32."""

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

    def new_states(self, gates: list[ir.Value], cell: ir.Value) -> tuple[ir.Value, ir.Value]:
        """New cells and states of units from their gates, in torch's order, and cells."""
        i, f, o = (self.sigmoid(gates[gate]) for gate in (0, 1, 3))
        # c = f c + i g, h = o tanh(c)
        cell = self.plus(self.times(f, cell), self.times(i, self.tanh(gates[2])))
        return cell, self.times(o, self.tanh(cell))
