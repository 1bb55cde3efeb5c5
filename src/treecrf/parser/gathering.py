"""The trees of batches, gathered in the order of the sentences that were encoded."""

from typing import Any

import numpy as np
import numpy.typing as npt

from treecrf.parser.assigning import TreeArrays
from treecrf.parser.decode import Decoded
from treecrf.parser.encoding import EncodedSentences
from treecrf.parser.forms import Integers

__all__ = ["Gathered"]


class Gathered:
    """The trees of batches, put where their sentences are among those that were encoded."""

    def __init__(self, encoded: EncodedSentences) -> None:
        self.encoded = encoded
        self.tokens: dict[str, npt.NDArray[Any]] = {}
        self.sentences: dict[str, npt.NDArray[Any]] = {}
        self.marginals: dict[int, npt.NDArray[np.float32]] = {}  # [token, token] by sentence

    def add(self, rows: Integers, decoded: Decoded) -> None:
        """Take in the trees of the sentences with these numbers."""
        starts, lengths = self.encoded.starts[rows], self.encoded.lengths[rows]
        inside = np.arange(decoded.heads.shape[1]) <= lengths[:, None]  # the root symbol too
        row, step = np.nonzero(inside)
        token = starts[row] + step
        for name in ("heads", "relations", "upos", "probs"):
            if (values := getattr(decoded, name)) is not None:
                whole = self.tokens.setdefault(
                    name, np.zeros(len(self.encoded.forms), values.dtype)
                )
                whole[token] = values[row, step]
        if decoded.marginals is not None:
            for place, (number, length) in enumerate(zip(rows, lengths, strict=True)):
                tokens = slice(int(length) + 1)
                self.marginals[int(number)] = decoded.marginals[place, tokens, tokens]
        for name in ("log_probs", "crossing", "entropies"):
            if (values := getattr(decoded, name)) is not None:
                empty = np.zeros(len(self.encoded), values.dtype)
                self.sentences.setdefault(name, empty)[rows] = values

    def arrays(self) -> TreeArrays:
        """All of them."""
        none = np.zeros(0, np.int64)  # of no sentence at all
        return TreeArrays(
            heads=self.tokens.get("heads", none),
            relations=self.tokens.get("relations", none),
            upos=self.tokens.get("upos"),
            probs=self.tokens.get("probs"),
            log_probs=self.sentences.get("log_probs"),
            crossing=self.sentences.get("crossing"),
        )
