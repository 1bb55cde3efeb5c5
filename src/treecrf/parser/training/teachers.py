"""Teachers: other models whose probabilities a training learns, beside what is annotated."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from treecrf.parser.api import load
from treecrf.parser.batching.batch import Batch, cut_batches, make_batch
from treecrf.parser.batching.distinct import Integers
from treecrf.parser.batching.encoding import Annotation, EncodedSentences, encode
from treecrf.parser.batching.targets import WEIGHT, Items, Targets
from treecrf.parser.config import Config
from treecrf.parser.decoding.batches import BATCH_WORDS
from treecrf.parser.errors import ParserError
from treecrf.parser.model import Model
from treecrf.parser.network.loss import distribution, masked_heads, tempered
from treecrf.parser.vocab import Vocabulary
from treecrf.struct import NonProjectiveTreeCRF, ProjectiveTreeCRF, SiblingTreeCRF
from treecrf.treebank import Sentence

__all__ = ["find_targets", "load_teachers"]

_LEAST = 0.01  # probability of what is a target; the rest is shared out
_SETTINGS = ("loss", "multiroot", "nonprojective", "encoding")  # teachers have the same


def load_teachers(folders: Sequence[str], config: Config, device: torch.device) -> list[Model]:
    """Load the teachers of a training with these settings."""
    teachers: list[Model] = []
    for folder in folders:
        teacher = load(folder, device=str(device))
        for name in _SETTINGS:
            if getattr(teacher.config, name) != getattr(config, name):
                raise ParserError(
                    f"{folder}: a teacher has the same {name} as the model that it teaches; it has "
                    f"{getattr(teacher.config, name)}, and this training {getattr(config, name)}"
                )
        if missing := set(config.predict) - set(teacher.config.predict):
            raise ParserError(
                f"{folder}: it does not predict {', '.join(sorted(missing))}, so it cannot teach "
                "that: leave it out of --set predict=[...]"
            )
        teachers.append(teacher)
    return teachers


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
    """The mean of the teachers' probabilities, mixed with what is annotated.

    What is annotated has the weight that `teacher_weight` leaves; the rest is the teachers' alone.
    """
    device = teachers[0].device
    theirs = [encode(sentences, teacher.vocabulary, teacher.config) for teacher in teachers]
    renumberings = [_renumbering(teacher.vocabulary, vocabulary, config) for teacher in teachers]
    count = int((encoded.lengths + 1).sum())
    heads = np.zeros(count, np.int64)
    found: defaultdict[str, list[Integers]] = defaultdict(list)
    order = np.argsort(-encoded.lengths, kind="stable")
    words = BATCH_WORDS[device.type] // 2  # marginals of siblings take as much as their scores
    for rows in cut_batches(encoded.lengths, order, tokens=words):
        mean = _Mean()
        batches = [make_batch(own, rows, annotation=annotation, device=device) for own in theirs]
        roles = []
        for teacher, batch in zip(teachers, batches, strict=True):
            roles.append(teacher.scorer(batch))
            mean.add(_tree_marginals(teacher, batch, roles[-1]))
        batch = batches[0]
        assert batch.heads is not None
        best = _best_heads(mean["arcs"], batch, config)
        chosen = torch.where(batch.heads >= 0, batch.heads, best)
        for teacher, own, of_own, numbers in zip(
            teachers, batches, roles, renumberings, strict=True
        ):
            mean.add(_class_probs(teacher, own, of_own, chosen, numbers, vocabulary.sizes))
        _mix_in(mean, batch, weight=1 - config.teacher_weight)
        token = encoded.starts[batch.rows].take(batch.sentence.cpu().numpy())
        token += batch.cells.cpu().numpy() % batch.grid[1]
        heads[token] = batch.pack(chosen).cpu().numpy()
        for name, probs in mean.items():
            if probs.dim() > 2:  # by sentence and word: those of the packed tokens
                probs = probs.flatten(0, 1).index_select(0, batch.cells)
            roots = batch.grid[0]  # the first of the packed tokens
            found[name].append(_items(name, probs[roots:], token[roots:]))
    every = {name: np.concatenate(parts) for name, parts in found.items()}
    items = {name: Items.of(of[:, 0], of[:, 1:], count=count) for name, of in every.items()}
    arcs, siblings = items.pop("arcs"), items.pop("siblings", None)
    sizes = {name: vocabulary.sizes[name] for name in items}
    return Targets(heads, arcs, siblings, items, sizes)


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


def _tree_marginals(teacher: Model, batch: Batch, roles: dict[str, Tensor]) -> dict[str, Tensor]:
    scores = teacher.scorer.arcs(roles, batch), teacher.scorer.siblings(roles, batch)
    scores = tempered(*scores, teacher.config.temperature)
    crf = distribution(*scores, batch.lengths, config=teacher.config)
    if teacher.config.loss == "local":
        return {"arcs": masked_heads(scores[0], batch.lengths).softmax(2)}
    if isinstance(crf, SiblingTreeCRF):
        return {"arcs": crf.marginals, "siblings": crf.sibling_marginals}
    return {"arcs": crf.marginals}


def _best_heads(marginals: Tensor, batch: Batch, config: Config) -> Tensor:
    family = NonProjectiveTreeCRF if config.crossing else ProjectiveTreeCRF
    return family(marginals, batch.lengths, config.multiroot, validate=False).argmax


def _class_probs(
    teacher: Model,
    batch: Batch,
    roles: dict[str, Tensor],
    heads: Tensor,
    renumbering: dict[str, tuple[list[int], list[int]]],
    sizes: dict[str, int],
) -> dict[str, Tensor]:
    """Probabilities `[token, class]` of our relations, under these heads, and of our columns."""
    scores = {
        "relations": teacher.scorer.relations(roles, batch, heads),
        **teacher.scorer.columns(roles),
    }
    found = {}
    for name, (their, our) in renumbering.items():
        probs = scores[name].float().softmax(1)
        found[name] = probs.new_zeros(len(probs), sizes[name])
        found[name][:, our] = probs[:, their]
    return found


def _mix_in(mean: _Mean, batch: Batch, *, weight: float) -> None:
    """Mix in what is annotated, with this weight."""
    gold = batch.gold
    assert gold is not None
    assert batch.heads is not None
    has_head = (batch.heads >= 0).unsqueeze(2)
    annotated = torch.zeros_like(mean["arcs"]).scatter_(2, batch.heads.clamp(min=0)[:, :, None], 1)
    mean["arcs"] = torch.where(has_head, mean["arcs"].lerp(annotated, weight), mean["arcs"])
    if "siblings" in mean and gold.arcs is not None and gold.siblings is not None:
        of_pairs = torch.zeros_like(mean["siblings"])
        of_pairs.view(-1)[gold.siblings] = 1
        mean["siblings"] = mean["siblings"].lerp(of_pairs, weight)
    for name, classes in {"relations": gold.relations, **gold.columns}.items():
        known = classes >= 0
        one = torch.zeros_like(mean[name]).scatter_(1, classes.clamp(min=0)[:, None], 1)
        mean[name] = torch.where(known[:, None], mean[name].lerp(one, weight), mean[name])


def _items(name: str, probs: Tensor, token: Integers) -> Integers:
    """Rows of token, class or head (and sibling) and weight, of what is probable enough."""
    kept = torch.where(probs > _LEAST, probs, 0)
    if name != "siblings":  # of which a word may have none
        kept = kept / kept.sum(1, keepdim=True).clamp(min=1e-9)
    place = kept.nonzero()
    weights = (kept[tuple(place.unbind(1))] * WEIGHT).long()
    rows = torch.cat((place, weights[:, None]), 1).cpu().numpy()
    rows[:, 0] = token.take(rows[:, 0])
    return rows
