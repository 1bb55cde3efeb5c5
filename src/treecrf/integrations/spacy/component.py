"""The spaCy component `treecrf`: heads, relations and sentence starts on spaCy's own tokens.

spaCy imports this with any pipeline, once treecrf is installed, so it loads no network.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, cast

import numpy as np

import treecrf
from treecrf.extras import needs_extra
from treecrf.integrations.spacy.noun_chunks import noun_chunks
from treecrf.integrations.spacy.sentences import SpacySentence, sentences_of, set_sentence_starts
from treecrf.parser.bundled import BUNDLED, DEFAULT, model_folder
from treecrf.parser.choices import Decoder
from treecrf.parser.errors import ParserError

with needs_extra("spacy", "treecrf in spaCy"):
    import srsly
    from spacy.attrs import DEP, HEAD
    from spacy.language import Language
    from spacy.parts_of_speech import IDS as UNIVERSAL_TAGS
    from spacy.tokens import Doc, Token

if TYPE_CHECKING:
    from treecrf.parser import Parser
    from treecrf.treebank import Sentence

__all__ = ["TreeCRFComponent", "make_treecrf"]

_ROOT = "ROOT"  # as spaCy calls what Universal Dependencies call root
_SPACE = "dep"  # as in spaCy, of white space
_PROB = "head_prob"
_ANNOTATIONS = {"upos": "POS", "xpos": "TAG", "feats": "MORPH", "lemma": "LEMMA"}


@Language.factory(
    "treecrf",
    assigns=[
        *("token.head", "token.dep", "token.is_sent_start", "doc.sents"),
        # Of models that predict them.
        *("token.pos", "token.tag", "token.morph", "token.lemma", f"token._.{_PROB}"),
    ],
    default_config={"model": None, "device": "auto", "decoder": None},
)
def make_treecrf(
    nlp: Language, name: str, model: str | None, device: str, decoder: Decoder | None
) -> "TreeCRFComponent":
    """Make the component; `model` is a folder, or the name of a model that comes with treecrf."""
    if model is None and nlp.lang != DEFAULT:
        raise ParserError(
            f"this pipeline is for {type(nlp).__name__} ({nlp.lang}), and the model that comes "
            f"with treecrf for English ({DEFAULT}): give a model of your own, "
            f"config={{'model': FOLDER}}, or config={{'model': '{DEFAULT}'}} if English is meant"
        )
    # For Docs that are read from disk, too. spaCy's own yield numbers as well; its types do not.
    nlp.vocab.get_noun_chunks = cast(Any, noun_chunks)
    component = TreeCRFComponent(model, name=name, device=device, decoder=decoder)
    if model is not None and Path(model).exists():
        component.parser  # noqa: B018  # what is wrong with it is told at once
    return component


class TreeCRFComponent:
    """Parses Docs with the model of a folder; without one, with the English model of treecrf.

    The model is loaded when first needed: a pipeline that is loaded from disk has one of its own.
    """

    def __init__(
        self,
        model: str | None,
        *,
        name: str = "treecrf",
        device: str = "auto",
        decoder: Decoder | None = None,
    ) -> None:
        self.model, self.name = model, name
        self.device, self.decoder = device, decoder
        self._parser: Parser | None = None
        self._carried = False  # whether the model came with the pipeline, not by its name
        if not Token.has_extension(_PROB):
            Token.set_extension(_PROB, default=None)

    @property
    def parser(self) -> "Parser":
        """The parser, loaded when it is first needed."""
        if self._parser is None:
            self._parser = treecrf.load(self.model, device=self.device)
        return self._parser

    def __call__(self, doc: Doc) -> Doc:
        """Parse a Doc in place."""
        self._parse([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Parse the Docs of a stream, `batch_size` at a time."""
        waiting = iter(stream)
        while docs := list(islice(waiting, batch_size)):
            self._parse(docs)
            yield from docs

    def _parse(self, docs: Sequence[Doc]) -> None:
        parser = self.parser
        docs = [doc for doc in docs if len(doc)]
        set_sentence_starts(docs, parser)
        found = [sentences_of(doc, parser.config.tags) for doc in docs]
        given = [sentence.words for of_doc in found for sentence in of_doc if sentence.words]
        parsed = iter(parser.parse_tokens(given, decoder=self.decoder))
        for doc, sentences in zip(docs, found, strict=True):
            self._set_trees(doc, [(s, next(parsed) if s.words else None) for s in sentences])

    def _set_trees(
        self, doc: Doc, trees: "Sequence[tuple[SpacySentence, Sentence | None]]"
    ) -> None:
        """Give a Doc trees; a sentence without one is all white space."""
        heads = np.arange(len(doc))
        deps = [_SPACE] * len(doc)
        given = {name: doc.has_annotation(annotation) for name, annotation in _ANNOTATIONS.items()}
        predicted = [name for name in self.parser.config.predict if not given[name]]
        for sentence, tree in trees:
            places = sentence.places
            for space, place in sentence.spaces.items():
                heads[space] = place
            if tree is None:
                deps[sentence.spaces[sentence.start]] = _ROOT
                continue
            root = places[tree.heads.index(0)]
            words = zip(places, tree.heads, tree.deprels, tree.probs or [], strict=True)
            for place, head, deprel, prob in words:
                # spaCy has one root a sentence: those after the first hang on it.
                heads[place] = places[head - 1] if head else root
                deps[place] = _ROOT if place == root else deprel
                doc[place]._.set(_PROB, prob)
            for name in predicted:
                for place, cell in zip(places, tree.column(name), strict=True):
                    _set_column(doc[place], name, cell)
        numbers = np.array([doc.vocab.strings.add(dep) for dep in deps], np.uint64)
        # Sentences start where trees do.
        relative = (heads - np.arange(len(doc))).astype(np.uint64)
        doc.from_array([HEAD, DEP], cast(Any, np.stack((relative, numbers), 1)))
        doc.noun_chunks_iterator = noun_chunks  # type: ignore[attr-defined]

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the model into a folder, unless it is one that comes with treecrf."""
        if not self._is_bundled:
            self.parser.save(path)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "TreeCRFComponent":
        """Take the model of a folder; where there is none, that of the configuration stays."""
        if Path(path).exists():
            self.model, self._parser, self._carried = str(path), None, True
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The files of the model; none of one that comes with treecrf."""
        if self._is_bundled:
            return b""
        with TemporaryDirectory() as name:
            folder = Path(name, "model")
            self.parser.save(folder)
            files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
            content = {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
        return cast(bytes, srsly.msgpack_dumps(content))

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "TreeCRFComponent":
        """Take the model of these files; where there are none, that of the configuration stays."""
        if not data:
            return self
        with TemporaryDirectory() as name:
            for file, content in srsly.msgpack_loads(data).items():
                path = Path(name, file).resolve()
                if not path.is_relative_to(Path(name).resolve()):
                    raise ValueError(f"these are no files of a model: {file!r} lies outside of it")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            self._parser = treecrf.load(name, device=self.device)
            if self._parser.has_segmenter:
                self._parser.segmenter  # noqa: B018  # now: the folder goes
        self._carried = True
        return self

    @property
    def _is_bundled(self) -> bool:
        return not self._carried and model_folder(self.model).is_relative_to(BUNDLED)


def _set_column(token: Token, name: str, cell: str) -> None:
    """Give a token of spaCy what a column of CoNLL-U says."""
    if name == "upos":
        token.pos_ = cell if cell in UNIVERSAL_TAGS else "X"
    elif name == "feats":
        cast(Any, token).set_morph("" if cell == "_" else cell)
    elif name == "xpos":
        token.tag_ = cell
    else:
        token.lemma_ = cell
