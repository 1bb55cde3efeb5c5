"""The settings of a parser in one frozen dataclass; a model folder keeps them as `config.toml`."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, get_args

from treecrf.parser import choices
from treecrf.parser.errors import ParserError
from treecrf.settings import Settings, setting
from treecrf.treebank.metrics.scores import Punctuation
from treecrf.treebank.pseudoprojective import Encoding

__all__ = ["ARCHITECTURE", "Config"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Config(Settings):
    """Settings of a model and its training; `presets.load_config` reads them from a file."""

    error = ParserError
    renamed = MappingProxyType({"products": "precision"})

    loss: choices.Loss = setting(
        "crf2o", "Training loss: local (head selection), crf, crf2o, crf3o or nonprojective."
    )
    decoder: choices.Decoder = setting(
        "auto", "Decoder: mbr, viterbi or mst; auto chooses by the loss."
    )
    nonprojective: choices.Nonprojective = setting(
        "pseudo", "Crossing arcs: pseudo (lift and restore), mst (decode any tree) or none."
    )
    encoding: Encoding = setting("head+path", "Marks that pseudo-projective relations carry.")
    min_marked: int = setting(3, "Marked relations seen less often lose their marks.", least=1)
    multiroot: bool = setting(False, "Whether a sentence may have several roots.")

    language: str = setting(
        "", "Language of the texts, such as en; with en, a text in another one gets a warning."
    )

    temperature: float = setting(
        1.0,
        "Calibration: scores of trees are divided by it before probabilities.",
        least=1e-3,
        most=1e6,
    )

    relation_temperature: float = setting(
        1.0, "Calibration of the probabilities of relations.", least=1e-3, most=1e6
    )
    upos_temperature: float = setting(
        1.0, "Calibration of the probabilities of universal tags.", least=1e-3, most=1e6
    )

    encoder: choices.Encoder = setting("bilstm", "Encoder of sentences: bilstm or transformer.")
    transformer: str = setting("", "Folder or name of the pretrained transformer.")
    mix_layers: int = setting(4, "Number of its last layers that are mixed.", least=1, below=1001)
    precision: choices.Precision = setting(
        "float32", "Arithmetic on a CPU: float32, or int8 (faster with VNNI, slightly less exact)."
    )
    predict: tuple[choices.Column, ...] = setting(
        get_args(choices.Column), "Columns predicted besides the tree, if training data has them."
    )
    tags: choices.Tags = setting("none", "Tags that the network reads: none, upos or xpos.")
    min_freq: int = setting(2, "Words seen less often share one vector.", least=1)
    lowercase: bool = setting(True, "Whether word vectors ignore case; characters keep it.")
    word_size: int = setting(100, "Size of the trained word vectors.", least=1)
    project_vectors: bool = setting(
        True, "Whether pretrained vectors are projected; else those of size word_size are added."
    )
    char_embedding_size: int = setting(50, "Size of the character vectors.", least=1)
    char_size: int = setting(
        100, "Size of the word vectors made from characters; 0 for none.", least=0
    )
    max_chars: int = setting(
        20, "Characters read of a word; of a longer one, its first and last.", least=2, below=1001
    )
    tag_size: int = setting(100, "Size of the tag vectors.", least=1)
    spelling_size: int = setting(
        0, "Size of the vectors of case, first and last characters beside a transformer.", least=0
    )
    lstm_layers: int = setting(
        3, "Number of BiLSTM layers; may be 0 over a transformer.", least=0, below=1001
    )
    lstm_size: int = setting(400, "Units of a BiLSTM layer in each direction.", least=1)
    arc_size: int = setting(500, "Size of the vectors that score arcs.", least=1)
    label_size: int = setting(100, "Size of the vectors that score relations.", least=1)
    sibling_size: int = setting(100, "Size of the vectors that score adjacent siblings.", least=1)
    sibling_form: choices.SiblingForm = setting(
        "triaffine",
        "Scores of siblings: triaffine, shared (triaffine of the vectors that score arcs, much "
        "larger) or biaffine (three products of two words each).",
    )
    grandparent_size: int = setting(100, "Size of the vectors that score grandparents.", least=1)
    crf3o_siblings: bool = setting(
        True, "With crf3o: whether adjacent siblings are scored beside grandparents."
    )
    longest_third_order: int = setting(
        150,
        "With crf3o: words of the longest sentence whose grandparents are scored; longer ones "
        "have those of arcs and siblings.",
        least=0,
    )
    column_size: int = setting(200, "Size of the vectors that predict each column.", least=1)

    embedding_dropout: float = setting(
        0.33, "Dropout of word, character and tag vectors.", least=0, below=1
    )
    encoder_dropout: float = setting(
        0.33, "Dropout between BiLSTM layers and after the last.", least=0, below=1
    )
    lstm_input_dropout: float = setting(
        0.0, "Dropout of the input features of the first BiLSTM layer.", least=0, below=1
    )
    recurrent_dropout: float = setting(
        0.33, "Dropout of the recurrent state of a BiLSTM layer.", least=0, below=1
    )
    recurrent_dropout_mask: choices.RecurrentMask = setting(
        "batch", "Recurrent dropout masks: one for each batch, or for each sentence (slower)."
    )
    transformer_dropout: float = setting(
        0.1, "Dropout inside the transformer, where it was pretrained with some.", least=0, below=1
    )
    mlp_dropout: float = setting(
        0.33, "Dropout of the vectors that score arcs, siblings and relations.", least=0, below=1
    )

    column_weight: float = setting(
        0.25,
        "Weight of the loss of each predicted column; those of tree and relations have 1.",
        least=0,
    )
    teacher_weight: float = setting(
        0.5,
        "Share of teachers' probabilities in the targets of annotated words.",
        least=0,
        most=1,
    )
    learning_rate: float = setting(2e-3, "Initial learning rate.", least=0)
    transformer_learning_rate: float = setting(
        5e-5, "Initial learning rate of the last transformer layer.", least=0
    )
    layer_decay: float = setting(
        0.9, "Learning rate of each lower layer, as a share of the one above.", least=0
    )
    schedule: choices.Schedule = setting(
        "exponential", "Learning rate schedule: exponential or linear."
    )
    warmup: float = setting(0.0, "Warm-up of the learning rate, in epochs.", least=0)
    beta1: float = setting(0.9, "Adam's first-moment decay.", least=0, below=1)
    beta2: float = setting(0.9, "Adam's second-moment decay.", least=0, below=1)
    epsilon: float = setting(1e-12, "Adam's epsilon.", least=0)
    decay: float = setting(0.75, "Exponential schedule: factor of the learning rate.", least=0)
    decay_steps: int = setting(
        5000, "Exponential schedule: steps in which the factor applies once, smoothly.", least=1
    )
    clip: float = setting(5.0, "Largest gradient norm; larger gradients are scaled down.", least=0)
    batch_tokens: int = setting(1500, "Words in a batch.", least=1)
    average: float = setting(
        0.9995, "Decay of the moving average of the weights; 0 for no average.", least=0, below=1
    )
    epochs: int = setting(1000, "Maximum number of epochs.", least=0)
    patience: int = setting(100, "Early stopping: epochs without a new best dev LAS.", least=1)
    punct: Punctuation = setting(
        "keep", "Punctuation in the dev scores that choose the epoch: keep, unicode or tag."
    )
    seed: int = setting(1, "Random seed.", least=0, below=1e12)

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

    @classmethod
    def with_present_names(cls, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Settings from a file, which an older version may have written."""
        present = {cls.renamed.get(name, name): value for name, value in settings.items()}
        tags = present.pop("predict_upos", None)  # the only column, with vectors of this size
        if tags is not None:
            present["predict"] = ["upos"] if tags else []
        if tags:
            present["column_size"] = present.get("label_size", 100)
        return present

    def idle(self, names: Iterable[str]) -> dict[str, str]:
        """Settings among `names` that have no effect beside the others, and what each is for."""
        uses = {
            "encoder = transformer": (self.encoder == "transformer", _OF_TRANSFORMERS),
            "encoder = bilstm": (self.encoder == "bilstm", _OF_WORDS),
            "BiLSTM layers": (self.lstm_layers > 0, _OF_BILSTM),
            "tags": (self.tags != "none", ("tag_size",)),
            "losses of siblings": (self.scores_siblings, ("sibling_size", "sibling_form")),
            "loss = crf3o": (self.scores_grandparents, _OF_GRANDPARENTS),
            "arcs that are lifted": (self.pseudo, ("encoding", "min_marked")),
            "columns to predict": (bool(self.predict), ("column_size", "column_weight")),
            "schedule = exponential": (self.schedule == "exponential", ("decay", "decay_steps")),
        }
        given = set(names)
        return {
            name: use
            for use, (is_there, settings) in uses.items()
            for name in settings
            if name in given and not is_there
        }

    @property
    def pseudo(self) -> bool:
        """Whether crossing arcs are lifted before training and put back after decoding."""
        return self.nonprojective == "pseudo" and self.loss != "nonprojective"

    @property
    def reads_spelling(self) -> bool:
        """Whether the spelling of words is read beside the transformer."""
        return self.encoder == "transformer" and self.spelling_size > 0

    @property
    def resolved_decoder(self) -> choices.Decoder:
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
        return self.loss in ("crf", "crf2o", "crf3o")

    @property
    def scores_siblings(self) -> bool:
        """Whether the network scores adjacent siblings."""
        return self.loss == "crf2o" or (self.loss == "crf3o" and self.crf3o_siblings)

    @property
    def pair_size(self) -> int:
        """Size of the vectors that score adjacent siblings."""
        return self.arc_size if self.sibling_form == "shared" else self.sibling_size

    @property
    def scores_grandparents(self) -> bool:
        """Whether the network scores grandparents."""
        return self.loss == "crf3o"

    def uses_grandparents(self, tokens: int) -> bool:
        """Whether grandparents count in sentences of so many tokens, the root symbol included."""
        return self.scores_grandparents and tokens <= self.longest_third_order + 1

    @property
    def longest_together(self) -> int | None:
        """Words from which on sentences share no batch with shorter ones; None for any."""
        return self.longest_third_order if self.scores_grandparents else None

    def to_toml(self) -> str:
        """The settings as a TOML file, each with a comment."""
        return "# The settings of a treecrf model.\n" + Settings.to_toml(self)


_OF_TRANSFORMERS = (
    "transformer",
    "mix_layers",
    "spelling_size",
    "transformer_dropout",
    "transformer_learning_rate",
    "layer_decay",
)
_OF_WORDS = (
    *("word_size", "char_embedding_size", "char_size", "max_chars", "min_freq", "lowercase"),
    *("project_vectors", "embedding_dropout", "lstm_input_dropout"),
)
_OF_BILSTM = ("lstm_size", "recurrent_dropout", "recurrent_dropout_mask")
_OF_GRANDPARENTS = ("grandparent_size", "crf3o_siblings", "longest_third_order")
ARCHITECTURE = (
    "encoder",
    "transformer",
    "mix_layers",
    "tags",
    "lowercase",
    "word_size",
    "project_vectors",
    "char_embedding_size",
    "char_size",
    "max_chars",
    "tag_size",
    "spelling_size",
    "lstm_layers",
    "lstm_size",
    "arc_size",
    "label_size",
    "sibling_size",
    "sibling_form",
    "grandparent_size",
    "column_size",
)
"""Settings that weights depend on: a warm start needs the same."""
