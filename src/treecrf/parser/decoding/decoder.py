"""From scores to trees: MBR, Viterbi and spanning trees, with relations and probabilities."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from itertools import accumulate, chain
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from treecrf.ops.projective.trilinear import Factors
from treecrf.parser.batching.batch import Batch
from treecrf.parser.batching.distinct import Integers
from treecrf.parser.config import Config
from treecrf.parser.decoding.compiled import compiled_trees, is_compiled
from treecrf.parser.decoding.long import LongTreeCRF
from treecrf.parser.decoding.mbr import has_tree, is_projective_tree, mbr_heads
from treecrf.parser.decoding.trees import LEMMA_RULES, LEMMA_WEIGHT, Trees
from treecrf.parser.errors import ParserError
from treecrf.parser.estimates import FACTORED_CELLS
from treecrf.parser.network.loss import TreeCRF, TreeScores, masked_heads
from treecrf.parser.network.scorer import Network
from treecrf.struct import NonProjectiveTreeCRF

__all__ = ["LONGEST_ENTROPY", "Decoding", "NoAllowedTreeError"]

LONGEST_ENTROPY = 150
"""Words of a sentence that has an entropy of the second order, which takes the marginals of all
siblings in double precision: of a longer one that takes longer than the rest of parsing it."""

_IMPOSSIBLE = (
    "no tree has the heads that are to be kept (a cycle, or a second root under the single-root "
    "setting); free one of them"
)
_FORBIDDEN = (
    "no tree is left without the heads that are forbidden, and with those that are to be kept; "
    "forbid fewer of them"
)


class NoAllowedTreeError(ParserError):
    """No tree at all has the arcs that are to be kept; `row` is the sentence."""

    def __init__(self, row: int) -> None:
        super().__init__(f"sentence {row + 1}: {_IMPOSSIBLE}")
        self.row = row

    def named(self, where: str, *, forbidden: bool = False) -> ParserError:
        """The same with the name of the sentence in it, of which heads may be forbidden."""
        return ParserError(f"{where}: {_FORBIDDEN if forbidden else _IMPOSSIBLE}")


class Decoding:
    """A batch whose scores are known, and the trees that they choose among those allowed.

    Where no tree of the family that the model decodes is allowed for a sentence, spanning trees
    take its place: any tree, by the scores of arcs alone. Use it in inference mode.

    Where a sentence has more than `factored_cells` of sibling scores, they are computed as they are
    needed. One of more than `longest_entropy` words has no entropy of the second order.
    """

    def __init__(
        self,
        scorer: Network,
        batch: Batch,
        *,
        config: Config,
        allowed: Tensor | None = None,
        factored_cells: int = FACTORED_CELLS,
        longest_entropy: int = LONGEST_ENTROPY,
    ) -> None:
        self.scorer = scorer
        self.batch = batch
        self.config = config
        self.allowed = allowed
        self.roles = scorer(batch)
        self.arcs = scorer.arcs(self.roles, batch)
        tokens = batch.grid[1]
        second_order = scorer.sibling_scores is not None and not config.uses_grandparents(tokens)
        self.is_long = second_order and tokens**3 > factored_cells
        self.longest_entropy = longest_entropy
        self._missing: Tensor | None = None  # [batch], the sentences that spanning trees are for

    def best(self, *, probs: bool = False, details: bool = False) -> Trees:
        """The best trees by the configured decoder, which chooses without the temperature.

        With `details`, which has `probs` in it, marginals and entropies come with them.
        """
        if not details and is_compiled(self):
            trees = compiled_trees(self, probs=probs)
            if trees is not None:
                return trees
        # First of all: the pass that gives entropies gives marginals too.
        entropies = self._entropies() if details else None
        if probs and not details:
            self._pair_up()
        heads = self.best_heads()
        if not (probs or details):
            return self._trees(heads)
        crf = self._calibrated
        log_probs = crf.score(heads) - crf.log_partition
        if isinstance(crf, NonProjectiveTreeCRF) != self.config.crossing:
            # A tree may be none of the distribution's own.
            own = is_projective_tree(heads, crf.lengths, multiroot=crf.multiroot)
            log_probs = torch.where(own, log_probs, -math.inf)
        log_probs = self._or_spanning(log_probs, lambda spanning: spanning.log_prob(heads))
        if entropies is not None:
            entropies = self._or_spanning(entropies, lambda spanning: spanning.entropy)
        return self._trees(heads, log_probs=log_probs, entropies=entropies)

    def best_heads(self) -> Tensor:
        """Heads `[batch, N]` of the best trees."""
        heads = self._heads_of_family()
        self._find_missing(heads)
        return self._or_spanning(heads, lambda spanning: spanning.argmax)

    def list_best(self, k: int) -> Trees:
        """The k best trees of a batch of one sentence, best first; fewer where there are fewer."""
        crf: TreeCRF
        if isinstance(self._calibrated, LongTreeCRF):
            crf = self._short(self.config.temperature)
        else:
            crf = self._calibrated
        scores, heads = crf.topk(k)  # [1, k], [1, k, N]
        self._find_missing(heads[:, 0])
        if self._missing is not None:
            crf = self._spanning
            scores, heads = crf.topk(k)
        count = int((heads[0, :, 0] >= 0).sum())  # however many more are asked for
        return self._trees(heads[0, :count], log_probs=scores[0, :count] - crf.log_partition)

    def _pair_up(self) -> None:
        """Compute marginals for choosing trees and marginals for probabilities in one pass."""
        config, allowed, rows = self.config, self.allowed, self.batch.grid[0]
        if config.temperature == 1 or config.resolved_decoder != "mbr" or self.is_long:
            return
        temperature = config.temperature
        both = self._scores.change(lambda part: torch.cat((part, part / temperature))).distribution(
            torch.cat((self.batch.lengths, self.batch.lengths)),
            config=config,
            allowed=None if allowed is None else allowed.repeat(2, 1, 1),
        )
        both.marginals  # noqa: B018  (kept by the halves)
        self._plain, self._calibrated = both[:rows], both[rows:]

    @cached_property
    def _calibrated(self) -> TreeCRF | LongTreeCRF:
        """The distribution that probabilities are of."""
        return self._crf(self.config.temperature)

    @cached_property
    def _plain(self) -> TreeCRF | LongTreeCRF:
        """The distribution that trees are chosen by."""
        return self._calibrated if self.config.temperature == 1 else self._crf(1.0)

    @cached_property
    def _spanning(self) -> NonProjectiveTreeCRF:
        """The distribution over all trees, crossing or not."""
        arcs = self.arcs / self.config.temperature
        return self._nonprojective(arcs)

    @cached_property
    def _scores(self) -> TreeScores:
        return TreeScores.of(
            self.scorer, self.roles, self.batch, config=self.config, arcs=self.arcs
        )

    @cached_property
    def _sibling_factors(self) -> Factors:
        """Factors of a long sentence's sibling scores, for every temperature."""
        return self.scorer.sibling_factors(self.roles, self.batch)

    def _crf(self, temperature: float) -> TreeCRF | LongTreeCRF:
        return self._long(temperature) if self.is_long else self._short(temperature)

    def _short(self, temperature: float) -> TreeCRF:
        scores = self._scores.tempered(temperature)
        return scores.distribution(self.batch.lengths, config=self.config, allowed=self.allowed)

    def _long(self, temperature: float) -> LongTreeCRF:
        factors = self._sibling_factors
        factors = factors._replace(dependents=factors.dependents / temperature)
        lengths = self.batch.lengths
        arcs = masked_heads(self.arcs / temperature, lengths, self.allowed)
        return LongTreeCRF(arcs, factors, lengths, multiroot=self.config.multiroot)

    def _nonprojective(self, arcs: Tensor) -> NonProjectiveTreeCRF:
        return NonProjectiveTreeCRF(
            arcs, self.batch.lengths, self.config.multiroot, self.allowed, validate=False
        )

    def _heads_of_family(self) -> Tensor:
        """Heads `[batch, N]`; -1 in the rows of sentences that have no tree of the family."""
        crf = self._plain
        match self.config.resolved_decoder:
            case "viterbi":
                return crf.argmax
            case "mbr" if isinstance(crf, NonProjectiveTreeCRF):
                return crf.mbr
            case "mbr":
                return mbr_heads(crf, self.allowed)
        if not self.config.learns_projective:
            return self._nonprojective(self.arcs).argmax
        # Sibling scores have no meaning for trees that cross, so MST is given marginals.
        return torch.where(has_tree(crf)[:, None], self._nonprojective(crf.marginals).argmax, -1)

    def _find_missing(self, heads: Tensor) -> None:
        """Find the sentences that have no tree among these heads, which spanning trees are for."""
        if self.allowed is None:
            return
        missing = heads[:, 0] < 0
        if not bool(missing.any()):
            return
        self._missing = missing
        impossible = (missing & (self._spanning.argmax[:, 0] < 0)).nonzero().flatten().tolist()
        if impossible:
            raise NoAllowedTreeError(int(self.batch.rows[impossible[0]]))

    def _or_spanning(self, own: Tensor, of: Callable[[NonProjectiveTreeCRF], Tensor]) -> Tensor:
        """`own`, and in the rows of sentences without a tree of the family that of `_spanning`."""
        if self._missing is None:
            return own
        missing = self._missing.view(-1, *[1] * (own.dim() - 1))
        return torch.where(missing, of(self._spanning).to(own.dtype), own)

    def _entropies(self) -> Tensor:
        """Entropies `[batch]`; NaN of all where a sentence of the second order is too long."""
        if self.scorer.sibling_scores is not None and self.batch.grid[1] > self.longest_entropy + 1:
            return self.arcs.new_full(self.batch.lengths.shape, math.nan)
        return self._calibrated.entropy

    def _marginals(self) -> Tensor:
        """The probability of each head, `[batch, dependent, head]`."""
        if self.config.loss == "local":
            arcs = self.arcs / self.config.temperature
            return masked_heads(arcs, self.batch.lengths, self.allowed).softmax(2)
        return self._or_spanning(self._calibrated.marginals, lambda spanning: spanning.marginals)

    def _trees(
        self, heads: Tensor, *, log_probs: Tensor | None = None, entropies: Tensor | None = None
    ) -> Trees:
        """Trees with heads `[tree, N]`: one for each sentence, or several for the only one."""
        batch, sentences = self.batch, self.batch.grid[0]
        steps = batch.batch_sizes.numpy()  # [step], how many sentences have a token there
        inside = np.arange(sentences)[:, None] < steps  # [sentence, token]
        order = batch.places.cpu().numpy()[inside]  # packed tokens, sentence by sentence
        columns = self.scorer.columns(self.roles)
        best = {name: self._best_classes(name, scores) for name, scores in columns.items()}
        classes, numbers = [], []
        for some in heads.split(sentences):
            relations = self.scorer.relations(self.roles, batch, some)
            rows = [batch.pack(some), relations.argmax(1), *chain.from_iterable(best.values())]
            classes.append(torch.stack(rows))
            if log_probs is not None:
                by_head = self._marginals()
                chosen = batch.pack(by_head.gather(2, some.clamp(min=0).unsqueeze(2)).squeeze(2))
                numbers.append(torch.stack([chosen.float(), *self._best_probs(relations, columns)]))
        tokens = _by_sentence(classes, order)  # [column, token]
        ranks = accumulate(map(len, best.values()), initial=2)
        missing = np.zeros(len(heads), bool)
        if self._missing is not None:
            missing |= self._missing.cpu().numpy()
        trees = Trees(
            lengths=np.tile(inside.sum(1) - 1, len(classes)),
            heads=tokens[0],
            relations=tokens[1],
            columns={
                name: tokens[first : first + len(some)].T
                for (name, some), first in zip(best.items(), ranks, strict=False)
            },
            crossing=missing,
        )
        if log_probs is None:
            return trees
        probs, relation_probs, *tag_probs = _by_sentence(numbers, order).astype(np.float64)
        trees = replace(
            trees,
            probs=probs,
            relation_probs=relation_probs,
            upos_probs=tag_probs[0] if tag_probs else None,
            log_probs=log_probs.double().cpu().numpy(),
        )
        if entropies is None:
            return trees
        marginals = self._marginals().float().cpu().numpy()
        by_relation = (relations / self.config.relation_temperature).softmax(1).float()
        return replace(
            trees,
            entropies=entropies.double().cpu().numpy(),
            marginals=[
                marginals[row, : length + 1, : length + 1]
                for row, length in enumerate(trees.lengths.tolist())
            ],
            relation_marginals=np.split(by_relation.cpu().numpy()[order], trees.starts[1:]),
        )

    def _best_classes(self, name: str, scores: Tensor) -> list[Tensor]:
        """The best class `[token]` of a column; of lemmas several rules, each with its weight.

        A weight is a probability in parts of `LEMMA_WEIGHT`.
        """
        if name != "lemma":
            return [scores.argmax(1)]
        best = scores.float().softmax(1).topk(min(LEMMA_RULES, scores.shape[1]), dim=1)
        weights = (best.values * (LEMMA_WEIGHT - 1)).long()
        return [*(best.indices * LEMMA_WEIGHT + weights).unbind(1)]

    def _best_probs(self, relations: Tensor, columns: dict[str, Tensor]) -> list[Tensor]:
        """Probabilities `[token]` of the best relation and, where it is predicted, tag."""
        temperatures = [(relations, self.config.relation_temperature)]
        if "upos" in columns:
            temperatures.append((columns["upos"], self.config.upos_temperature))
        return [(scores / temperature).softmax(1).amax(1) for scores, temperature in temperatures]


def _by_sentence(parts: list[Tensor], order: Integers) -> npt.NDArray[Any]:
    """Rows `[row, token]` of packed tokens by sentence, part after part."""
    return np.concatenate([part.cpu().numpy()[:, order] for part in parts], 1)
