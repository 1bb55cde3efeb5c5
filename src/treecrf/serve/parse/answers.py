"""Trees as `/api/parse` gives them: JSON with probabilities, places in the text and CoNLL-U."""

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from treecrf.parser.decoding.sentences import Analysis
from treecrf.serve.queue.jobs import Task
from treecrf.treebank.features import Features

__all__ = ["render_json"]

_DIGITS = 6


def render_json(task: Task, analysis: Analysis, *, alternatives: int, marginals: bool) -> str:
    """A sentence of a ParseResponse."""
    sentence = analysis.sentence
    assert analysis.marginals is not None
    # Before anything makes tokens of its lines, which takes as long as all the rest.
    conllu, tokens = sentence.to_conllu(), _tokens(task, analysis, alternatives)
    value: dict[str, Any] = {
        "text": sentence.text if sentence.comments else " ".join(sentence.forms),
        "tokens": tokens,
        "multiwords": [
            {"first": each.first, "last": each.last, "form": each.form}
            for each in sentence.multiwords
        ],
        "log_prob": _finite(analysis.log_prob),
        "entropy": _finite(analysis.entropy),
    }
    if marginals:
        value["marginals"] = np.round(analysis.marginals.astype(np.float64), _DIGITS).tolist()
    if task.topk:
        value["best"] = [
            {
                "heads": tree.heads,
                "deprels": tree.deprels,
                "deprel_probs": _rounded(tree.deprel_probs),
                "log_prob": _finite(log_prob),
            }
            for tree, log_prob in analysis.best
        ]
    value["conllu"] = conllu
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _tokens(task: Task, analysis: Analysis, alternatives: int) -> list[dict[str, Any]]:
    sentence = analysis.sentence
    names = ("lemma", "upos", "xpos")
    columns = {x: [None if cell == "_" else cell for cell in sentence.column(x)] for x in names}
    assert analysis.relation_probs is not None
    unknown: list[float | None] = [None] * len(sentence)
    values = {
        "id": range(1, len(sentence) + 1),
        "form": sentence.forms,
        **columns,
        "feats": [dict(Features(cell)) or None for cell in sentence.column("feats")],
        "head": sentence.heads,
        "deprel": sentence.deprels,
        "prob": _rounded(sentence.probs),
        "deprel_prob": _rounded(sentence.deprel_probs),
        "upos_prob": unknown if sentence.upos_probs is None else _rounded(sentence.upos_probs),
        "fixed": [word in task.constraints.heads for word in range(1, len(sentence) + 1)],
        "start": [start for start, _ in task.sentence.offsets],
        "end": [end for _, end in task.sentence.offsets],
        "heads": _likely_heads(analysis, alternatives),
        "deprels": _likely(
            analysis.relation_probs.astype(np.float64), alternatives, "deprel", analysis.relations
        ),
    }
    return [dict(zip(values, word, strict=True)) for word in zip(*values.values(), strict=True)]


def _rounded(probs: Sequence[float] | None) -> list[float]:
    assert probs is not None
    rounded: list[float] = np.round(probs, _DIGITS).tolist()
    return rounded


def _likely_heads(analysis: Analysis, count: int) -> list[list[dict[str, Any]]]:
    """The most probable heads of each word."""
    assert analysis.marginals is not None
    probs = analysis.marginals[1:].astype(np.float64)
    words = len(probs)
    probs[np.arange(words), np.arange(1, words + 1)] = 0  # of `local`, which may choose itself
    return _likely(probs, count, "head", range(words + 1))


def _likely(
    probs: npt.NDArray[np.float64], count: int, key: str, names: Sequence[object]
) -> list[list[dict[str, Any]]]:
    """The most probable of `[word, name]`, best first, without those that round to 0."""
    probs = np.round(probs, _DIGITS)
    order = np.argsort(-probs, axis=1, kind="stable")[:, :count]
    chosen = np.take_along_axis(probs, order, axis=1)
    return [
        [{key: names[number], "prob": prob} for number, prob in zip(*row, strict=True) if prob > 0]
        for row in zip(order.tolist(), chosen.tolist(), strict=True)
    ]


def _finite(number: float) -> float | None:
    return round(number, _DIGITS) if math.isfinite(number) else None
