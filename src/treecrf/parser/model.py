"""A trained model in memory: its settings, vocabulary, network and segmenter."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from treecrf.nn.int8.convert import use_byte_products
from treecrf.nn.int8.linear import has_byte_products
from treecrf.nn.onednn.convert import use_packed_products
from treecrf.nn.onednn.linear import has_packed_products
from treecrf.ops.backend import obstacle
from treecrf.parser.config import Config
from treecrf.parser.decoding.sentences import TreeNamer
from treecrf.parser.decoding.states import word_states
from treecrf.parser.device import choose_device
from treecrf.parser.errors import ParserError
from treecrf.parser.estimates import make_blank
from treecrf.parser.folder import save_model
from treecrf.parser.network.pretrained import Pretrained
from treecrf.parser.network.scorer import Network, Scorer
from treecrf.parser.vocab import Vocabulary
from treecrf.segment.segmenter import Segmenter, has_segmenter
from treecrf.segment.sentence_ends import WordReader
from treecrf.storage import misfit

__all__ = ["Model"]


class Model:
    """The part of a `Parser` that is in its folder; see there for the arguments."""

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
        self.namer = TreeNamer(vocabulary, config)
        self.scorer: Network
        if network is not None:
            self.scorer = network
            return
        make = partial(Scorer, config, vocabulary.sizes, vectors=vectors, pretrained=pretrained)
        where = "" if folder is None else f"{folder}: "
        # No time goes into numbers that are replaced at once.
        scorer = make_blank(make, where)
        weights = dict(weights)
        for name, blank in scorer.state_dict().items():
            if name.startswith("lemma_tags."):  # models that are older have none: they add nothing
                weights.setdefault(name, torch.zeros(blank.shape))
        _assign(scorer, weights, where)
        if pretrained is not None and not pretrained.native:
            scorer = make()  # encoders of transformers have numbers that no file has
            _assign(scorer, weights, where)
        if self.device.type == "cpu":
            if config.precision == "int8" and has_byte_products():
                use_byte_products(scorer)
            elif has_packed_products() and obstacle("numba", self.device) is None:
                use_packed_products(scorer)
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
        save_model(
            Path(path),
            self.config,
            self.vocabulary,
            self.scorer.state_dict(),
            vectors=self._vectors,
            pretrained=self._pretrained,
            # Loaded now: the folder may be the one that is replaced.
            segmenter=self.segmenter if self.has_segmenter else None,
        )

    @property
    def language(self) -> str:
        """The language of the texts that the model is for; empty where its settings say none."""
        return self.config.language

    @property
    def has_segmenter(self) -> bool:
        """Whether the model can cut raw text."""
        return self._segmenter is not None or (
            self._folder is not None and has_segmenter(self._folder)
        )

    @property
    def segmenter(self) -> Segmenter:
        """The segmenter of the model, which cuts raw text into sentences and words."""
        if self._segmenter is None:
            if self._folder is None or not self.has_segmenter:
                raise ParserError(
                    "this model has no segmenter for raw text: train one with `treecrf train "
                    "--segmenter`, or give it words"
                )
            self._segmenter = Segmenter.load(self._folder, device=self.device)
            self._lend_encoder(self._segmenter)
        return self._segmenter

    def word_reader(self) -> WordReader | None:
        """Reads words with the encoder; None if this model needs more than words, or is a graph."""
        if not isinstance(self.scorer, Scorer) or self.config.tags != "none":
            return None
        return partial(
            word_states,
            self.scorer,
            vocabulary=self.vocabulary,
            config=self.config,
            device=self.device,
        )

    def _lend_encoder(self, segmenter: Segmenter) -> None:
        """Let a segmenter that was trained to do so ask the encoder about sentence ends."""
        ends, reader = segmenter.end_scorer, self.word_reader()
        if ends is None or reader is None:
            return
        assert isinstance(self.scorer, Scorer)
        if ends.features != self.scorer.reader.size:
            raise ParserError(
                f"{self._folder}: the segmenter was trained with another encoder; train one with "
                "`treecrf train --segmenter`"
            )
        segmenter.read_words = reader


def _assign(scorer: Scorer, weights: Mapping[str, Tensor], where: str) -> None:
    try:
        scorer.load_state_dict(weights, assign=True)
    except RuntimeError as error:
        raise ParserError(
            f"{where}damaged: the weights do not fit the settings and the vocabulary "
            f"({misfit(error)})"
        ) from None
