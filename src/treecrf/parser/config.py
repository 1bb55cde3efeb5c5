"""Every setting of a parser in one frozen dataclass; a model folder keeps it as `config.toml`."""

from dataclasses import dataclass

from treecrf.parser.errors import ParserError
from treecrf.parser.options import (
    Decoder,
    Encoder,
    Loss,
    Nonprojective,
    Products,
    RecurrentMask,
    Schedule,
    Tags,
)
from treecrf.settings import Settings, setting
from treecrf.treebank.metrics.options import Punctuation
from treecrf.treebank.pseudoprojective import Encoding

__all__ = ["ARCHITECTURE", "Config"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Config(Settings):
    """What to train and how; `replace` makes a changed copy, `presets.load_config` reads one."""

    error = ParserError

    loss: Loss = setting("crf2o", "local (head selection), crf, crf2o or nonprojective")
    decoder: Decoder = setting("auto", "mbr, viterbi or mst; auto is what suits the loss")
    nonprojective: Nonprojective = setting(
        "pseudo", "pseudo: lift and restore crossing arcs; mst: decode any tree; none: neither"
    )
    encoding: Encoding = setting("head+path", "the marks of pseudo-projective labels")
    min_marked: int = setting(3, "marked labels seen less often lose their marks", least=1)
    multiroot: bool = setting(False, "whether a sentence may have several roots")

    temperature: float = setting(
        1.0, "arc and sibling scores are divided by it for probabilities", least=1e-3
    )

    encoder: Encoder = setting("bilstm", "what reads a sentence")
    transformer: str = setting("", "folder or name of the pretrained transformer")
    mix_layers: int = setting(4, "the last layers of it that are mixed", least=1, below=1001)
    products: Products = setting(
        "float32", "of a network on a CPU; int8 is faster where the CPU has VNNI"
    )
    predict_upos: bool = setting(False, "whether the parser gives universal tags as well")
    tags: Tags = setting("none", "embed the tags of this column: none, upos or xpos")
    min_freq: int = setting(2, "words seen less often share one vector", least=1)
    lowercase: bool = setting(True, "word vectors ignore case; characters keep it")
    word_size: int = setting(100, "size of a word's trained vector", least=1)
    char_embedding_size: int = setting(50, "size of a character's vector", least=1)
    char_size: int = setting(100, "size of what the characters of a word give", least=2)
    max_chars: int = setting(
        20, "a longer word is read by its first and last characters", least=2, below=1001
    )
    tag_size: int = setting(100, "size of a tag's vector", least=1)
    lstm_layers: int = setting(
        3, "layers of the BiLSTM; over a transformer 0 is none", least=0, below=1001
    )
    lstm_size: int = setting(400, "units of a layer, each direction", least=1)
    arc_size: int = setting(500, "size of the vectors that arcs are scored from", least=1)
    label_size: int = setting(100, "size of those for labels", least=1)
    sibling_size: int = setting(100, "size of those for adjacent siblings", least=1)

    embedding_dropout: float = setting(0.33, "words, characters and tags", least=0, below=1)
    encoder_dropout: float = setting(0.33, "between layers and after the last", least=0, below=1)
    lstm_input_dropout: float = setting(
        0.0, "features of what the first BiLSTM layer reads of words", least=0, below=1
    )
    recurrent_dropout: float = setting(0.33, "units of a layer's own state", least=0, below=1)
    recurrent_dropout_mask: RecurrentMask = setting(
        "batch", "its masks: one for a whole batch, or one for each sentence (slower)"
    )
    transformer_dropout: float = setting(
        0.1, "inside the transformer, where it was pretrained with some", least=0, below=1
    )
    mlp_dropout: float = setting(0.33, "the vectors that are scored", least=0, below=1)

    learning_rate: float = setting(2e-3, "at the start", least=0)
    transformer_learning_rate: float = setting(5e-5, "of its last layer", least=0)
    layer_decay: float = setting(0.9, "each layer below learns at this share", least=0)
    schedule: Schedule = setting("exponential", "how the learning rate falls")
    warmup: float = setting(0.0, "epochs in which it rises first", least=0)
    beta1: float = setting(0.9, "of Adam", least=0, below=1)
    beta2: float = setting(0.9, "of Adam", least=0, below=1)
    epsilon: float = setting(1e-12, "of Adam", least=0)
    decay: float = setting(0.75, "exponential: the learning rate is multiplied by this", least=0)
    decay_steps: int = setting(5000, "once in so many steps, smoothly", least=1)
    clip: float = setting(5.0, "the longest gradient; a longer one is scaled down", least=0)
    batch_tokens: int = setting(1500, "words in a batch", least=1)
    average: float = setting(
        0.9995, "share of the averaged weights kept each step; 0: none", least=0, below=1
    )
    epochs: int = setting(1000, "at most so many", least=0)
    patience: int = setting(100, "stop after so many epochs without a new best dev LAS", least=1)
    punct: Punctuation = setting(
        "keep",
        "whether the dev scores that choose the epoch count it: keep, or not: unicode, tag",
    )
    seed: int = setting(1, "of initialisation, order and dropout", least=0, below=1e12)

    def __post_init__(self) -> None:
        Settings.__post_init__(self)
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
        return "# The settings of a treecrf model.\n" + Settings.to_toml(self)


ARCHITECTURE = (
    "encoder",
    "transformer",
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
