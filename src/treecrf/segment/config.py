"""Every setting of a segmenter in one frozen dataclass; `segmenter.json` keeps them."""

from dataclasses import dataclass

from treecrf.segment.errors import SegmentError
from treecrf.settings import Settings, setting

__all__ = ["SegmenterConfig"]


@dataclass(frozen=True, kw_only=True, slots=True)
class SegmenterConfig(Settings):
    """What to train and how; `changed` and `updated` make a changed copy."""

    error = SegmentError

    min_freq: int = setting(2, "characters seen less often share one vector", least=1)
    character_size: int = setting(48, "size of a character's vector", least=1)
    class_size: int = setting(8, "size of the vector of a class of characters", least=1)
    lstm_layers: int = setting(2, "layers of the BiLSTM", least=1, below=1001)
    lstm_size: int = setting(64, "units of a layer, each direction", least=1)
    window: int = setting(512, "characters that are read at once", least=16, below=1e6)
    context: int = setting(48, "of which so many at each end are only context", least=2)

    dropout: float = setting(0.3, "inputs and outputs of layers", least=0, below=1)
    character_dropout: float = setting(
        0.03, "share of characters that training makes unknown", least=0, below=1
    )
    line_breaks: float = setting(
        0.3, "share of training text that gets line breaks of its own", least=0, below=1
    )
    text_ends: float = setting(
        0.15, "share of windows in which training lets the text start or end", least=0, below=1
    )

    learning_rate: float = setting(4e-3, "at the start; it falls to 0 at the end", least=0)
    clip: float = setting(1.0, "the longest gradient; a longer one is scaled down", least=0)
    batch_windows: int = setting(8, "windows in a batch", least=1)
    average: float = setting(
        0.99, "share of the averaged weights kept each step; 0: none", least=0, below=1
    )
    epochs: int = setting(40, "at most so many", least=1)
    patience: int = setting(20, "stop after so many epochs without a new best dev F1", least=1)
    seed: int = setting(1, "of initialisation, order and dropout", least=0)

    def __post_init__(self) -> None:
        Settings.__post_init__(self)
        if self.window <= 2 * self.context:
            raise SegmentError(
                f"window is {self.window}: it must be longer than twice the context, {self.context}"
            )

    @property
    def core(self) -> int:
        """The characters of a window that are not only context."""
        return self.window - 2 * self.context
