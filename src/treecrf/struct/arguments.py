"""Validation of the arguments of distributions; errors name the sentence."""

from collections.abc import Mapping
from numbers import Integral

import torch
from torch import Tensor

from treecrf.ops.masking.reference import usable_arcs
from treecrf.ops.reference.parts import Kind, usable_parts


def check_tensor(name: str, value: object) -> None:
    """Require a dense tensor."""
    if not isinstance(value, Tensor):
        raise ValueError(f"{name} must be a torch.Tensor, not {type(value).__name__}")
    if value.layout != torch.strided:
        raise ValueError(f"{name} must be dense, not {value.layout}: call to_dense() on it")


def whole_numbers(name: str, values: object) -> Tensor:
    """Convert to a tensor, integers to int64 so that comparisons with -1 hold."""
    try:
        tensor = torch.as_tensor(values)
    except (TypeError, ValueError, RuntimeError) as problem:
        raise ValueError(f"{name} must be a tensor of whole numbers: {problem}") from None
    check_tensor(name, tensor)
    other = tensor.is_floating_point() or tensor.is_complex() or tensor.dtype == torch.bool
    return tensor if other else tensor.long()


def check_multiroot(multiroot: object) -> None:
    """Require a bool, not constraints that were passed without their name."""
    if not isinstance(multiroot, bool):
        raise ValueError(
            f"multiroot must be True or False, not {type(multiroot).__name__}; constraints are "
            "passed by name: allowed=..."
        )


def checked_count(k: int, *, most: int | None = None) -> int:
    """Validate a number of trees; NumPy integers are accepted."""
    if not isinstance(k, Integral) or isinstance(k, bool) or k < 1:
        raise ValueError(f"k must be at least 1, not {k!r}: it is a whole number of trees")
    if most is not None and k > most:
        raise ValueError(f"k must be at most {most:,}, not {k!r}: longer lists are not made")
    return int(k)


def check_generator(generator: object) -> None:
    """Require a torch.Generator or None, not a seed."""
    if generator is not None and not isinstance(generator, torch.Generator):
        raise ValueError(
            f"generator must be a torch.Generator, not {generator!r}; of a seed one is made with "
            "torch.Generator().manual_seed(seed)"
        )


def check_shapes(
    arc_scores: Tensor, lengths: Tensor, *, higher: Mapping[Kind, Tensor], allowed: Tensor | None
) -> None:
    """Validate shapes, dtypes and devices, which needs no synchronisation.

    `higher` are the scores of siblings and grandparents, where a distribution has them.
    """
    if arc_scores.dim() != 3 or arc_scores.shape[1] != arc_scores.shape[2]:
        raise ValueError(
            "arc_scores must be [batch, dependent, head] with as many heads as dependents, "
            f"not {_shape(arc_scores)}"
        )
    batch, tokens, _ = arc_scores.shape
    if tokens == 0:
        raise ValueError("arc_scores must have a row and a column for the root symbol, token 0")
    named = {f"{kind}_scores": scores for kind, scores in higher.items()}
    for name, scores in {"arc_scores": arc_scores, **named}.items():
        if not scores.dtype.is_floating_point:
            raise ValueError(f"{name} must be floating-point, not {scores.dtype}")
    for kind, scores in higher.items():
        if scores.shape != (batch, tokens, tokens, tokens):
            raise ValueError(
                f"{kind}_scores must be [batch, dependent, head, {kind}] = "
                f"[{batch}, {tokens}, {tokens}, {tokens}] to fit arc_scores, "
                f"not {_shape(scores)}"
            )
        _check_device(f"{kind}_scores", scores, arc_scores)
    # An empty list makes floats.
    if lengths.shape != (batch,) or not (lengths.dtype == torch.int64 or batch == 0):
        raise ValueError(
            f"lengths must be {batch} whole numbers, one a sentence, "
            f"not {_shape(lengths)} of {lengths.dtype}"
        )
    if allowed is not None:
        if allowed.shape != (batch, tokens, tokens) or allowed.dtype != torch.bool:
            raise ValueError(
                "allowed must be a boolean [batch, dependent, head] = "
                f"[{batch}, {tokens}, {tokens}], not {_shape(allowed)} of {allowed.dtype}"
            )
        _check_device("allowed", allowed, arc_scores)


