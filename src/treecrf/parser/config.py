"""Every setting of a parser in one frozen dataclass; a model folder keeps it as `config.toml`."""

import difflib
import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal, get_args, get_origin

from treecrf.parser.errors import ParserError
from treecrf.parser.options import Decoder, Encoder, Loss, Nonprojective, Schedule, Tags
from treecrf.treebank.pseudoprojective import Encoding

__all__ = ["ARCHITECTURE", "Config"]


def _setting(
    default: Any, text: str, *, least: float | None = None, below: float | None = None
) -> Any:
    """A field with what a reader of `config.toml` should know of it and the range that it has."""
    return field(default=default, metadata={"text": text, "least": least, "below": below})


@dataclass(frozen=True, kw_only=True, slots=True)
class Config:
    """What to train and how; `replace` makes a changed copy, `presets.load_config` reads one."""

    loss: Loss = _setting("crf2o", "local (head selection), crf, crf2o or nonprojective")
    decoder: Decoder = _setting("auto", "mbr, viterbi or mst; auto is what suits the loss")
    nonprojective: Nonprojective = _setting(
        "pseudo", "pseudo: lift and restore crossing arcs; mst: decode any tree; none: neither"
    )
    encoding: Encoding = _setting("head+path", "the marks of pseudo-projective labels")
    min_marked: int = _setting(3, "marked labels seen less often lose their marks", least=1)
    multiroot: bool = _setting(False, "whether a sentence may have several roots")

    encoder: Encoder = _setting("bilstm", "what reads a sentence")
    transformer: str = _setting("", "folder or name of the pretrained transformer")
    mix_layers: int = _setting(4, "the last layers of it that are mixed", least=1)
    predict_upos: bool = _setting(False, "whether the parser gives universal tags as well")
    tags: Tags = _setting("none", "embed the tags of this column: none, upos or xpos")
    min_freq: int = _setting(2, "words seen less often share one vector", least=1)
    lowercase: bool = _setting(True, "word vectors ignore case; characters keep it")
    word_size: int = _setting(100, "size of a word's trained vector", least=1)
    char_embedding_size: int = _setting(50, "size of a character's vector", least=1)
    char_size: int = _setting(100, "size of what the characters of a word give", least=2)
    max_chars: int = _setting(20, "a longer word is read by its first and last characters", least=2)
    tag_size: int = _setting(100, "size of a tag's vector", least=1)
    lstm_layers: int = _setting(3, "layers of the BiLSTM; over a transformer 0 is none", least=0)
    lstm_size: int = _setting(400, "units of a layer, each direction", least=1)
    arc_size: int = _setting(500, "size of the vectors that arcs are scored from", least=1)
    label_size: int = _setting(100, "size of those for labels", least=1)
    sibling_size: int = _setting(100, "size of those for adjacent siblings", least=1)

    embedding_dropout: float = _setting(0.33, "words, characters and tags", least=0, below=1)
    encoder_dropout: float = _setting(0.33, "between layers and after the last", least=0, below=1)
    recurrent_dropout: float = _setting(0.0, "units of a layer's own state", least=0, below=1)
    transformer_dropout: float = _setting(0.1, "inside the transformer", least=0, below=1)
    mlp_dropout: float = _setting(0.33, "the vectors that are scored", least=0, below=1)

    learning_rate: float = _setting(2e-3, "at the start", least=0)
    transformer_learning_rate: float = _setting(5e-5, "of its last layer", least=0)
    layer_decay: float = _setting(0.9, "each layer below learns at this share", least=0)
    schedule: Schedule = _setting("exponential", "how the learning rate falls")
    warmup: float = _setting(0.0, "epochs in which it rises first", least=0)
    beta1: float = _setting(0.9, "of Adam", least=0, below=1)
    beta2: float = _setting(0.9, "of Adam", least=0, below=1)
    epsilon: float = _setting(1e-12, "of Adam", least=0)
    decay: float = _setting(0.75, "exponential: the learning rate is multiplied by this", least=0)
    decay_steps: int = _setting(5000, "once in so many steps, smoothly", least=1)
    clip: float = _setting(5.0, "the longest gradient; a longer one is scaled down", least=0)
    batch_tokens: int = _setting(1500, "words in a batch", least=1)
    average: float = _setting(
        0.9995, "share of the averaged weights kept each step; 0: none", least=0, below=1
    )
    epochs: int = _setting(1000, "at most so many", least=0)
    patience: int = _setting(100, "stop after so many epochs without a new best dev LAS", least=1)
    seed: int = _setting(1, "of initialisation, order and dropout", least=0, below=1e12)

    def __post_init__(self) -> None:
        for setting in fields(self):
            object.__setattr__(
                self, setting.name, _checked(setting.name, getattr(self, setting.name))
            )
        if self.lstm_layers == 0 and self.encoder == "bilstm":
            raise ParserError("lstm_layers is 0; only over a transformer there may be none")
        if self.encoder == "transformer" and not self.transformer:
            raise ParserError(
                "the encoder is a transformer and none is named: --set transformer=FOLDER_OR_NAME"
            )
        if self.char_size % 2:
            raise ParserError(
                f"char_size is {self.char_size}: half of it is each direction's, so it must be even"
            )

    @property
    def mixed_precision(self) -> bool:
        """Whether a GPU computes the encoder in half precision."""
        return self.encoder == "transformer"

    @property
    def pseudo(self) -> bool:
        """Whether crossing arcs are lifted before training and put back after decoding."""
        return self.nonprojective == "pseudo" and self.loss != "nonprojective"

    @property
    def resolved_decoder(self) -> Decoder:
        """The decoder that `auto` stands for."""
        if self.decoder != "auto":
            return self.decoder
        if self.nonprojective == "mst" and self.loss != "nonprojective":
            return "mst"
        return "viterbi" if self.loss == "local" else "mbr"

    @property
    def crossing(self) -> bool:
        """Whether the trees that are decoded may be non-projective."""
        return self.loss == "nonprojective" or self.resolved_decoder == "mst"

    @property
    def learns_projective(self) -> bool:
        """Whether the loss sums over projective trees, so that other trees cannot be learnt."""
        return self.loss in ("crf", "crf2o")

    def to_toml(self) -> str:
        """The settings as a TOML file, each with a comment that says what it is."""
        lines = ["# The settings of a treecrf model."]
        for setting in fields(self):
            value = _toml(getattr(self, setting.name))
            lines.append(f"{setting.name} = {value}  # {setting.metadata['text']}")
        return "\n".join(lines) + "\n"

    def updated(self, settings: Iterable[str]) -> "Config":
        """A copy with `key=value` settings, the values as TOML has them; a bare word is text."""
        changes: dict[str, Any] = {}
        for item in settings:
            key, equals, text = item.partition("=")
            if not equals:
                raise ParserError(f"{item!r} is not a setting: write key=value, such as epochs=10")
            changes[key.strip()] = _value(text.strip())
        return self.changed(changes)

    def changed(self, changes: Mapping[str, Any]) -> "Config":
        """A copy with these settings; an unknown name is an error that suggests the nearest."""
        known = {setting.name for setting in fields(self)}
        for key in changes:
            if key not in known:
                close = difflib.get_close_matches(key, known, 1, 0.5)
                hint = f"; did you mean {close[0]}?" if close else ""
                raise ParserError(f"there is no setting {key!r}{hint}")
        return replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """The settings by name, as JSON can hold them."""
        return asdict(self)


ARCHITECTURE = (
    "encoder",
    "mix_layers",
    "predict_upos",
    "tags",
    "lowercase",
    "word_size",
    "char_embedding_size",
    "char_size",
    "max_chars",
    "tag_size",
    "lstm_layers",
    "lstm_size",
    "arc_size",
    "label_size",
    "sibling_size",
)
"""The settings that weights depend on: a model that goes on from another one has the same."""


def _checked(name: str, value: Any) -> Any:
    """The value of a setting, or an error that says what it may be."""
    setting = Config.__dataclass_fields__[name]
    kind: Any = setting.type
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise ParserError(f"{name} is {value!r}; it is one of: {', '.join(get_args(kind))}")
        return value
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if type(value) is not kind:
        names = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
        raise ParserError(f"{name} is {value!r}; it is {names[kind]}")
    least, below = setting.metadata["least"], setting.metadata["below"]
    if (least is not None and not value >= least) or (below is not None and not value < below):
        limit = f"at least {least:g}" if below is None else f"from {least:g} to below {below:g}"
        raise ParserError(f"{name} is {value}; it is {limit}")
    return value


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    # A string of JSON is one of TOML.
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
