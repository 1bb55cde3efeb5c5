"""Trees as `/api/parse` gives them: JSON with probabilities, places in the text and CoNLL-U."""

import json
import math
from typing import Any

import numpy as np

from treecrf.parser.decoding.sentences import Analysis
from treecrf.serve.queue.jobs import Task

__all__ = ["render_json"]

_DIGITS = 6


def render_json(task: Task, analysis: Analysis, *, alternatives: int, marginals: bool) -> str:
    """A sentence of a ParseResponse."""
    sentence = analysis.sentence
    assert analysis.marginals is not None
    value: dict[str, Any] = {
        "text": sentence.text if sentence.comments else " ".join(sentence.forms),
        "tokens": _tokens(task, analysis, alternatives),
        "log_prob": _finite(analysis.log_prob),
        "entropy": _finite(analysis.entropy),
    }
    if marginals:
        value["marginals"] = np.round(analysis.marginals.astype(np.float64), _DIGITS).tolist()
    if task.topk:
        value["best"] = [
            {"heads": tree.heads, "deprels": tree.deprels, "log_prob": _finite(log_prob)}
            for tree, log_prob in analysis.best
        ]
    value["conllu"] = sentence.to_conllu()
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _tokens(task: Task, analysis: Analysis, alternatives: int) -> list[dict[str, Any]]:
    sentence = analysis.sentence
    assert sentence.probs is not None
    words = zip(
        sentence.forms,
        sentence.column("upos"),
        sentence.heads,
        sentence.deprels,
        np.round(sentence.probs, _DIGITS).tolist(),
        task.sentence.offsets,
        _likely_heads(analysis, alternatives),
        strict=True,
    )
    return [
        {
            "id": number,
            "form": form,
            "upos": None if upos == "_" else upos,
            "head": head,
            "deprel": deprel,
            "prob": prob,
            "fixed": number in task.constraints.heads,
            "start": start,
            "end": end,
            "heads": heads,
        }
        for number, (form, upos, head, deprel, prob, (start, end), heads) in enumerate(words, 1)
    ]


def _likely_heads(analysis: Analysis, count: int) -> list[list[dict[str, float]]]:
    """The most probable heads of each word, best first; those that round to nothing are none."""
    assert analysis.marginals is not None
    probs = np.round(analysis.marginals[1:].astype(np.float64), _DIGITS)
    words = len(probs)
    probs[np.arange(words), np.arange(1, words + 1)] = 0  # of `local`, which may choose itself
    order = np.argsort(-probs, axis=1, kind="stable")[:, :count]
    chosen = np.take_along_axis(probs, order, axis=1)
    return [
        [{"head": head, "prob": prob} for head, prob in zip(*row, strict=True) if prob > 0]
        for row in zip(order.tolist(), chosen.tolist(), strict=True)
    ]


def _finite(number: float) -> float | None:
    return round(number, _DIGITS) if math.isfinite(number) else None
