"""Values of settings and options; light, because every command imports it."""

from typing import Literal

Loss = Literal["local", "crf", "crf2o", "crf3o", "nonprojective"]
Decoder = Literal["auto", "mbr", "viterbi", "mst"]
Nonprojective = Literal["pseudo", "mst", "none"]  # crossing arcs: lifted, decoded as such, neither
InputKind = Literal["auto", "conllu", "tokens", "text", "lines", "jsonl", "parquet"]
Encoder = Literal["bilstm", "transformer"]
Schedule = Literal["exponential", "linear"]  # of the learning rate
Precision = Literal["float32", "int8"]  # arithmetic on a CPU
SiblingForm = Literal["triaffine", "shared", "biaffine"]  # how siblings are scored
RecurrentMask = Literal["batch", "sentence"]  # recurrent dropout: one mask for each
Column = Literal["upos", "xpos", "feats", "lemma"]  # what is predicted besides the tree
Tags = Literal["none", "upos", "xpos"]  # the column whose tags are embedded
