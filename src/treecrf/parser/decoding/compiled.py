"""Compiled MBR decoding of a batch on a CPU, for models with a projective CRF.

`Decoding.best` is the specification, and takes over where constraints leave no projective tree.
"""

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from treecrf.ops.backend import backend_for
from treecrf.parser.decoding.trees import LEMMA_RULES, LEMMA_WEIGHT, Trees
from treecrf.struct import ProjectiveTreeCRF

if TYPE_CHECKING:
    from treecrf.parser.decoding.decoder import Decoding

__all__ = ["compiled_trees", "is_compiled"]

_ALL_ALLOWED = np.ones((0, 0, 0), np.bool_)
_NO_PAIRS = np.zeros(0, np.float32)
_NO_LEMMAS = np.zeros((0, 0), np.float32)


def is_compiled(decoding: "Decoding") -> bool:
    """Whether `compiled_trees` can decode this batch, with probabilities."""
    config, tokens = decoding.config, decoding.batch.grid[1]
    return (
        config.resolved_decoder == "mbr"
        and config.learns_projective
        and config.temperature != 1
        and not (decoding.is_long or config.uses_grandparents(tokens))
        and decoding.arcs.device.type == "cpu"
        and decoding.arcs.dtype == torch.float32
        and torch.get_num_threads() == 1  # the calls are for one thread
        and backend_for(decoding.arcs.device) == "numba"
    )


def compiled_trees(decoding: "Decoding") -> Trees | None:
    """The best trees and their probabilities; None if a sentence has no allowed projective one."""
    from treecrf.ops.projective.scoring import score_trees
    from treecrf.parser.decoding.kernels import choose_classes, find_heads

    batch, config, scorer = decoding.batch, decoding.config, decoding.scorer
    count, width = batch.grid
    arcs = _at_both(decoding.arcs, config.temperature)
    scores = scorer.siblings(decoding.roles, batch)
    siblings = None if scores is None else _at_both(scores, config.temperature)
    lengths = batch.lengths.numpy()
    allowed = _ALL_ALLOWED if decoding.allowed is None else decoding.allowed.numpy()
    masked, marginals = np.empty_like(arcs), np.empty_like(arcs)
    log_partition = np.empty(2 * count)
    heads, settled = np.empty((count, width), np.int64), np.empty(count, np.bool_)
    pairs = (None, None) if siblings is None else (siblings.reshape(-1), _NO_PAIRS)
    find_heads(
        arcs,
        pairs,
        lengths,
        allowed,
        config.multiroot,
        masked,
        marginals,
        log_partition,
        heads,
        settled,
    )
    if not settled.all():
        rest = np.flatnonzero(~settled)
        heads[rest] = ProjectiveTreeCRF(
            torch.from_numpy(marginals[rest]),
            torch.from_numpy(lengths[rest]),
            config.multiroot,
            None if decoding.allowed is None else decoding.allowed[rest],
            validate=False,
        ).argmax.numpy()
        if decoding.allowed is not None and (heads[rest, 0] < 0).any():
            return None
    found = np.empty((count, 1))
    second = None if siblings is None else siblings[count:]
    trees = heads[:, None]
    score_trees(masked[count:], second, None, lengths, config.multiroot, trees, found)

    relations = scorer.relations(decoding.roles, batch, torch.from_numpy(heads))
    columns = {name: part.numpy() for name, part in scorer.columns(decoding.roles).items()}
    lemmas = columns.pop("lemma", _NO_LEMMAS)
    temperatures = {"upos": config.upos_temperature}
    tokens = int(lengths.sum()) + count
    chosen = np.empty((2 + len(columns), tokens), np.int64)
    probs = np.empty((2 + len(columns), tokens), np.float32)
    rules = np.empty((tokens if len(lemmas) else 0, min(LEMMA_RULES, lemmas.shape[1])), np.int64)
    choose_classes(
        batch.places.numpy(),
        lengths,
        heads,
        marginals[count:],
        (relations.numpy(), *columns.values()),
        (config.relation_temperature, *(temperatures.get(name, 1.0) for name in columns)),
        lemmas,
        LEMMA_WEIGHT,
        chosen,
        probs,
        rules,
    )
    classes = {name: chosen[row, :, None] for row, name in enumerate(columns, 2)}
    if len(lemmas):
        classes["lemma"] = rules
    upos = 2 + list(columns).index("upos") if "upos" in columns else None
    return Trees(
        lengths=lengths,
        heads=chosen[0],
        relations=chosen[1],
        columns={name: classes[name] for name in config.predict},
        probs=probs[0].astype(np.float64),
        relation_probs=probs[1].astype(np.float64),
        upos_probs=None if upos is None else probs[upos].astype(np.float64),
        log_probs=found[:, 0] - log_partition[count:],
        crossing=np.zeros(count, np.bool_),
    )


def _at_both(scores: Tensor, temperature: float) -> np.ndarray:
    """Scores as they are, then divided by the temperature."""
    given = scores.numpy()
    both = np.empty((2, *given.shape), np.float32)
    both[0] = given
    np.divide(given, np.float32(temperature), out=both[1])
    return both.reshape(-1, *given.shape[1:])
