"""Values of settings and options; light, because every command imports it."""

from typing import Literal

__all__ = [
    "Decoder",
    "Encoder",
    "InputKind",
    "Loss",
    "Nonprojective",
    "Precision",
    "RecurrentMask",
    "Schedule",
    "Tags",
]

Loss = Literal["local", "crf", "crf2o", "nonprojective"]
"""What training maximises: the probability of each head, or of the tree, in three families."""

Decoder = Literal["auto", "mbr", "viterbi", "mst"]
"""Which tree is taken: the one with the most marginals or score, or one that may cross."""

Nonprojective = Literal["pseudo", "mst", "none"]
"""Crossing arcs: lifted and restored, decoded as they are, or not provided for."""

InputKind = Literal["auto", "conllu", "tokens", "text", "jsonl", "parquet"]
"""What a file to parse has in it; auto finds out."""

Encoder = Literal["bilstm", "transformer"]
"""What reads a sentence."""

Schedule = Literal["exponential", "linear"]
"""How the learning rate falls: by a factor, or to zero at the last epoch."""

Precision = Literal["float32", "int8"]
"""Arithmetic of a network on a CPU."""

RecurrentMask = Literal["batch", "sentence"]
"""How many masks of recurrent dropout a batch has: one, or one for each sentence."""

Tags = Literal["none", "upos", "xpos"]
"""The column whose tags are embedded."""
