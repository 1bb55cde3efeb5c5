"""Compiled MBR decoding of a batch on a CPU, for models with a projective CRF.

`Decoding.best` is the specification, and takes over where constraints leave no projective tree.
"""

from dataclasses import replace
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
    """Whether `compiled_trees` can decode this batch."""
    config, tokens = decoding.config, decoding.batch.grid[1]
    return (
        config.resolved_decoder == "mbr"
        and config.learns_projective
        and not (decoding.is_long or config.uses_grandparents(tokens))
        and decoding.arcs.device.type == "cpu"
        and decoding.arcs.dtype == torch.float32
        and torch.get_num_threads() == 1  # the calls are for one thread
        and backend_for(decoding.arcs.device) == "numba"
    )


def compiled_trees(decoding: "Decoding", *, probs: bool) -> Trees | None:
    """The best trees, `probs` with them; None if a sentence has no allowed projective one."""
    from treecrf.ops.projective.scoring import score_trees
    from treecrf.parser.decoding.kernels import choose_classes, find_heads

    batch, config, scorer = decoding.batch, decoding.config, decoding.scorer
    count, width = batch.grid
    # Trees are chosen by the scores as they are, probabilities are those of the last copy.
    temperatures = [1.0, config.temperature] if probs and config.temperature != 1 else [1.0]
    arcs = _at_each(decoding.arcs, temperatures)
    scores = scorer.siblings(decoding.roles, batch)
    siblings = None if scores is None else _at_each(scores, temperatures)
    lengths = batch.lengths.numpy()
    allowed = _ALL_ALLOWED if decoding.allowed is None else decoding.allowed.numpy()
    masked, marginals = np.empty_like(arcs), np.empty_like(arcs)
    log_partition = np.empty(len(arcs))
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
    log_probs = None
    if probs:
        found = np.empty((count, 1))
        second = None if siblings is None else siblings[-count:]
        trees = heads[:, None]
        score_trees(masked[-count:], second, None, lengths, config.multiroot, trees, found)
        log_probs = found[:, 0] - log_partition[-count:]

    relations = scorer.relations(decoding.roles, batch, torch.from_numpy(heads))
    columns = {name: part.numpy() for name, part in scorer.columns(decoding.roles).items()}
    lemmas = columns.pop("lemma", _NO_LEMMAS)
    own = {"upos": config.upos_temperature}
    tokens = int(lengths.sum()) + count
    chosen = np.empty((2 + len(columns), tokens), np.int64)
    weights = np.empty((2 + len(columns) if probs else 0, tokens), np.float32)
    rules = np.empty((tokens if len(lemmas) else 0, min(LEMMA_RULES, lemmas.shape[1])), np.int64)
    choose_classes(
        batch.places.numpy(),
        lengths,
        heads,
        marginals[-count:],
        (relations.numpy(), *columns.values()),
        (config.relation_temperature, *(own.get(name, 1.0) for name in columns)),
        lemmas,
        LEMMA_WEIGHT,
        chosen,
        weights,
        rules,
    )
    classes = {name: chosen[row, :, None] for row, name in enumerate(columns, 2)}
    if len(lemmas):
        classes["lemma"] = rules
    decoded = Trees(
        lengths=lengths,
        heads=chosen[0],
        relations=chosen[1],
        columns={name: classes[name] for name in config.predict},
        crossing=np.zeros(count, np.bool_),
    )
    if log_probs is None:
        return decoded
    by_column = dict(zip(columns, weights[2:].astype(np.float64), strict=True))
    return replace(
        decoded,
        probs=weights[0].astype(np.float64),
        relation_probs=weights[1].astype(np.float64),
        upos_probs=by_column.get("upos"),
        log_probs=log_probs,
    )


def _at_each(scores: Tensor, temperatures: list[float]) -> np.ndarray:
    """Copies of scores `[copy * sentence, ...]`, each divided by its temperature."""
    given = scores.numpy()
    if temperatures == [1.0]:
        return np.ascontiguousarray(given)
    copies = np.empty((len(temperatures), *given.shape), np.float32)
    for copy, temperature in zip(copies, temperatures, strict=True):
        np.divide(given, np.float32(temperature), out=copy)
    return copies.reshape(-1, *given.shape[1:])
