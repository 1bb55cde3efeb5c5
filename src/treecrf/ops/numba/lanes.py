"""Vectors of LANES float64 for compiled kernels: one sentence a lane.

A kernel over lanes reads as if it were for one sentence; each operation is one SIMD instruction
(or a few, where registers are narrow), whatever the auto-vectoriser does with the loop around it.
Arrays hold lanes innermost: the vector at `position` is `array[position * LANES :][:LANES]`.
"""

import inspect
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from treecrf.ops.numba.compiling import compiled, kernel

LANES = 4

DOUBLE = ir.DoubleType()
DOUBLES = ir.VectorType(DOUBLE, LANES)
INTEGERS = ir.VectorType(ir.IntType(64), LANES)

Floats = npt.NDArray[np.floating[Any]]
Integers = npt.NDArray[np.int64]
Vector = Any  # `doubles` for a type checker: vectors exist in compiled code only

Row = tuple[Floats, int]  # a chart, and the first of successive cells in it
FlowRow = tuple[Floats, Floats, int]  # the same with the probabilities that the cells are used
ScoreRow = tuple[Floats, Vector, int]  # flat scores, the lanes' offsets, the first of the row


class Lanes(types.Type):
    """Type of a vector in compiled code."""


class LanesModel(models.PrimitiveModel):
    """Representation of `Lanes`: one LLVM vector."""

    def __init__(self, manager: Any, lanes: Lanes) -> None:
        super().__init__(manager, lanes, DOUBLES if lanes == doubles else INTEGERS)


register_model(Lanes)(LanesModel)
doubles = Lanes("lanes(float64)")
integers = Lanes("lanes(int64)")
array = None  # as a parameter of an operation: any array, given to the emitter as `Memory`


class Memory(NamedTuple):
    """Elements of an array (for emitters): a pointer to the first, and their type."""

    start: ir.Value
    element: ir.Type

    def at(self, builder: Any, index: ir.Value) -> ir.Value:
        """Pointer to one element."""
        return builder.gep(self.start, [index], source_etype=self.element)


def operation(result: types.Type, *parameters: types.Type | None) -> Callable[[Any], Any]:
    """Make an emitter of instructions a function for compiled code.

    The emitter gets the LLVM builder and the arguments, converted to the types of `parameters`.
    """

    def decorate(emit: Callable[..., ir.Value]) -> Any:
        def typing(context: Any, *arguments: types.Type) -> Any:
            def lower(context: Any, builder: Any, signature: Any, values: Any) -> ir.Value:
                kinds = zip(signature.args, values, strict=True)
                return emit(builder, *(memory(context, builder, *pair) for pair in kinds))

            pairs = zip(parameters, arguments, strict=True)
            return result(*(own if own is not None else given for own, given in pairs)), lower

        typing.__name__ = emit.__name__
        typing.__doc__ = emit.__doc__
        # The builder stands where numba expects the typing context.
        typing.__signature__ = inspect.signature(emit)  # type: ignore[attr-defined]
        return intrinsic(typing)

    return decorate


def memory(context: Any, builder: Any, kind: types.Type, value: ir.Value) -> Memory | ir.Value:
    """Elements of an array (for emitters); any other value as it is."""
    if not isinstance(kind, types.Array):
        return value
    # llvmlite will have opaque pointers only; Numba's arrays still hold typed ones, which a cast
    # leaves as they are because it takes them for equal; a struct makes them opaque.
    holder = ir.Constant(ir.LiteralStructType([ir.PointerType()]), ir.Undefined)
    start = context.make_array(kind)(context, builder, value).data
    start = builder.extract_value(builder.insert_value(holder, start, 0), 0)
    return Memory(start, context.get_data_type(kind.dtype))


def constant(value: float, kind: ir.VectorType = DOUBLES) -> ir.Constant:
    """Vector with the same number in every lane (for emitters)."""
    return ir.Constant(kind, [value] * LANES)


def broadcast(builder: Any, value: ir.Value) -> ir.Value:
    """Vector with one float64 value in every lane (for emitters)."""
    vector = builder.insert_element(constant(0.0), value, _index(0))
    indices = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(vector, vector, indices)


splat = operation(doubles, types.float64)(broadcast)


@operation(doubles, doubles, doubles)
def maximum(builder: Any, first: ir.Value, second: ir.Value) -> ir.Value:
    """Larger of two, lane by lane; the second where the first is NaN."""
    return builder.select(builder.fcmp_ordered(">", first, second), first, second)


@operation(types.boolean, doubles, types.float64)
def any_above(builder: Any, vector: ir.Value, bound: ir.Value) -> ir.Value:
    """Whether some lane is larger than the bound."""
    above = builder.fcmp_ordered(">", vector, broadcast(builder, bound))
    mask = builder.bitcast(above, ir.IntType(LANES))
    return builder.icmp_unsigned("!=", mask, ir.Constant(mask.type, 0))


@operation(doubles, doubles, doubles)
def minimum(builder: Any, first: ir.Value, second: ir.Value) -> ir.Value:
    """Smaller of two, lane by lane; the second where the first is NaN."""
    return builder.select(builder.fcmp_ordered("<", first, second), first, second)


@operation(types.float64, doubles)
def lane_total(builder: Any, vector: ir.Value) -> ir.Value:
    """Sum over the lanes."""
    total = builder.extract_element(vector, _index(0))
    for lane in range(1, LANES):
        total = builder.fadd(total, builder.extract_element(vector, _index(lane)))
    return total


@operation(types.float64, doubles)
def lane_maximum(builder: Any, vector: ir.Value) -> ir.Value:
    """Largest of the lanes."""
    largest = builder.extract_element(vector, _index(0))
    for lane in range(1, LANES):
        value = builder.extract_element(vector, _index(lane))
        largest = builder.select(builder.fcmp_ordered(">", value, largest), value, largest)
    return largest


