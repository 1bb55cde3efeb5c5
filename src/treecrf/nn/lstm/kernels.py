"""The recurrence of a bidirectional LSTM: all steps in one launch, forwards and backwards.

A team of programs does the steps of some sentences in one direction; its members share out the
units of the state, and wait for each other after every step. Tokens are packed as in torch: step
after step, the longest sentence first, so that the tokens of a step lie side by side. The gates are
those of `nn.LSTM`: i, f, g, o, with a state h and a cell c of H units.

A kernel gets the packing as a table of integers: the first token of each step, then the length of
each sentence.
"""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from treecrf.nn.lstm.fused import PackedSteps, Pass
from treecrf.nn.lstm.tiles import Share, Tile, share_out
from treecrf.ops.triton.fused import barrier_counters, launches, read_counter, team_options

# Arguments whose value a kernel is not compiled for, as in `ops.triton.fused`.
SIZES = ["tokens", "sentences", "steps", "first_step", "last_step", "team", "teams"]


@triton.jit(do_not_specialize=SIZES)
def forward(
    gates, recurrent, table, outputs, states, masks, cells, counters,
    tokens, sentences, steps, first_step, last_step, team, teams,
    H: tl.constexpr, KEEP: tl.constexpr, MASKED: tl.constexpr, PRECISION: tl.constexpr,
    WAIT: tl.constexpr, CACHE: tl.constexpr,
    SENTENCES: tl.constexpr, UNITS: tl.constexpr, DEPTH: tl.constexpr,
):  # fmt: skip
    """Fill `outputs [token, direction * unit]` and `cells [direction, token, unit]`.

    `gates [direction, token, gate * unit]` are products of the inputs; with KEEP the values of the
    gates take their place. `recurrent` is `[direction, gate * unit, unit]`. The next step reads
    `states`, laid out as `outputs`: with MASKED, outputs times `masks [direction, sentence, unit]`,
    which are stored there; else both are the same memory.
    """
    member, reverse = tl.program_id(0) % team, tl.program_id(0) // team % 2
    way = 1 - 2 * reverse
    counters += tl.program_id(0) // team
    gates += reverse.to(tl.int64) * tokens * (4 * H)
    cells += reverse.to(tl.int64) * tokens * H
    recurrent += reverse * (4 * H * H)
    masks += reverse * (sentences * H)
    outputs += reverse * H
    states += reverse * H
    rounds = 0
    for group in range(tl.program_id(0) // team // 2, tl.cdiv(sentences, SENTENCES), teams):
        sentence = group * SENTENCES + tl.arange(0, SENTENCES)
        length = tl.load(table + steps + sentence, sentence < sentences, 0)
        longest = tl.load(table + steps + group * SENTENCES)
        start = reverse * (longest - 1)
        # The first tokens of a step and of the one before; offsets from there are small.
        token = _first_token(table, start + way * first_step, longest)
        before = _first_token(table, start + way * (first_step - 1), longest)
        for step in range(first_step, tl.minimum(last_step + 1, longest)):
            time = start + way * step
            here = time < length
            started = here & (step > 0) & (time - way < length)
            for block in range(member, tl.cdiv(H, UNITS), team):
                unit = block * UNITS + tl.arange(0, UNITS)
                inside = (unit < H)[None, :]
                written = here[:, None] & inside
                place = sentence[:, None] * H + unit[None, :]
                gate = gates + token * (4 * H) + sentence[:, None] * (4 * H) + unit[None, :]
                # Loaded before the products, which hide the latency.
                x_i = tl.load(gate, written, 0.0)
                x_f = tl.load(gate + H, written, 0.0)
                x_g = tl.load(gate + 2 * H, written, 0.0)
                x_o = tl.load(gate + 3 * H, written, 0.0)
                c = tl.load(cells + before * H + place, started[:, None] & inside, 0.0)
                if MASKED:
                    mask = tl.load(masks + place, written, 0.0)
                i = tl.zeros([SENTENCES, UNITS], tl.float32)
                f = tl.zeros([SENTENCES, UNITS], tl.float32)
                g = tl.zeros([SENTENCES, UNITS], tl.float32)
                o = tl.zeros([SENTENCES, UNITS], tl.float32)
                for piece in range(0, H, DEPTH):
                    k = piece + tl.arange(0, DEPTH)
                    h = tl.load(
                        states + before * (2 * H) + sentence[:, None] * (2 * H) + k[None, :],
                        started[:, None] & (k < H)[None, :],
                        0.0,
                        cache_modifier=CACHE,
                    )
                    weight = recurrent + unit[None, :] * H + k[:, None]
                    used = inside & (k < H)[:, None]
                    U_i = tl.load(weight, used, 0.0)
                    U_f = tl.load(weight + H * H, used, 0.0)
                    U_g = tl.load(weight + 2 * H * H, used, 0.0)
                    U_o = tl.load(weight + 3 * H * H, used, 0.0)
                    i = tl.dot(h, U_i, i, input_precision=PRECISION)
                    f = tl.dot(h, U_f, f, input_precision=PRECISION)
                    g = tl.dot(h, U_g, g, input_precision=PRECISION)
                    o = tl.dot(h, U_o, o, input_precision=PRECISION)
                # i, f, o = sigmoid(W x + U h), g = tanh(W x + U h)
                i, f = tl.sigmoid(i + x_i), tl.sigmoid(f + x_f)
                g, o = _tanh(g + x_g), tl.sigmoid(o + x_o)
                # c' = f c + i g, h' = o tanh(c')
                c = f * c + i * g
                output = o * _tanh(c)
                h_place = sentence[:, None] * (2 * H) + unit[None, :]
                if MASKED:
                    tl.store(states + token * (2 * H) + h_place, mask * output, written)
                else:
                    tl.store(outputs + token * (2 * H) + h_place, output, written)
                if block + team >= tl.cdiv(H, UNITS):
                    _arrive(counters, WAIT)
                # Results that no other program reads are written while the others arrive.
                if MASKED:
                    tl.store(outputs + token * (2 * H) + h_place, output, written)
                tl.store(cells + token * H + place, c, written)
                if KEEP:
                    tl.store(gate, i, written)
                    tl.store(gate + H, f, written)
                    tl.store(gate + 2 * H, g, written)
                    tl.store(gate + 3 * H, o, written)
            before, token = token, _first_token(table, time + way, longest)
            rounds += 1
            _wait(counters, rounds, team, WAIT)


@triton.jit(do_not_specialize=SIZES)
def backward(
    gates, cells, states, output_gradients, recurrent, masks, table,
    gate_gradients, cell_gradients, states_before, counters,
    tokens, sentences, steps, first_step, last_step, team, teams,
    H: tl.constexpr, MASKED: tl.constexpr, PRECISION: tl.constexpr,
    WAIT: tl.constexpr, CACHE: tl.constexpr,
    SENTENCES: tl.constexpr, UNITS: tl.constexpr, DEPTH: tl.constexpr,
):  # fmt: skip
    """Fill `gate_gradients`, and `states_before [direction, token, unit]` with the states read.

    That is h of the step before, masked where it was; `states` and `masks` are those of `forward`.
    `gates` are values here, and `recurrent` is `[direction, unit, gate * unit]`: that way round a
    product reads it along its rows. `cell_gradients [direction, sentence, unit]` is for itself.
    """
    member, reverse = tl.program_id(0) % team, tl.program_id(0) // team % 2
    way = 1 - 2 * reverse
    counters += tl.program_id(0) // team
    direction = reverse.to(tl.int64)
    gates += direction * tokens * (4 * H)
    gate_gradients += direction * tokens * (4 * H)
    cells += direction * tokens * H
    states_before += direction * tokens * H
    cell_gradients += direction * sentences * H
    recurrent += reverse * (4 * H * H)
    masks += reverse * (sentences * H)
    states += reverse * H
    output_gradients += reverse * H
    rounds = 0
    for group in range(tl.program_id(0) // team // 2, tl.cdiv(sentences, SENTENCES), teams):
        sentence = group * SENTENCES + tl.arange(0, SENTENCES)
        length = tl.load(table + steps + sentence, sentence < sentences, 0)
        longest = tl.load(table + steps + group * SENTENCES)
        start = (1 - reverse) * (longest - 1)
        after = _first_token(table, start - way * (first_step - 1), longest)
        token = _first_token(table, start - way * first_step, longest)
        before = _first_token(table, start - way * (first_step + 1), longest)
        for step in range(first_step, tl.minimum(last_step + 1, longest)):
            time = start - way * step
            here = time < length
            started = here & (step < longest - 1) & (time - way < length)
            goes_on = here & (step > 0) & (time + way < length)
            for block in range(member, tl.cdiv(H, UNITS), team):
                unit = block * UNITS + tl.arange(0, UNITS)
                inside = (unit < H)[None, :]
                written = here[:, None] & inside
                read = started[:, None] & inside
                place = sentence[:, None] * H + unit[None, :]
                h_place = sentence[:, None] * (2 * H) + unit[None, :]
                gate_place = sentence[:, None] * (4 * H) + unit[None, :]
                gate = gates + token * (4 * H) + gate_place
                i = tl.load(gate, written, 0.0)
                f = tl.load(gate + H, written, 0.0)
                g = tl.load(gate + 2 * H, written, 0.0)
                o = tl.load(gate + 3 * H, written, 0.0)
                c = tl.load(cells + token * H + place, written, 0.0)
                c_before = tl.load(cells + before * H + place, read, 0.0)
                h_before = tl.load(states + before * (2 * H) + h_place, read, 0.0)
                d_output = tl.load(output_gradients + token * (2 * H) + h_place, written, 0.0)
                d_c = tl.load(cell_gradients + place, goes_on[:, None] & inside, 0.0)
                if MASKED:
                    mask = tl.load(masks + place, written, 0.0)
                # dh = dy + mask U^T dgates'
                d_h = tl.zeros([SENTENCES, UNITS], tl.float32)
                for piece in range(0, 4 * H, DEPTH):
                    k = piece + tl.arange(0, DEPTH)
                    d_gates = tl.load(
                        gate_gradients + after * (4 * H) + sentence[:, None] * (4 * H) + k[None, :],
                        goes_on[:, None] & (k < 4 * H)[None, :],
                        0.0,
                        cache_modifier=CACHE,
                    )
                    weight = recurrent + unit[None, :] * (4 * H) + k[:, None]
                    U = tl.load(weight, inside & (k < 4 * H)[:, None], 0.0)
                    d_h = tl.dot(d_gates, U, d_h, input_precision=PRECISION)
                if MASKED:
                    d_h *= mask
                d_h += d_output
                # dc = dh o (1 - tanh(c)^2) + f' dc'
                tanh_c = _tanh(c)
                d_c += d_h * o * (1 - tanh_c * tanh_c)
                gate = gate_gradients + token * (4 * H) + gate_place
                tl.store(gate, d_c * g * i * (1 - i), written)
                tl.store(gate + H, d_c * c_before * f * (1 - f), written)
                tl.store(gate + 2 * H, d_c * i * (1 - g * g), written)
                tl.store(gate + 3 * H, d_h * tanh_c * o * (1 - o), written)
                if block + team >= tl.cdiv(H, UNITS):
                    _arrive(counters, WAIT)
                tl.store(cell_gradients + place, d_c * f, written)
                tl.store(states_before + token * H + place, h_before, written)
            after, token, before = token, before, _first_token(table, time - 2 * way, longest)
            rounds += 1
            _wait(counters, rounds, team, WAIT)


@triton.jit
def _arrive(counter, WAIT: tl.constexpr):
    """Tell the team that the results of this program can be read."""
    tl.debug_barrier()
    if WAIT:
        tl.atomic_add(counter, 1, sem="release", scope="gpu")


@triton.jit
def _wait(counter, rounds, team, WAIT: tl.constexpr):
    """Wait until every program of the team has arrived `rounds` times."""
    if WAIT:
        while read_counter(counter) < rounds * team:
            pass
    tl.debug_barrier()


@triton.jit
def _first_token(table, time, longest):
    """First token of a step; 0 if there is no such step."""
    return tl.load(table + time, (time >= 0) & (time < longest), 0).to(tl.int64)


@triton.jit
def _tanh(x):
    return 2 * tl.sigmoid(2 * x) - 1


def run_forward(
    run: Pass,
    steps: PackedSteps,
    masks: Tensor | None,
    *,
    outputs: Tensor,
    tile: Tile,
    keep: bool,
) -> None:
    """Launch `forward`; without masks, the states are the outputs."""
    gates, cells = run.gates, run.cells
    size = cells.shape[2]
    share = share_out(tile, steps.sentences, size, gates.device)
    with torch.cuda.device_of(gates):
        counters = barrier_counters(steps.table, 2 * share.teams, share.team)
        for first, last in launches(steps.steps, share.team):
            forward[(2 * share.team * share.teams,)](
                gates, run.recurrent, steps.table, outputs, run.states,
                cells if masks is None else masks, cells, counters,
                gates.shape[1], steps.sentences, steps.steps, first, last, share.team, share.teams,
                H=size, KEEP=keep, MASKED=masks is not None, PRECISION=run.precision,
                **_options(tile, share),
            )  # fmt: skip


def run_backward(
    run: Pass, steps: PackedSteps, masks: Tensor | None, output_gradients: Tensor
) -> tuple[Tensor, Tensor]:
    """Launch `backward`; returns `gate_gradients` and `states_before`."""
    gates, cells = run.gates, run.cells
    size = cells.shape[2]
    share = share_out(run.tile, steps.sentences, size, gates.device)
    gate_gradients, states_before = torch.empty_like(gates), torch.empty_like(cells)
    cell_gradients = cells.new_empty(2, steps.sentences, size)
    output_gradients = output_gradients.contiguous()
    with torch.cuda.device_of(gates):
        counters = barrier_counters(steps.table, 2 * share.teams, share.team)
        for first, last in launches(steps.steps, share.team):
            backward[(2 * share.team * share.teams,)](
                gates, cells, run.states, output_gradients, run.recurrent,
                cells if masks is None else masks, steps.table,
                gate_gradients, cell_gradients, states_before, counters,
                gates.shape[1], steps.sentences, steps.steps, first, last, share.team, share.teams,
                H=size, MASKED=masks is not None, PRECISION=run.precision,
                **_options(run.tile, share),
            )  # fmt: skip
    return gate_gradients, states_before


def _options(tile: Tile, share: Share) -> dict[str, Any]:
    """Compile-time arguments and launch options of both kernels."""
    return team_options(share.team) | {
        "SENTENCES": tile.sentences,
        "UNITS": tile.units,
        "DEPTH": tile.depth,
        "num_warps": tile.warps,
        "num_stages": tile.stages,
    }
