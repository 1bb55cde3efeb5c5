"""Documents: the sentences of one text, with its id and whatever else is known of it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from treecrf.treebank.drawing.notebook import DrawnInNotebooks
from treecrf.treebank.files.text import SentenceIds
from treecrf.treebank.sentence import Sentence
from treecrf.treebank.tokens import shortened

__all__ = ["Document", "newdoc_comment", "with_document_ids"]

_NEWDOC = re.compile(r"#\s*newdoc(?:\s+id\s*=\s*(.*?))?\s*$")


class Document(DrawnInNotebooks, list[Sentence]):
    """The sentences of one text: a list of them, with the text and what is known of it.

    Args:
        sentences: The sentences, in order.
        text: The text that they were cut from; the offsets of words count its characters.
        id: The name of the document, which `to_conllu` writes as `# newdoc id = ...`.
        meta: Anything else that goes with it, such as an author or a date.

    Examples:
        >>> import treecrf
        >>> doc = treecrf.load(device="cpu").parse("She reads. He sleeps.")
        >>> doc
        <Document: 2 sentences, 6 words: She reads. He sleeps.>
        >>> [sentence.heads for sentence in doc]
        [[2, 0, 2], [2, 0, 2]]
        >>> token = doc[1].tokens[0]
        >>> token.form, token.deprel, doc.text[token.start : token.end]
        ('He', 'nsubj', 'He')
    """

    __slots__ = ("_text", "id", "meta")

    id: str | None
    meta: dict[str, Any]

    def __init__(
        self,
        sentences: Iterable[Sentence] = (),
        *,
        text: str | None = None,
        id: str | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(sentences)
        self._text = text
        self.id = id
        self.meta = dict(meta or {})

    @property
    def sentences(self) -> list[Sentence]:
        """The sentences: the document itself."""
        return self

    @property
    def text(self) -> str:
        """The text that was cut; without one, the texts of the sentences with spaces between."""
        if self._text is not None:
            return self._text
        return " ".join(sentence.text for sentence in self)

    def to_conllu(self) -> str:
        """The lines of all sentences; the first has the comment `# newdoc`, and each a sent_id."""
        return "".join(sentence.to_conllu() for sentence in self._named())

    def to_dict(self) -> dict[str, Any]:
        """The document as JSON can hold it, each sentence with a sent_id."""
        sentences = [sentence.to_dict() for sentence in self._named()]
        return {"id": self.id, "text": self.text, "meta": self.meta, "sentences": sentences}

    def _named(self) -> Iterator[Sentence]:
        """Copies of the sentences; those without a sent_id have the document's id and a number."""
        ids = SentenceIds()
        for number, sentence in enumerate(self):
            copied = sentence.copy()
            others = [comment for comment in copied.comments if not _NEWDOC.match(comment)]
            if number == 0 and (self.id is not None or others == copied.comments):
                copied.comments = [newdoc_comment(self.id), *others]
            yield ids.give(copied)

    def __repr__(self) -> str:
        name = "" if self.id is None else f" {self.id!r}"
        sentences, words = len(self), sum(map(len, self))
        counts = f"{sentences} sentence{'s' * (sentences != 1)}, {words} word{'s' * (words != 1)}"
        return f"<Document{name}: {counts}: {shortened(self.text)}>"


def newdoc_comment(id: str | None) -> str:
    """The comment before the first sentence of a document in CoNLL-U."""
    name = " ".join((id or "").split())
    return f"# newdoc id = {name}" if name else "# newdoc"


def with_document_ids(sentences: Iterable[Sentence]) -> Iterator[tuple[str | None, Sentence]]:
    """Sentences with the ids of their documents, which `# newdoc id = ...` says of the first."""
    id: str | None = None
    for sentence in sentences:
        for comment in sentence.comments:
            if match := _NEWDOC.match(comment):
                id = match[1] or None
        yield id, sentence