@operation(doubles, doubles, types.float64, doubles, doubles)
def select_equal(
    builder: Any, keys: ir.Value, key: ir.Value, then: ir.Value, otherwise: ir.Value
) -> ir.Value:
    """`then` in the lanes whose key is `key`, `otherwise` in the rest."""
    equal = builder.fcmp_ordered("==", keys, broadcast(builder, key))
    return builder.select(equal, then, otherwise)


@operation(doubles, array, types.intp)
def load(builder: Any, values: Memory, position: ir.Value) -> ir.Value:
    """Load the vector at a position of a flat float64 array."""
    return builder.load(_vector_pointer(builder, values, position), align=8, typ=DOUBLES)


@operation(integers, array, types.intp)
def load_offsets(builder: Any, values: Memory, position: ir.Value) -> ir.Value:
    """Load the vector at a position of a flat int64 array."""
    return builder.load(_vector_pointer(builder, values, position), align=8, typ=INTEGERS)


@operation(types.void, array, types.intp, doubles)
def store(builder: Any, values: Memory, position: ir.Value, vector: ir.Value) -> None:
    """Write the vector at a position of a flat float64 array."""
    builder.store(vector, _vector_pointer(builder, values, position), align=8)


@operation(doubles, array, integers, types.intp)
def gather(builder: Any, values: Memory, offsets: ir.Value, position: ir.Value) -> ir.Value:
    """Load `array[offsets[lane] + position]` of a flat float array into every lane."""
    vector = constant(0.0)
    for lane in range(LANES):
        source = _lane_pointer(builder, values, offsets, position, lane)
        value = builder.load(source, typ=values.element)
        if values.element != DOUBLE:
            value = builder.fpext(value, DOUBLE)
        vector = builder.insert_element(vector, value, _index(lane))
    return vector


@operation(types.void, array, integers, types.intp, doubles)
def scatter(
    builder: Any, values: Memory, offsets: ir.Value, position: ir.Value, vector: ir.Value
) -> None:
    """Write each lane to `array[offsets[lane] + position]` of a flat float array."""
    for lane in range(LANES):
        value = builder.extract_element(vector, _index(lane))
        if values.element != DOUBLE:
            value = builder.fptrunc(value, values.element)
        builder.store(value, _lane_pointer(builder, values, offsets, position, lane))


@operation(types.void, array, integers, types.intp)
def prefetch(builder: Any, values: Memory, offsets: ir.Value, position: ir.Value) -> None:
    """Prefetch the memory of a later `gather`."""
    kinds = [ir.PointerType(), *[ir.IntType(32)] * 3]
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(ir.VoidType(), kinds), "llvm.prefetch.p0"
    )
    reading, keeping, data = (ir.Constant(ir.IntType(32), value) for value in (0, 3, 1))
    for lane in range(LANES):
        target = _lane_pointer(builder, values, offsets, position, lane)
        builder.call(function, [target, reading, keeping, data])


def _shuffle(*lanes: int) -> Any:
    """Operation that chooses lanes from those of two vectors, one after the other."""

    def emit(builder: Any, first: ir.Value, second: ir.Value) -> ir.Value:
        indices = ir.Constant(ir.VectorType(ir.IntType(32), LANES), list(lanes))
        return builder.shuffle_vector(first, second, indices)

    return operation(doubles, doubles, doubles)(emit)


_evens, _odds = _shuffle(0, 4, 2, 6), _shuffle(1, 5, 3, 7)
_lower, _upper = _shuffle(0, 1, 4, 5), _shuffle(2, 3, 6, 7)


@compiled
def transpose(a: Vector, b: Vector, c: Vector, d: Vector) -> tuple[Vector, Vector, Vector, Vector]:
    """Vectors of the first, second, third and fourth lanes."""
    evens, odds, more_evens, more_odds = _evens(a, b), _odds(a, b), _evens(c, d), _odds(c, d)
    return (
        _lower(evens, more_evens),
        _lower(odds, more_odds),
        _upper(evens, more_evens),
        _upper(odds, more_odds),
    )


def _define_operator(python_operator: Callable[..., Any], instruction: str) -> None:
    cases = [signature(doubles, doubles, doubles)]
    infer_global(python_operator)(type(instruction, (ConcreteTemplate,), {"cases": cases}))

    def lower(context: Any, builder: Any, signature: Any, values: Any) -> ir.Value:
        # "contract" lets a product and a sum become one fused instruction.
        return getattr(builder, instruction)(*values, flags=("contract",))

    lower_builtin(python_operator, doubles, doubles)(lower)


_define_operator(operator.add, "fadd")
_define_operator(operator.sub, "fsub")
_define_operator(operator.mul, "fmul")
_define_operator(operator.truediv, "fdiv")


def _vector_pointer(builder: Any, values: Memory, position: ir.Value) -> ir.Value:
    return values.at(builder, builder.mul(position, ir.Constant(position.type, LANES)))


def _lane_pointer(
    builder: Any, values: Memory, offsets: ir.Value, position: ir.Value, lane: int
) -> ir.Value:
    offset = builder.extract_element(offsets, _index(lane))
    return values.at(builder, builder.add(offset, position))


def _index(lane: int) -> ir.Constant:
    return ir.Constant(ir.IntType(32), lane)


@kernel
def _double(values: Floats) -> None:
    store(values, 0, load(values, 0) + load(values, 0))


def check_lanes() -> None:
    """Raise an error unless a kernel over lanes can be compiled and gives the right result."""
    values = np.arange(float(LANES))
    expected = 2 * values
    _double(values)
    if not np.array_equal(values, expected):
        raise ArithmeticError(f"a compiled kernel gave {values} instead of {expected}")
