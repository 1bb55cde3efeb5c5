"""Teachers: other models whose probabilities a training learns, beside what is annotated."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from treecrf.parser.api import load
from treecrf.parser.batching.batch import CELLS, Batch, cut_batches, make_batch
from treecrf.parser.batching.distinct import Integers
from treecrf.parser.batching.encoding import (
    Annotation,
    EncodedSentences,
    check_tags,
    encode,
)
from treecrf.parser.batching.targets import WEIGHT, Items, Targets
from treecrf.parser.batching.words import SentenceTable
from treecrf.parser.bundled import model_folder
from treecrf.parser.config import Config
from treecrf.parser.decoding.batches import BATCH_WORDS
from treecrf.parser.errors import ParserError
from treecrf.parser.folder import load_settings
from treecrf.parser.model import Model
from treecrf.parser.network.loss import TreeScores, masked_heads
from treecrf.parser.vocab import Vocabulary
from treecrf.struct import (
    GrandparentTreeCRF,
    NonProjectiveTreeCRF,
    ProjectiveTreeCRF,
    SiblingTreeCRF,
)
from treecrf.treebank import Sentence

__all__ = ["check_teachers", "find_targets", "load_teachers"]

_LEAST = 1e-4  # smaller probabilities are dropped
# Teachers have the same.
_SETTINGS = ("loss", "crf3o_siblings", "multiroot", "nonprojective", "encoding")


def check_teachers(folders: Sequence[str], config: Config) -> None:
    """Raise an error if a teacher does not suit a training with these settings."""
    for folder in folders:
        theirs = load_settings(model_folder(folder))[0]
        for name in _SETTINGS:
            if getattr(theirs, name) != getattr(config, name):
                raise ParserError(
                    f"{folder}: a teacher has the same {name} as the model that it teaches; it has "
                    f"{getattr(theirs, name)}, and this training {getattr(config, name)}"
                )
        if missing := set(config.predict) - set(theirs.predict):
            names = ", ".join(name for name in config.predict if name not in missing) or "none"
            raise ParserError(
                f"{folder}: it does not predict {', '.join(sorted(missing))}, so it cannot teach "
                f"that: --set predict={names}"
            )


def load_teachers(folders: Sequence[str], device: torch.device) -> list[Model]:
    """Load the teachers of a training."""
    return [load(folder, device=str(device)) for folder in folders]


@torch.inference_mode()
def find_targets(
    teachers: Sequence[Model],
    sentences: Sequence[Sentence],
    encoded: EncodedSentences,
    annotation: Annotation,
    *,
    vocabulary: Vocabulary,
    config: Config,
) -> Targets:
    """The mean of the teachers' probabilities, mixed with the annotation.

    `teacher_weight` is the share of the teachers; of words without annotation all is theirs.
    """
    device = teachers[0].device
    for teacher in teachers:
        check_tags(SentenceTable(sentences), teacher.config)
    theirs = [encode(sentences, teacher.vocabulary, teacher.config) for teacher in teachers]
    renumberings = [_renumbering(teacher.vocabulary, vocabulary, config) for teacher in teachers]
    count = int((encoded.lengths + 1).sum())
    heads = np.zeros(count, np.int64)
    found: defaultdict[str, list[Integers]] = defaultdict(list)
    # Several tensors of siblings are in memory at once.
    for rows in cut_batches(
        encoded.lengths,
        tokens=BATCH_WORDS[device.type],
        cells=CELLS // 8,
        apart=config.longest_together,
    ):
        mean = _Mean()
        batches = [make_batch(own, rows, annotation=annotation, device=device) for own in theirs]
        roles = []
        for teacher, batch in zip(teachers, batches, strict=True):
            roles.append(teacher.scorer(batch))
            mean.add(_tree_marginals(teacher, batch, roles[-1], share=config.teacher_weight))
        batch = batches[0]
        assert batch.heads is not None
        best = _best_heads(mean["arcs"], batch, config)
        chosen = torch.where(batch.heads >= 0, batch.heads, best)
        for teacher, own, of_own, numbers in zip(
            teachers, batches, roles, renumberings, strict=True
        ):
            scores = _class_scores(teacher, own, of_own, heads=chosen)
            mean.add(_class_probs(scores, renumbering=numbers, sizes=vocabulary.sizes))
        _mix_in_classes(mean, batch, weight=1 - config.teacher_weight)
        token = encoded.starts[batch.rows].take(batch.sentence.cpu().numpy())
        token += batch.cells.cpu().numpy() % batch.grid[1]
        heads[token] = batch.pack(chosen).cpu().numpy()
        for name, probs in mean.items():
            if probs.dim() > 2:  # by sentence and word: those of the packed tokens
                probs = probs.flatten(0, 1).index_select(0, batch.cells)
            roots = batch.grid[0]  # the first of the packed tokens
            found[name].append(_items(probs[roots:], token[roots:]))
    every = {name: np.concatenate(parts) for name, parts in found.items()}
    items = {name: Items.of(of[:, 0], of[:, 1:], count=count) for name, of in every.items()}
    arcs, siblings = items.pop("arcs"), items.pop("siblings", None)
    grandparents = items.pop("grandparents", None)
    sizes = {name: vocabulary.sizes[name] for name in items}
    return Targets(heads, arcs, siblings, grandparents, items, sizes)


class _Mean(dict[str, Tensor]):
    """Means of tensors by name."""

    def __init__(self) -> None:
        super().__init__()
        self._counts: defaultdict[str, int] = defaultdict(int)

    def add(self, values: Mapping[str, Tensor]) -> None:
        for name, value in values.items():
            self._counts[name] += 1
            if name not in self:
                self[name] = value.clone()
            else:
                self[name] += (value - self[name]) / self._counts[name]


def _renumbering(
    theirs: Vocabulary, ours: Vocabulary, config: Config
) -> dict[str, tuple[list[int], list[int]]]:
    """The numbers of the classes that both have, in both, by the name of their scores."""
    named: dict[str, tuple[list[str], dict[str, int]]]
    named = {"relations": (theirs.relations, ours.relation_numbers)}
    for column in config.predict:
        named[column] = theirs.columns[column], ours.column_numbers[column]
    found: dict[str, tuple[list[int], list[int]]] = {}
    for name, (classes, numbers) in named.items():
        both = [number for number, item in enumerate(classes) if item in numbers]
        found[name] = both, [numbers[classes[number]] for number in both]
    return found


def _tree_marginals(
    teacher: Model, batch: Batch, roles: dict[str, Tensor], *, share: float
) -> dict[str, Tensor]:
    """Marginals of arcs and other parts: a share of all trees', the rest of those annotated.

    Both are marginals of trees, and so is the mixture. Of a whole tree the rest is that tree alone.
    """
    scores = TreeScores.of(teacher.scorer, roles, batch, config=teacher.config).tempered(
        teacher.config.temperature
    )
    mean: dict[str, Tensor] = {}
    for weight, allowed in ((share, None), (1 - share, _annotated(batch))):
        if not weight:
            continue
        if teacher.config.loss == "local":
            parts = {"arcs": masked_heads(scores.arcs, batch.lengths, allowed).softmax(2)}
        else:
            crf = scores.distribution(batch.lengths, config=teacher.config, allowed=allowed)
            parts = {"arcs": crf.marginals}
            if isinstance(crf, SiblingTreeCRF):
                parts["siblings"] = crf.sibling_marginals
            if isinstance(crf, GrandparentTreeCRF):
                parts["grandparents"] = crf.grandparent_marginals
        for name, part in parts.items():
            mean[name] = weight * part if name not in mean else mean[name].add_(part, alpha=weight)
    return mean


def _annotated(batch: Batch) -> Tensor:
    """Which arcs the annotation leaves possible, `[batch, dependent, head]`."""
    assert batch.heads is not None
    head = torch.arange(batch.grid[1], device=batch.heads.device)
    return (batch.heads[:, :, None] == head) | (batch.heads < 0)[:, :, None]


def _best_heads(marginals: Tensor, batch: Batch, config: Config) -> Tensor:
    family = NonProjectiveTreeCRF if config.crossing else ProjectiveTreeCRF
    return family(marginals, batch.lengths, config.multiroot, validate=False).argmax


def _class_scores(
    teacher: Model, batch: Batch, roles: dict[str, Tensor], *, heads: Tensor
) -> dict[str, Tensor]:
    """Scores `[token, class]` of relations, under these heads, and of columns, calibrated."""
    config = teacher.config
    scores = {
        "relations": teacher.scorer.relations(roles, batch, heads) / config.relation_temperature,
        **teacher.scorer.columns(roles),
    }
    if "upos" in scores:
        scores["upos"] = scores["upos"] / config.upos_temperature
    return scores


def _class_probs(
    scores: dict[str, Tensor],
    *,
    renumbering: dict[str, tuple[list[int], list[int]]],
    sizes: dict[str, int],
) -> dict[str, Tensor]:
    """Probabilities `[token, class]` of our relations and columns; others of theirs are dropped."""
    found = {}
    for name, (their, our) in renumbering.items():
        probs = scores[name].float().softmax(1)
        found[name] = probs.new_zeros(len(probs), sizes[name])
        found[name][:, our] = probs[:, their]
        found[name] /= found[name].sum(1, keepdim=True).clamp(min=1e-9)
    return found


def _mix_in_classes(mean: _Mean, batch: Batch, *, weight: float) -> None:
    """Mix in the classes that are annotated, with this weight."""
    gold = batch.gold
    assert gold is not None
    for name, classes in {"relations": gold.relations, **gold.columns}.items():
        known = classes >= 0
        one = torch.zeros_like(mean[name]).scatter_(1, classes.clamp(min=0)[:, None], 1)
        mean[name] = torch.where(known[:, None], mean[name].lerp(one, weight), mean[name])


def _items(probs: Tensor, token: Integers) -> Integers:
    """Rows of token, class or head (and sibling), and weight, of what is probable enough."""
    place = (probs > _LEAST).nonzero()
    weights = (probs[tuple(place.unbind(1))] * WEIGHT).round().long()
    rows = torch.cat((place, weights[:, None]), 1).cpu().numpy()
    rows[:, 0] = token.take(rows[:, 0])
    return rows
