"""Every setting of a segmenter in one frozen dataclass; `segmenter.json` keeps them."""

from dataclasses import dataclass

from treecrf.segment.errors import SegmentError
from treecrf.settings import Settings, setting

__all__ = ["SegmenterConfig"]


@dataclass(frozen=True, kw_only=True, slots=True)
class SegmenterConfig(Settings):
    """Settings of a segmenter and its training; `changed` and `updated` make a changed copy."""

    error = SegmentError

    min_freq: int = setting(2, "Characters seen less often share one vector.", least=1)
    character_size: int = setting(48, "Size of the character vectors.", least=1)
    class_size: int = setting(8, "Size of the vectors of character classes.", least=1)
    lstm_layers: int = setting(2, "Number of BiLSTM layers.", least=1, below=1001)
    lstm_size: int = setting(64, "Units of a BiLSTM layer in each direction.", least=1)
    window: int = setting(512, "Characters that the network reads at once.", least=16, below=1e6)
    context: int = setting(48, "Characters at each end of a window that are context only.", least=2)

    dropout: float = setting(0.3, "Dropout of the inputs and outputs of layers.", least=0, below=1)
    character_dropout: float = setting(
        0.03, "Share of characters that training replaces by the unknown one.", least=0, below=1
    )
    line_breaks: float = setting(0.3, "Share of text given other line breaks.", least=0, below=1)
    letter_case: float = setting(
        0.0, "Share of training text in capitals only or in small letters only.", least=0, below=1
    )
    lost_stops: float = setting(
        0.0, "Share of training sentences that lose their last punctuation mark.", least=0, below=1
    )
    text_ends: float = setting(
        0.15, "Share of training windows in which the text starts or ends.", least=0, below=1
    )

    learning_rate: float = setting(4e-3, "Initial learning rate; falls to 0 at the end.", least=0)
    clip: float = setting(1.0, "Largest gradient norm; larger gradients are scaled down.", least=0)
    batch_windows: int = setting(8, "Windows in a batch.", least=1)
    average: float = setting(
        0.99, "Decay of the moving average of the weights; 0 for no average.", least=0, below=1
    )
    epochs: int = setting(40, "Maximum number of epochs.", least=1)
    patience: int = setting(20, "Early stopping: epochs without a new best dev F1.", least=1)
    seed: int = setting(1, "Random seed.", least=0)

    def __post_init__(self) -> None:
        Settings.__post_init__(self)
        if self.window <= 2 * self.context:
            bound = f"it must be longer than twice the context, {self.context}"
            raise SegmentError(f"window is {self.window}: {bound}")

    @property
    def core(self) -> int:
        """The characters of a window that are not only context."""
        return self.window - 2 * self.context