def check_values(
    arc_scores: Tensor,
    lengths: Tensor,
    *,
    higher: Mapping[Kind, Tensor],
    allowed: Tensor | None,
    best: Tensor,
    multiroot: bool,
) -> None:
    """Require lengths that fit and scores that are finite or -inf; costs one synchronisation.

    `best [batch, dependent]`, from `masked_and_shifted`, is NaN where an arc score or a length is
    wrong; only then each cell that trees use is looked at, to name it.
    """
    batch, tokens, _ = arc_scores.shape
    if batch == 0:
        return
    fine = (best < float("inf")).all()
    for scores in higher.values():
        fine = fine & (_largest(scores) < float("inf"))
    if bool(fine):
        return
    fits = (lengths >= 0) & (lengths < tokens)
    if not fits.all():
        sentence = int((~fits).nonzero()[0])
        raise ValueError(
            f"lengths[{sentence}] is {int(lengths[sentence])}, which does not fit: arc_scores have "
            f"room for 0 to {tokens - 1} words (the root symbol is not counted)"
        )
    usable = usable_arcs(lengths, tokens)
    if allowed is not None:
        usable = usable & allowed
    arcs = torch.where(usable, arc_scores, float("-inf"))
    _reject_scores("arc_scores", arcs)
    for kind, scores in higher.items():
        used = usable_parts(kind, arcs, multiroot=multiroot)
        _reject_scores(f"{kind}_scores", torch.where(used, scores, 0))


def check_heads(
    heads: Tensor, lengths: Tensor, *, tokens: int, partial: bool, values: bool
) -> None:
    """Require a head for each word, or -1 for an unannotated one if `partial`."""
    shape = (len(lengths), tokens)
    if heads.shape != shape or heads.dtype != torch.int64:
        raise ValueError(
            f"heads must be whole numbers [batch, token] = {list(shape)}, the root symbol's entry "
            f"first, not {_shape(heads)} of {heads.dtype}"
        )
    if not values:
        return
    token = torch.arange(tokens, device=heads.device)
    is_word = (token > 0) & (token <= lengths[:, None])
    wrong = is_word & ((heads < (-1 if partial else 0)) | (heads > lengths[:, None]))
    if wrong.any():
        sentence, word = wrong.nonzero()[0].tolist()
        head, length = int(heads[sentence, word]), int(lengths[sentence])
        expected = f"0 (the root symbol) to {length}"
        if partial:
            expected += ", or -1 for unannotated"
        elif head == -1:
            expected += " (score needs a full tree; log_prob takes partial ones)"
        raise ValueError(
            f"heads[{sentence}, {word}] is {head}: sentence {sentence} has {length} words, so a "
            f"head must be {expected}"
        )


def check_same_sentences(
    lengths: Tensor, others: Tensor, *, shapes: tuple[torch.Size, torch.Size], values: bool
) -> None:
    """Require two distributions over the same sentences; `shapes` are those of the arc scores."""
    if shapes[0] != shapes[1]:
        here, there = (list(shape) for shape in shapes)
        raise ValueError(
            f"cannot compare: the sentences differ, arc_scores are {here} here and {there} there"
        )
    if lengths.device != others.device:
        raise ValueError(
            f"cannot compare: arc_scores are on {lengths.device} here and {others.device} there; "
            "move one of them"
        )
    if values and not torch.equal(lengths, others):
        sentence = int((lengths != others).nonzero()[0])
        raise ValueError(
            f"cannot compare: the sentences differ, sentence {sentence} has "
            f"{int(lengths[sentence])} words here and {int(others[sentence])} there"
        )


def _largest(scores: Tensor) -> Tensor:
    """Maximum; NaN when any score is."""
    if scores.device.type == "cpu" and scores.dtype in (torch.float32, torch.float64):
        # NumPy stays in this thread; torch's threads would spin on the cores that kernels want.
        return torch.tensor(scores.detach().numpy().max())
    return scores.amax()


def _reject_scores(name: str, scores: Tensor) -> None:
    """Raise an error for the first NaN or +inf."""
    wrong = scores.isnan() | (scores == float("inf"))
    if not wrong.any():
        return
    cell = wrong.nonzero()[0].tolist()
    place = ", ".join(str(index) for index in cell)
    raise ValueError(
        f"{name}[{place}] is {scores[tuple(cell)].item()} in sentence {cell[0]}: scores must be "
        "finite, or -inf for what is forbidden"
    )


def _check_device(name: str, tensor: Tensor, arc_scores: Tensor) -> None:
    if tensor.device != arc_scores.device:
        raise ValueError(f"{name} is on {tensor.device} and arc_scores on {arc_scores.device}")


def _shape(tensor: Tensor) -> str:
    return str(list(tensor.shape))
