"""Warm start: vocabulary, relations and weights of the model that training starts from.

The new vocabulary begins with the old one, so a row of weights is for the same item in both. Rows
that only the new model has stay random; rows that only the old one has are dropped.
"""

from collections.abc import Mapping
from itertools import accumulate

import torch
from torch import Tensor

from treecrf.parser.config import Config
from treecrf.parser.errors import ParserError
from treecrf.parser.network.scorer import Scorer, role_sizes
from treecrf.parser.vocab import COLUMNS, Vocabulary
from treecrf.treebank.pseudoprojective import is_lifted, restore, with_escapes

__all__ = ["inheritance_note", "inherited_relations", "inherited_vocabulary", "take_weights"]

_TEMPERATURES = ("temperature", "relation_temperature", "upos_temperature")
_RELATIONS = "label_scores.weight"
_ROLES = ("roles.linear.weight", "roles.linear.bias")
_LEMMA_TAGS = "lemma_tags."  # weights with a row for each lemma rule and a column for each tag
# The old model may lack them.
_OPTIONAL = ("sibling_scores.", "grandparent_scores.", "column_scores.", _LEMMA_TAGS)
# Weights with a row for each item of the vocabulary.
_ROWS = (
    "reader.words.trained.weight",
    "reader.characters.embedding.weight",
    "reader.tags.weight",
    *(f"column_scores.{name}.{kind}" for name in COLUMNS for kind in ("weight", "bias")),
    _RELATIONS,
)


def inheritance_note(old: Config, new: Config, *, segmenter: bool | None) -> str:
    """One line on what else the new model keeps of the old one; empty if there is nothing.

    `segmenter`: whether the segmenter is kept; None if there is none.
    """
    kept = ["its segmenter"] if segmenter else []
    dropped = ["its segmenter"] if segmenter is False else []
    for name in (*_TEMPERATURES, "precision"):
        value, usual = getattr(old, name), getattr(Config(), name)
        if value != usual:
            (kept if getattr(new, name) == value else dropped).append(f"{name} {value}")
    notes = [f"keeps {', '.join(kept)}"] if kept else []
    notes += [f"drops {', '.join(dropped)}"] if dropped else []
    if any(1 != getattr(old, name) == getattr(new, name) for name in _TEMPERATURES):
        notes.append("temperatures were fitted to its weights, not to the new ones")
    return "; ".join(notes)


def inherited_relations(relations: list[str], *, old: Config, new: Config) -> dict[str, int]:
    """The relations of the old model under new settings, each with its old number.

    Marks of lifted arcs stay if the new settings use the same; otherwise such relations are
    dropped, because training would never teach the parser not to give them. Escapes go with marks.
    """
    same = old.pseudo == new.pseudo and (old.encoding == new.encoding or not new.pseudo)
    kept: dict[str, int] = {}
    for number, relation in enumerate(relations):
        if same:
            kept[relation] = number
        elif not (old.pseudo and is_lifted([relation])):
            plain = restore([0], [relation])[1][0] if old.pseudo else relation
            kept.setdefault(with_escapes(plain) if new.pseudo else plain, number)
    return kept


def inherited_vocabulary(
    vocabulary: Vocabulary, found: Vocabulary, *, old: Config, new: Config
) -> Vocabulary:
    """The old vocabulary under new settings, followed by what only the new data has."""
    relations = list(inherited_relations(vocabulary.relations, old=old, new=new))
    return vocabulary.changed(relations=relations).extended(found)


@torch.no_grad()
def take_weights(
    scorer: Scorer, weights: Mapping[str, Tensor], *, relations: list[str], old: Config, new: Config
) -> None:
    """Copy the weights of a model with these relations and the settings `old`.

    The new network may have more rows of the vocabulary, and roles that the old one has not.
    """
    rows = list(inherited_relations(relations, old=old, new=new).values())
    theirs, ours = _places(role_sizes(old)), _places(role_sizes(new))
    for name, own in scorer.state_dict().items():
        value = weights.get(name)
        if value is None:
            if not name.startswith(_OPTIONAL):
                raise ParserError(f"damaged: there are no weights {name}")
            continue
        if name in _ROLES and len(value) == sum(role_sizes(old).values()):
            for role in theirs.keys() & ours.keys():
                own[ours[role]].copy_(value[theirs[role]])
            continue
        if name == _RELATIONS and len(value) == len(relations):
            value = value[rows]
        growing = 2 if name.startswith(_LEMMA_TAGS) else int(name in _ROWS)  # dimensions
        part = tuple(map(slice, value.shape))
        fits = own.dim() == value.dim() and own[part].shape == value.shape
        if not fits or own.shape[growing:] != value.shape[growing:]:
            raise ParserError(
                f"damaged: the weights {name} have the shape {(*value.shape,)}, which does not fit "
                f"the settings and the vocabulary {(*own.shape,)}"
            )
        own[part].copy_(value)


def _places(sizes: dict[str, int]) -> dict[str, slice]:
    """The rows of each role."""
    ends = dict(zip(sizes, accumulate(sizes.values()), strict=True))
    return {role: slice(end - sizes[role], end) for role, end in ends.items()}
