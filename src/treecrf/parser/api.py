"""The parser that users hold: words in, trees with probabilities out, one sentence or a stream."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeVar, overload

import numpy as np
import torch

from treecrf.parser.arguments import (
    Words,
    as_sentences,
    as_text,
    check_text,
    checked_count,
    place_of,
)
from treecrf.parser.batching.batch import allowed_arcs, make_batch
from treecrf.parser.batching.encoding import EncodedSentences, check_tags, encode_words
from treecrf.parser.batching.words import SentenceTable, WordTable
from treecrf.parser.bundled import model_folder
from treecrf.parser.choices import Decoder, Precision
from treecrf.parser.constraints import (
    NO_CONSTRAINTS,
    Constraints,
    constraints_from,
    make_constraints,
)
from treecrf.parser.decoding.batches import decode_sentences, is_small_grid
from treecrf.parser.decoding.decoder import NoAllowedTreeError
from treecrf.parser.decoding.sentences import Analysis
from treecrf.parser.decoding.trees import Trees
from treecrf.parser.device import fast_products
from treecrf.parser.errors import ParserError
from treecrf.parser.estimates import TooLongError, check_lists
from treecrf.parser.files.documents import parse_documents
from treecrf.parser.files.language import LanguageCheck
from treecrf.parser.files.pipeline import WINDOW_WORDS, pipelined, windows
from treecrf.parser.folder import load_settings, load_vectors, load_weights
from treecrf.parser.model import Model
from treecrf.parser.network.loss import TreeCRF, TreeScores
from treecrf.threads import run_on_one_thread
from treecrf.treebank import Document, Sentence

__all__ = ["Parser", "load"]

# Characters of a text that is cut and parsed in one go, without threads that read ahead.
_SHORT_TEXT = 600

Context = TypeVar("Context")

Pair = tuple[Sentence, Constraints]
"""A sentence and its constraints."""


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


class Parser(Model):
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

    def parse(self, text: str) -> Document:
        """The trees of raw text, cut into sentences and words first.

        As with `pipe` and `parse_text`, a `LanguageWarning` tells of 20 words or more that are not
        in the language of the model, if its settings say one.
        """
        check_text(text)
        if len(text) <= _SHORT_TEXT and self.device.type == "cpu":
            parsed = run_on_one_thread(lambda: self.parse_tokens(self._cut([text])))
            return Document(parsed, text=text)
        return Document(self.parse_text([text]), text=text)

    @overload
    def pipe(
        self,
        texts: Iterable[str],
        *,
        as_tuples: Literal[False] = False,
        batch_size: int | None = None,
        probs: bool = True,
    ) -> Iterator[Document]: ...
    @overload
    def pipe(
        self,
        texts: Iterable[tuple[str, Context]],
        *,
        as_tuples: Literal[True],
        batch_size: int | None = None,
        probs: bool = True,
    ) -> Iterator[tuple[Document, Context]]: ...
    def pipe(
        self,
        texts: Iterable[Any],
        *,
        as_tuples: bool = False,
        batch_size: int | None = None,
        probs: bool = True,
    ) -> Iterator[Any]:
        """The documents of many raw texts, in their order; memory stays bounded.

        Texts are parsed together: at most `batch_size` of them, else as many as suit the device.
        With `as_tuples`, pairs (text, context) become pairs (document, context). A string or whole
        number as context is the document's `id`; a mapping is its `meta`, and its "id" the `id`.
        """
        pairs = parse_documents(
            self, texts, as_tuples=as_tuples, batch_size=batch_size, probs=probs
        )
        return pairs if as_tuples else (document for document, _ in pairs)

    def parse_text(
        self, pieces: Iterable[str], *, decoder: Decoder | None = None, probs: bool = True
    ) -> Iterator[Sentence]:
        """The trees of raw text that comes in pieces of any size; memory stays bounded."""
        return self.parse_stream(self._cut(as_text(pieces)), decoder=decoder, probs=probs)

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
        pairs = zip(given, make_constraints(len(given), constraints, forbidden), strict=True)
        parsed: list[Sentence] = []
        for window in windows(pairs, size=_words, first=WINDOW_WORDS):  # nobody waits for the first
            parsed += self._parse_window(window, decoder, first=len(parsed) + 1, probs=probs)
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

        With `keep_heads`, the heads and relations that sentences have already are kept. Reading the
        input and using the output go on while the device computes.
        """
        given = as_sentences(sentences)
        pairs = ((one, constraints_from(one) if keep_heads else NO_CONSTRAINTS) for one in given)
        done = 0

        def work(window: list[Pair]) -> list[Sentence]:
            nonlocal done
            parsed = self._parse_window(window, decoder, first=done + 1, probs=probs)
            done += len(parsed)
            return parsed

        for parsed in pipelined(windows(pairs, size=_words), work):
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
        trees = self.decode(SentenceTable([sentence]), [constraint], topk=[checked_count(k)]).best
        assert trees is not None
        assert trees[0] is not None
        return self.namer.ranked(sentence, constraint, trees[0])

    def analyse(
        self,
        sentences: Sequence[Sentence],
        constraints: Sequence[Constraints] | None = None,
        *,
        topk: Sequence[int] | None = None,
    ) -> list[Analysis]:
        """The trees of sentences under their constraints, with marginals and entropies.

        `topk` says how many of the best trees to list for each sentence; 0 is no list.
        """
        if constraints is None:
            constraints = [NO_CONSTRAINTS] * len(sentences)
        if topk is not None:
            topk = [k and checked_count(k) for k in topk]
        trees = self.decode(SentenceTable(sentences), constraints, details=True, topk=topk)
        return self.namer.analyses(sentences, constraints, trees)

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
        if not given:
            raise ParserError("there is no sentence")
        encoded = self._encode(SentenceTable(given), made, first=1)
        batch = make_batch(encoded, np.arange(len(given)), device=self.device)
        back = torch.from_numpy(np.argsort(batch.rows)).to(self.device)

        def score() -> TreeScores:
            scores = TreeScores.of(self.scorer, self.scorer(batch), batch, config=self.config)
            return scores.tempered(self.config.temperature)

        with torch.no_grad(), fast_products():
            small = is_small_grid(batch.grid, self.device)
            scores = run_on_one_thread(score) if small else score()
        return scores.change(lambda part: part[back]).distribution(
            batch.lengths[back],
            config=self.config,
            allowed=allowed_arcs(made, batch.grid[1], device=self.device),
            validate=True,
        )

    def _cut(self, pieces: Iterable[str]) -> Iterator[Sentence]:
        """The sentences of raw text, with a warning if they are not in the model's language."""
        return LanguageCheck(self.language).watch_all(self.segmenter.segment_stream(pieces))

    def _parse_window(
        self, window: list[Pair], decoder: Decoder | None, *, first: int, probs: bool
    ) -> list[Sentence]:
        """The trees of some sentences, of which the first has this number in messages."""
        sentences = [sentence for sentence, _ in window]
        constraints = [constraint for _, constraint in window]
        words = SentenceTable(sentences)
        trees = self.decode(words, constraints, decoder=decoder, first=first, probs=probs)
        return self.namer.with_trees(sentences, constraints, trees)

    def _encode(
        self, words: WordTable, constraints: Sequence[Constraints], *, first: int | None = None
    ) -> EncodedSentences:
        """Check sentences and their constraints, and turn words into numbers."""
        for row, constraint in enumerate(constraints):
            if constraint:
                sentence = words.sentence(row)
                constraint.check(sentence, where=place_of(sentence, row, first))
        check_tags(words, self.config)
        return encode_words(words, self.vocabulary, self.config)

    def decode(
        self,
        words: WordTable,
        constraints: Sequence[Constraints],
        *,
        decoder: Decoder | None = None,
        first: int | None = None,
        probs: bool = False,
        details: bool = False,
        topk: Sequence[int] | None = None,
    ) -> Trees:
        """The trees of sentences; errors name the sentence, by its number if `first` is given."""
        config = self.config if decoder is None else replace(self.config, decoder=decoder)
        for row, k in enumerate(topk or ()):
            if k:
                check_lists(words.sentence(row), k, self.config)
        try:
            return decode_sentences(
                self.scorer,
                self._encode(words, constraints, first=first),
                constraints,
                config=config,
                device=self.device,
                probs=probs,
                details=details,
                topk=topk,
            )
        except (NoAllowedTreeError, TooLongError) as error:
            where = place_of(words.sentence(error.row), error.row, first)
            raise error.named(where, forbidden=bool(constraints[error.row].forbidden)) from None


def _words(pair: Pair) -> int:
    return len(pair[0])
