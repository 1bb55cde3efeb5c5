"""Trees as JSON, an object a line."""

import json
from collections.abc import Iterable

from treecrf.treebank.files.streams import File, open_target
from treecrf.treebank.probs import log_prob, rank
from treecrf.treebank.sentence import Sentence

__all__ = ["write_json"]


def write_json(sentences: Iterable[Sentence], target: File) -> None:
    """Write `Sentence.to_dict()` of each, with `rank` and `log_prob` of its tree where known."""
    with open_target(target) as write:
        for sentence in sentences:
            value = sentence.to_dict()
            for name, known in (("rank", rank(sentence)), ("log_prob", log_prob(sentence))):
                if known is not None:
                    value[name] = known
            write(json.dumps(value, ensure_ascii=False) + "\n")
