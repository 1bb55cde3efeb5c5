"""Requests and answers of `/api/parse` and `/api/models`, as OpenAPI describes them."""

from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

__all__ = [
    "LONGEST_RANKED",
    "Error",
    "Many",
    "Model",
    "Models",
    "ParseRequest",
    "ParseResponse",
    "Text",
    "encodable",
]

# More trees than these nobody reads, and each costs.
MOST_TREES = 50
# Words of a sentence whose best trees are listed: longer ones take seconds.
LONGEST_RANKED = 150
# Names in an object, of parameters and of words: pydantic tells of every one that is wrong, which
# for a body of a megabyte of them takes seconds, and nobody is answered meanwhile.
_MOST_PARAMETERS = 50
_MOST_WORDS = 10_000
_MOST_TEXTS = 10_000

Value = TypeVar("Value")


def encodable(text: str) -> str:
    """An error for halves of characters: JSON can hold them, but no answer."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = ascii(text[error.start])
        raise ValueError(f"character {error.start + 1} is half a character ({half})") from None
    return text


def _few_words(value: Any) -> Any:
    if isinstance(value, dict) and len(value) > _MOST_WORDS:
        raise ValueError(f"it is about {len(value):,} words, and may be about {_MOST_WORDS:,}")
    return value


class _FailFast:
    """`pydantic.FailFast` for lists that are part of a union."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return {**handler(source), "fail_fast": True}


Text = Annotated[str, AfterValidator(encodable)]
# A list that is read up to the first item that is wrong.
Many = Annotated[list[Value], _FailFast()]
ByWord = Annotated[dict[int, Value | None], BeforeValidator(_few_words)]


class ParseRequest(BaseModel):
    """A text, texts or words to parse, one of them, and what to say of the trees."""

    model_config = ConfigDict(
        extra="forbid",  # a misspelt name would be an option that silently does nothing
        json_schema_extra={
            "oneOf": [
                {"required": ["text"], "properties": {"text": {"type": "string"}}},
                {"required": ["texts"], "properties": {"texts": {"type": "array"}}},
                {"required": ["tokens"], "properties": {"tokens": {"type": "array"}}},
            ],
            "examples": [
                {"text": "I saw Sarah with a telescope."},
                {"texts": ["I saw her.", "She saw me. I left."]},
                {"tokens": [["I", "saw", "her"]], "constraints": [{"3": 2}], "topk": 3},
            ],
        },
    )

    model: Text | None = Field(None, description="A name of `/api/models`; else the default.")
    text: Text | None = Field(
        None,
        description="Raw text. A model without a segmenter takes it as a sentence a line with "
        "spaces between the words.",
    )
    texts: Many[Text] | None = Field(
        None,
        max_length=_MOST_TEXTS,
        description="Several raw texts; the answer has `documents`, one for each, in their order.",
    )
    tokens: Many[Many[str]] | None = Field(None, description="Sentences that are split into words.")
    marginals: bool = Field(False, description="Give the probability of every arc.")
    topk: int | None = Field(
        None,
        ge=1,
        le=MOST_TREES,
        description="Give so many of the best trees of each sentence, which may have up to "
        f"{LONGEST_RANKED} words.",
    )
    constraints: Many[ByWord[int] | None] | None = Field(
        None,
        description="An object for each sentence: the head that a word must have, by the number "
        "of the word. Words are numbered from 1; head 0 is the root; null is no constraint.",
    )
    labels: Many[ByWord[Text] | None] | None = Field(
        None,
        description="An object for each sentence: the relation that a word must have, by the "
        "number of the word; null is no constraint.",
    )
    alternatives: int = Field(
        5, ge=0, le=100, description="How many heads and relations to list for each word."
    )

    @model_validator(mode="before")
    @classmethod
    def _few_parameters(cls, values: Any) -> Any:
        if isinstance(values, dict) and len(values) > _MOST_PARAMETERS:
            raise ValueError(f"the object has {len(values):,} parameters; /docs lists those known")
        return values

    @model_validator(mode="after")
    def _one_of_three(self) -> "ParseRequest":
        if [self.text, self.texts, self.tokens].count(None) != 2:
            raise ValueError("give `text`, `texts` or `tokens`, one of them")
        return self


class Head(BaseModel):
    """A head that a word might have."""

    head: int
    prob: float


class Relation(BaseModel):
    """A relation that a word might have."""

    deprel: str
    prob: float


class ParsedToken(BaseModel):
    """A word with its head, relation and other columns, and how sure the model is of them."""

    id: int
    form: str
    lemma: str | None = Field(description="Null where it is not known, as in the other columns.")
    upos: str | None
    xpos: str | None
    feats: dict[str, str] | None
    head: int
    deprel: str
    prob: float = Field(description="Of the head.")
    deprel_prob: float = Field(description="Of the relation, given the head.")
    upos_prob: float | None = Field(description="Of `upos`; null if the model predicts no tags.")
    fixed: bool = Field(description="Whether a constraint says what its head is.")
    start: int | None = Field(
        description="Where it starts in the text that was given, in Unicode code points; null of "
        "words that were given as such. Words of a multiword token have its place."
    )
    end: int | None = Field(description="Where it ends.")
    heads: list[Head] = Field(description="The most probable ones, best first.")
    deprels: list[Relation] = Field(
        description="The most probable relations given the head, best first."
    )


class WrittenMultiword(BaseModel):
    """A multiword token: how it is written, and its first and last word."""

    first: int
    last: int
    form: str


class Best(BaseModel):
    """One of the best trees."""

    heads: list[int]
    deprels: list[str]
    deprel_probs: list[float] = Field(description="Of each relation, given the head.")
    log_prob: float | None


class ParsedSentence(BaseModel):
    """A sentence with its tree."""

    text: str
    tokens: list[ParsedToken]
    multiwords: list[WrittenMultiword]
    log_prob: float | None = Field(
        description="Of the tree; null of a tree that crosses and the model cannot weigh."
    )
    entropy: float | None = Field(
        description="Of the distribution over trees, in nats; null of sentences of more than 150 "
        "words that a model with siblings parsed."
    )
    marginals: list[list[float]] | None = Field(
        None,
        description="If asked for: a row for the root symbol and each word, and in it the "
        "probability of each head, 0 first.",
    )
    best: list[Best] | None = Field(None, description="If asked for.")
    conllu: str


class ParsedText(BaseModel):
    """The trees of one of several texts."""

    sentences: list[ParsedSentence]


class ParseResponse(BaseModel):
    """The trees, and the model that gave them."""

    model: str
    sentences: list[ParsedSentence] | None = Field(None, description="Of `text` or `tokens`.")
    documents: list[ParsedText] | None = Field(None, description="Of `texts`, one for each.")


class Model(BaseModel):
    """A model that is served."""

    name: str
    labels: list[str]
    segmenter: bool = Field(description="Whether it cuts raw text.")
    language: str = Field(description="Of its texts, such as `en`; empty where it is not known.")


class Models(BaseModel):
    """The models that are served, and which one is taken where a request names none."""

    models: list[Model]
    default: str


class Error(BaseModel):
    """An error, and what to do about it."""

    detail: str
