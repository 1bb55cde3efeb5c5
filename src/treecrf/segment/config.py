"""Every setting of a segmenter in one frozen dataclass; `segmenter.json` keeps them."""

import difflib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from treecrf.segment.errors import SegmentError

__all__ = ["SegmenterConfig"]


def _setting(default: Any, text: str, *, least: float, below: float | None = None) -> Any:
    """A field with what a reader should know of it and the range that it has."""
    return field(default=default, metadata={"text": text, "least": least, "below": below})


@dataclass(frozen=True, kw_only=True, slots=True)
class SegmenterConfig:
    """What to train and how; `changed` and `updated` make a changed copy."""

    min_freq: int = _setting(2, "characters seen less often share one vector", least=1)
    character_size: int = _setting(48, "size of a character's vector", least=1)
    class_size: int = _setting(8, "size of the vector of a class of characters", least=1)
    lstm_layers: int = _setting(2, "layers of the BiLSTM", least=1)
    lstm_size: int = _setting(64, "units of a layer, each direction", least=1)
    window: int = _setting(512, "characters that are read at once", least=16)
    context: int = _setting(48, "of which so many at each end are only context", least=2)

    dropout: float = _setting(0.3, "inputs and outputs of layers", least=0, below=1)
    character_dropout: float = _setting(
        0.03, "share of characters that training makes unknown", least=0, below=1
    )
    line_breaks: float = _setting(
        0.3, "share of training text that gets line breaks of its own", least=0, below=1
    )
    text_ends: float = _setting(
        0.15, "share of windows in which training lets the text start or end", least=0, below=1
    )

    learning_rate: float = _setting(4e-3, "at the start; it falls to 0 at the end", least=0)
    clip: float = _setting(1.0, "the longest gradient; a longer one is scaled down", least=0)
    batch_windows: int = _setting(8, "windows in a batch", least=1)
    average: float = _setting(
        0.99, "share of the averaged weights kept each step; 0: none", least=0, below=1
    )
    epochs: int = _setting(40, "at most so many", least=1)
    patience: int = _setting(20, "stop after so many epochs without a new best dev F1", least=1)
    seed: int = _setting(1, "of initialisation, order and dropout", least=0)

    def __post_init__(self) -> None:
        for setting in fields(self):
            object.__setattr__(
                self, setting.name, _checked(setting.name, getattr(self, setting.name))
            )
        if self.window <= 2 * self.context:
            raise SegmentError(
                f"window is {self.window}: it must be longer than twice the context, {self.context}"
            )

    @property
    def core(self) -> int:
        """The characters of a window that are not only context."""
        return self.window - 2 * self.context

    def updated(self, settings: Iterable[str]) -> "SegmenterConfig":
        """A copy with `key=value` settings, such as `epochs=10`."""
        changes: dict[str, Any] = {}
        for item in settings:
            key, equals, text = item.partition("=")
            try:
                changes[key.strip()] = tomllib.loads(f"value = {text}")["value"]
            except tomllib.TOMLDecodeError:
                equals = ""
            if not equals:
                raise SegmentError(f"{item!r} is not a setting: write key=value, such as epochs=10")
        return self.changed(changes)

    def changed(self, changes: Mapping[str, Any]) -> "SegmenterConfig":
        """A copy with these settings; an unknown name is an error that suggests the nearest."""
        known = {setting.name for setting in fields(self)}
        for key in changes:
            if key not in known:
                close = difflib.get_close_matches(key, known, 1, 0.5)
                hint = f"; did you mean {close[0]}?" if close else ""
                raise SegmentError(f"there is no setting {key!r}{hint}")
        return replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """The settings by name, as JSON can hold them."""
        return asdict(self)


def _checked(name: str, value: Any) -> Any:
    """The value of a setting, or an error that says what it may be."""
    setting = SegmenterConfig.__dataclass_fields__[name]
    kind: Any = setting.type
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        raise SegmentError(
            f"{name} is {value!r}; it is {'a whole number' if kind is int else 'a number'}"
        )
    least, below = setting.metadata["least"], setting.metadata["below"]
    if not value >= least or (below is not None and not value < below):
        limit = f"at least {least:g}" if below is None else f"from {least:g} to below {below:g}"
        raise SegmentError(f"{name} is {value}; it is {limit}")
    return value
