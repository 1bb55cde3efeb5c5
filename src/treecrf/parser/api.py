"""The parser that users hold: words in, trees with probabilities out, one sentence or a stream."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from treecrf.nn.int8.convert import use_byte_products
from treecrf.nn.int8.linear import has_byte_products
from treecrf.parser.arguments import (
    Words,
    as_sentences,
    as_text,
    check_text,
    checked_count,
    place_of,
)
from treecrf.parser.batching.batch import Batch, allowed_arcs, make_batch
from treecrf.parser.batching.encoding import EncodedSentences, check_tags, encode
from treecrf.parser.bundled import model_folder
from treecrf.parser.choices import Decoder, Precision
from treecrf.parser.config import Config
from treecrf.parser.constraints import (
    NO_CONSTRAINTS,
    Constraints,
    constraints_from,
    make_constraints,
)
from treecrf.parser.decoding.batches import decode_sentences, is_small_grid
from treecrf.parser.decoding.decoder import Decoding, NoAllowedTreeError
from treecrf.parser.decoding.sentences import Analysis, TreeNamer
from treecrf.parser.decoding.trees import Trees
from treecrf.parser.device import choose_device, fast_products
from treecrf.parser.errors import ParserError
from treecrf.parser.estimates import TooLongError, check_lists, make_blank
from treecrf.parser.files.pipeline import pipelined, windows
from treecrf.parser.folder import load_settings, load_vectors, load_weights, save_model
from treecrf.parser.network.loss import TreeCRF, distribution, tempered
from treecrf.parser.network.pretrained import Pretrained
from treecrf.parser.network.scorer import Network, Scorer
from treecrf.parser.vocab import Vocabulary
from treecrf.segment.segmenter import Segmenter, has_segmenter
from treecrf.storage import misfit
from treecrf.threads import run_on_one_thread
from treecrf.treebank import Sentence

__all__ = ["Parser", "load"]

# Characters of a text that is cut and parsed in one go, without threads that read ahead.
_SHORT_TEXT = 600

NumberedPair = tuple[int, tuple[Sentence, Constraints]]
"""A sentence and its constraints, with its place among what a caller gives, from 1."""


def load(
    path: str | Path | None = None, *, device: str = "auto", precision: Precision | None = None
) -> "Parser":
    """The parser in a model folder; without one, the English model that comes with treecrf.

    `device` is "cpu", "cuda" or "cuda:1"; "auto" takes a GPU where there is one. `precision` is
    the arithmetic on a CPU, "float32" or "int8"; without it, as the model says.
    """
    folder = model_folder(path)
    config, vocabulary, pretrained = load_settings(folder)
    if precision is not None:
        config = config.changed({"precision": precision})
    return Parser(
        config,
        vocabulary,
        load_weights(folder),
        vectors=load_vectors(folder, vocabulary),
        pretrained=pretrained,
        device=device,
        folder=folder,
    )


class Parser:
    """A trained parser: words in, trees with probabilities out. `treecrf.load` makes one.

    Sentences go in as lists of words or as `Sentence`s, whose other columns are kept. They come out
    as `Sentence`s with `heads`, `deprels` and `probs`, the probability of each head.

    Args:
        config: The settings that the network was trained with.
        vocabulary: The words, characters, tags and relations that it has numbers for.
        weights: Its weights by name, as `save` writes them.
        vectors: Pretrained word vectors `[1 + word, feature]`, where it reads some.
        pretrained: The description of its transformer, where it has one.
        device: "cpu", "cuda" or "cuda:1"; "auto" takes a GPU where there is one.
        folder: The model folder; the segmenter in it is loaded when it is first needed.
        network: Computes the scores in the place of the weights, which then may be empty.

    Examples:
        >>> import treecrf
        >>> parser = treecrf.load(device="cpu")  # the English model that comes with treecrf
        >>> [sentence] = parser.parse("She reads books.")
        >>> sentence.heads
        [2, 0, 2, 2]
        >>> sentence.deprels
        ['nsubj', 'root', 'obj', 'punct']
        >>> [sentence] = parser.parse_tokens([["She", "reads", "books"]], constraints=[{3: 0}])
        >>> sentence.heads[2]
        0
        >>> crf = parser.distribution([["She", "reads", "books"]])  # the TreeCRF itself
        >>> tuple(crf.marginals.shape)
        (1, 4, 4)
    """

    def __init__(
        self,
        config: Config,
        vocabulary: Vocabulary,
        weights: Mapping[str, Tensor],
        *,
        vectors: Tensor | None = None,
        pretrained: Pretrained | None = None,
        device: str = "auto",
        folder: Path | None = None,
        network: Network | None = None,
    ) -> None:
        self.config = config
        self.vocabulary = vocabulary
        self._vectors = vectors
        self._pretrained = pretrained
        self._folder = folder  # where the segmenter is, which is loaded when it is first needed
        self._segmenter: Segmenter | None = None
        self.device = choose_device(device)
        self._namer = TreeNamer(vocabulary, config)
        self.scorer: Network
        if network is not None:
            self.scorer = network
            return
        where = "" if folder is None else f"{folder}: "
        make = partial(Scorer, config, vocabulary.sizes, vectors=vectors, pretrained=pretrained)
        # No time goes into numbers that are replaced at once; encoders of transformers have some
        # that are not.
        scorer = make_blank(make, where)
        if pretrained is not None and not pretrained.native:
            scorer = make()
        try:
            scorer.load_state_dict(dict(weights), assign=True)
        except RuntimeError as error:
            raise ParserError(
                f"{where}damaged: the weights do not fit the settings and the vocabulary "
                f"({misfit(error)})"
            ) from None
        if config.precision == "int8" and self.device.type == "cpu" and has_byte_products():
            use_byte_products(scorer)
        try:
            self.scorer = scorer.to(self.device).eval()
        except torch.OutOfMemoryError:
            raise ParserError(
                f"{where}the weights do not fit in the free memory of {self.device}; use another "
                "device (cpu)"
            ) from None

    def save(self, path: str | Path) -> None:
        """Write a model folder that `treecrf.load` takes, in the place of a model that is there."""
        if not isinstance(self.scorer, Scorer):
            raise ParserError("this parser has a graph and no weights; copy its folder instead")
        segmenter = self._segmenter
        if segmenter is None and self._folder is not None and has_segmenter(self._folder):
            segmenter = self.segmenter  # loaded now: the folder may be the one that is replaced
        save_model(
            Path(path),
            self.config,
            self.vocabulary,
            self.scorer.state_dict(),
            vectors=self._vectors,
            pretrained=self._pretrained,
            segmenter=segmenter,
        )

    @property
    def has_segmenter(self) -> bool:
        """Whether the model can cut raw text."""
        return self._segmenter is not None or (
            self._folder is not None and has_segmenter(self._folder)
        )

    @property
    def segmenter(self) -> Segmenter:
        """What cuts raw text into sentences and words, where the model has it."""
        if self._segmenter is None:
            if self._folder is None or not self.has_segmenter:
                raise ParserError(
                    "this model has no segmenter for raw text: train one with `treecrf train "
                    "--segmenter`, or give it words"
                )
            self._segmenter = Segmenter.load(self._folder, device=self.device)
        return self._segmenter

    def parse(self, text: str) -> list[Sentence]:
        """The trees of raw text, cut into sentences and words first."""
        check_text(text)
        if len(text) <= _SHORT_TEXT and self.device.type == "cpu":
            return run_on_one_thread(lambda: self.parse_tokens(self.segmenter.segment(text)))
        return list(self.parse_text([text]))

    def parse_text(
        self, pieces: Iterable[str], *, decoder: Decoder | None = None, probs: bool = True
    ) -> Iterator[Sentence]:
        """The trees of raw text that comes in pieces of any size; memory stays bounded."""
        sentences = self.segmenter.segment_stream(as_text(pieces))
        return self.parse_stream(sentences, decoder=decoder, probs=probs)

    def parse_tokens(
        self,
        sentences: Iterable[Words],
        *,
        constraints: Sequence[Mapping[int, int] | None] | None = None,
        forbidden: Sequence[Mapping[int, Collection[int]] | None] | None = None,
        decoder: Decoder | None = None,
        probs: bool = True,
    ) -> list[Sentence]:
        """The trees of sentences.

        For each sentence, `constraints` has the heads to keep (`{dependent: head}`, words numbered
        from 1, head 0 the root) and `forbidden` the heads that a word must not have.
        """
        given = list(as_sentences(sentences))
        config = self._config(decoder)
        parsed: list[Sentence] = []
        pairs = zip(given, make_constraints(len(given), constraints, forbidden), strict=True)
        for window in windows(enumerate(pairs, 1), size=_size_of_pair):
            parsed += self._parse_window(window, config, probs=probs)
        return parsed

    def parse_stream(
        self,
        sentences: Iterable[Words],
        *,
        keep_heads: bool = False,
        decoder: Decoder | None = None,
        probs: bool = True,
    ) -> Iterator[Sentence]:
        """The trees of any number of sentences, in their order; memory stays bounded.

        With `keep_heads`, the heads and labels that sentences have already are kept. Reading the
        input and using the output go on while the device computes.
        """
        config = self._config(decoder)

        def pair(sentence: Sentence) -> tuple[Sentence, Constraints]:
            return sentence, constraints_from(sentence) if keep_heads else NO_CONSTRAINTS

        def work(window: list[NumberedPair]) -> list[Sentence]:
            return self._parse_window(window, config, probs=probs)

        pairs = enumerate(map(pair, as_sentences(sentences)), 1)
        for parsed in pipelined(windows(pairs, size=_size_of_pair), work):
            yield from parsed

    def parse_best(
        self, sentences: Iterable[Words], k: int, *, keep_heads: bool = False
    ) -> Iterator[list[Sentence]]:
        """The k best trees of each sentence, best first; fewer where there are fewer."""
        for sentence in as_sentences(sentences):
            constraint = constraints_from(sentence) if keep_heads else NO_CONSTRAINTS
            yield [tree for tree, _ in self.rank(sentence, constraint, k=k)]

    def rank(
        self, sentence: Sentence, constraint: Constraints, *, k: int
    ) -> list[tuple[Sentence, float]]:
        """The k best trees of a sentence under its constraints, each with its log-probability."""
        k = checked_count(k)
        constraint.check(sentence)
        check_lists(sentence, k, siblings=self.scorer.sibling_scores is not None)
        batch, allowed = self._one_batch(self._encoded([sentence]), [constraint])

        @torch.inference_mode()
        def decode() -> Trees:
            decoding = Decoding(self.scorer, batch, config=self.config, allowed=allowed)
            return decoding.list_best(k)

        try:
            with fast_products():
                small = is_small_grid(batch.grid, self.device)
                trees = run_on_one_thread(decode) if small else decode()
        except NoAllowedTreeError as error:
            raise error.named(sentence.where, forbidden=bool(constraint.forbidden)) from None
        return self._namer.ranked(sentence, constraint, trees)

    def analyse(
        self,
        sentences: Sequence[Sentence],
        constraints: Sequence[Constraints] | None = None,
        *,
        topk: Sequence[int] | None = None,
    ) -> list[Analysis]:
        """The trees of sentences with all that is known of them, each under its constraints.

        `topk` says how many of the best trees to list for each sentence; 0 is no list.
        """
        if constraints is None:
            constraints = [NO_CONSTRAINTS] * len(sentences)
        for number, (sentence, constraint) in enumerate(zip(sentences, constraints, strict=True)):
            constraint.check(sentence)
            if topk is not None and topk[number]:
                k = checked_count(topk[number])
                check_lists(sentence, k, siblings=self.scorer.sibling_scores is not None)
        try:
            trees = decode_sentences(
                self.scorer,
                self._encoded(sentences),
                constraints,
                config=self.config,
                device=self.device,
                details=True,
                topk=topk,
            )
        except (NoAllowedTreeError, TooLongError) as error:
            forbidden = bool(constraints[error.row].forbidden)
            raise error.named(sentences[error.row].where, forbidden=forbidden) from None
        return self._namer.analyses(sentences, constraints, trees)

    def distribution(
        self,
        sentences: Iterable[Words],
        *,
        constraints: Sequence[Mapping[int, int] | None] | None = None,
        forbidden: Sequence[Mapping[int, Collection[int]] | None] | None = None,
    ) -> TreeCRF:
        """The distribution over the trees of sentences, all in one batch.

        Of a model trained with `local` it is the TreeCRF over the same scores, which training has
        not made a distribution over trees.
        """
        given = list(as_sentences(sentences))
        made = list(make_constraints(len(given), constraints, forbidden))
        for number, (sentence, constraint) in enumerate(zip(given, made, strict=True), 1):
            constraint.check(sentence, where=place_of(sentence, number))
        if not given:
            raise ParserError("there is no sentence")
        batch, allowed = self._one_batch(self._encoded(given), made)
        back = torch.from_numpy(np.argsort(batch.rows)).to(self.device)
        with torch.no_grad(), fast_products():
            small = is_small_grid(batch.grid, self.device)
            score = partial(self._scores, batch)
            arcs, siblings = run_on_one_thread(score) if small else score()
        return distribution(
            arcs[back],
            None if siblings is None else siblings[back],
            batch.lengths[back],
            config=self.config,
            allowed=None if allowed is None else allowed[back],
            validate=True,
        )

    def _config(self, decoder: Decoder | None) -> Config:
        return self.config if decoder is None else replace(self.config, decoder=decoder)

    def _encoded(self, sentences: Sequence[Sentence]) -> EncodedSentences:
        check_tags(sentences, self.config)
        return encode(sentences, self.vocabulary, self.config)

    def _one_batch(
        self, encoded: EncodedSentences, constraints: list[Constraints]
    ) -> tuple[Batch, Tensor | None]:
        batch = make_batch(encoded, np.arange(len(encoded)), device=self.device)
        ordered = [constraints[row] for row in batch.rows]
        return batch, allowed_arcs(ordered, batch.grid[1], device=self.device)

    def _scores(self, batch: Batch) -> tuple[Tensor, Tensor | None]:
        """Scores of arcs and siblings whose probabilities are calibrated."""
        roles = self.scorer(batch)
        arcs, siblings = self.scorer.arcs(roles, batch), self.scorer.siblings(roles, batch)
        return tempered(arcs, siblings, self.config.temperature)

    def _parse_window(
        self, window: list[NumberedPair], config: Config, *, probs: bool = True
    ) -> list[Sentence]:
        """The trees of some sentences, computed in batches of similar length."""
        sentences = [sentence for _, (sentence, _) in window]
        constraints = [constraint for _, (_, constraint) in window]
        for number, (sentence, constraint) in window:
            if constraint:
                constraint.check(sentence, where=place_of(sentence, number))
        encoded = self._encoded(sentences)
        try:
            trees = self.decode(encoded, constraints, config=config, probs=probs)
        except (NoAllowedTreeError, TooLongError) as error:
            number, (sentence, constraint) = window[error.row]
            where = place_of(sentence, number)
            raise error.named(where, forbidden=bool(constraint.forbidden)) from None
        return self._namer.with_trees(sentences, constraints, trees)

    def decode(
        self,
        encoded: EncodedSentences,
        constraints: Sequence[Constraints],
        *,
        config: Config,
        probs: bool,
    ) -> Trees:
        """The trees of encoded sentences as numbers: what is done on the device."""
        return decode_sentences(
            self.scorer, encoded, constraints, config=config, device=self.device, probs=probs
        )


def _size_of_pair(numbered: NumberedPair) -> int:
    return len(numbered[1][0])
