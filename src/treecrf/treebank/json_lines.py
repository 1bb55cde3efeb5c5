"""Trees as JSON, an object a line."""

import json
from collections.abc import Iterable

from treecrf.treebank.files import File, open_target
from treecrf.treebank.probs import log_prob
from treecrf.treebank.sentence import Sentence

__all__ = ["write_json"]


def write_json(sentences: Iterable[Sentence], target: File) -> None:
    """Write `Sentence.to_dict()` of each, with the log-probability of the tree if it is known."""
    with open_target(target) as write:
        for sentence in sentences:
            value = sentence.to_dict()
            if (known := log_prob(sentence)) is not None:
                value["log_prob"] = known
            write(json.dumps(value, ensure_ascii=False) + "\n")
