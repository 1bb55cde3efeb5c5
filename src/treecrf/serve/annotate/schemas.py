"""Decisions as the page of annotation sends them."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from treecrf.serve.annotate.decisions import Record, State
from treecrf.serve.annotate.words import WrittenToken, tokens_of
from treecrf.serve.checks import check_cell
from treecrf.serve.errors import ServeError
from treecrf.serve.parse.schemas import Many, Text
from treecrf.treebank import Sentence

__all__ = ["Decision"]

_LONGEST_COMMENT = 2_000
_LONGEST_LABEL = 200
_MOST_WORDS = 100  # of a multiword token

Label = Annotated[Text, Field(max_length=_LONGEST_LABEL)]
"""A relation or a tag."""


def _without_blanks(labels: dict[int, str]) -> dict[int, str]:
    """Remove `_`, which is no relation: a model that knows none gives it to all words."""
    return {word: label for word, label in labels.items() if label != "_"}


def _in_one_line(text: object) -> object:
    """Put text into one line: a comment of CoNLL-U is one."""
    return " ".join(text.split()) if isinstance(text, str) else text


class TokenOfText(BaseModel):
    """A token of the text."""

    model_config = ConfigDict(extra="forbid")

    form: Text
    words: Many[Text] = Field(
        [], max_length=_MOST_WORDS, description="Of a multiword token; else none."
    )


class Decision(BaseModel):
    """All that is decided about a sentence, and what the sender takes the file to have of it."""

    model_config = ConfigDict(extra="forbid")

    heads: dict[int, int] = Field(description="Confirmed heads by word; 0 is the root.")
    labels: Annotated[dict[int, Label], AfterValidator(_without_blanks)] = Field(
        description="Confirmed relations of those words; `_` is none."
    )
    state: State
    tags: Annotated[dict[int, Label], AfterValidator(_without_blanks)] = Field(
        {}, description="Corrected universal tags by word; `_` is none."
    )
    tokens: Many[TokenOfText] | None = Field(
        None, description="Corrected tokens of the same text; null for those of the corpus."
    )
    comment: Annotated[Text, BeforeValidator(_in_one_line)] = Field(
        "", max_length=_LONGEST_COMMENT, description="A remark, kept as one line."
    )
    flag: bool = Field(False, description="Whether somebody should look at the sentence again.")
    key: str = Field(description="That of the sentence, as it was given with it.")
    version: Text = Field(min_length=1, description="A name for this decision that no other has.")
    known: Many[str] = Field(
        description="The versions that the file may have of it: those that were given last, and "
        "those that were sent since. If it has another one, somebody has decided meanwhile, and "
        "that is kept."
    )

    def record(self, sentence: Sentence) -> Record:
        """The decisions about this sentence of the corpus; heads and tokens are not checked yet."""
        if extra := sorted(self.labels.keys() - self.heads.keys()):
            problem = f"word {extra[0]} has a relation but no head"
            raise ServeError(422, f"{problem}; confirm the arc with it")
        for word, tag in self.tags.items():
            check_cell(tag, f"the tag of word {word}", kind="tag")
        if self.comment:
            check_cell(self.comment, "the comment", kind="comment")
        tokens = None
        if self.tokens is not None:
            for number, token in enumerate(self.tokens, 1):
                for form in (token.form, *token.words):
                    check_cell(form, f"token {number}", kind="word")
            given = (WrittenToken(token.form, tuple(token.words)) for token in self.tokens)
            tokens = tuple(given)
        return Record(
            self.heads,
            self.labels,
            self.state,
            tags=self.tags,
            tokens=None if tokens == tokens_of(sentence) else tokens,
            comment=self.comment,
            flag=self.flag,
        )
