"""Settings of models as frozen dataclasses: checked, changed by name, written as TOML."""

import difflib
import json
import math
import re
import reprlib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, field, fields, replace
from typing import Any, ClassVar, Literal, Self, get_args, get_origin

__all__ = ["Settings", "setting"]


def setting(
    default: Any,
    text: str,
    *,
    least: float | None = None,
    below: float | None = None,
    most: float | None = None,
) -> Any:
    """A field with what a reader should know of it and the range that it has."""
    limits = {"least": least, "below": below, "most": most}
    return field(default=default, metadata={"text": text, **limits})


class Settings:
    """The base of a frozen dataclass whose fields are made by `setting`."""

    __slots__ = ()
    error: ClassVar[type[ValueError]] = ValueError
    """The exception for a setting that is not valid."""
    renamed: ClassVar[Mapping[str, str]] = {}
    """The present names of settings that files of older versions have by other names."""

    def __post_init__(self) -> None:
        for item in fields(self):  # type: ignore[arg-type]
            value = self._checked(item, getattr(self, item.name))
            object.__setattr__(self, item.name, value)

    @classmethod
    def parsed(cls, settings: Iterable[str]) -> dict[str, Any]:
        """Settings given as `key=value`, the values as TOML has them; a bare word is text."""
        changes: dict[str, Any] = {}
        for item in settings:
            key, equals, text = item.partition("=")
            if not equals:
                raise cls.error(f"{item!r} is not a setting: write key=value, such as epochs=10")
            changes[key.strip()] = _value(text.strip())
        return changes

    @classmethod
    def checked(cls, changes: Mapping[str, Any]) -> dict[str, Any]:
        """The settings, each valid by itself; an error for an unknown name suggests the nearest."""
        known = {item.name: item for item in fields(cls)}  # type: ignore[arg-type]
        for key in changes:
            if key not in known:
                close = difflib.get_close_matches(key.lower(), known, 1, 0.5)
                hint = f"; did you mean {close[0]}?" if close else ""
                raise cls.error(f"there is no setting {key!r}{hint}")
        return {key: cls._checked(known[key], value) for key, value in changes.items()}

    @classmethod
    def with_present_names(cls, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Settings from a file, which an older version may have written."""
        return {cls.renamed.get(name, name): value for name, value in settings.items()}

    def changed(self, changes: Mapping[str, Any]) -> Self:
        """A copy with these settings."""
        return replace(self, **self.checked(changes))  # type: ignore[type-var]

    def to_dict(self) -> dict[str, Any]:
        """The settings by name, as JSON can hold them."""
        values = asdict(self)  # type: ignore[call-overload]
        return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}

    def to_toml(self) -> str:
        """The settings as lines of TOML, each with a comment that says what it is."""
        lines = []
        for item in fields(self):  # type: ignore[arg-type]
            value = _toml(getattr(self, item.name))
            lines.append(f"{item.name} = {value}  # {item.metadata['text']}\n")
        return "".join(lines)

    @classmethod
    def _checked(cls, item: Any, value: Any) -> Any:
        kind: Any = item.type
        if get_origin(kind) is tuple:
            return cls._checked_list(item, value)
        if get_origin(kind) is Literal:
            if value not in get_args(kind):
                choices = ", ".join(get_args(kind))
                raise cls.error(f"{item.name} is {reprlib.repr(value)}; it is one of: {choices}")
            return value
        if type(value) is int and kind in (int, float) and abs(value) > _LARGEST:
            raise cls.error(f"{item.name} is {reprlib.repr(value)}; that is too large")
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind or (kind is float and not math.isfinite(value)):
            raise cls.error(f"{item.name} is {reprlib.repr(value)}; it is {_KINDS[kind]}")
        least, below = item.metadata["least"], item.metadata["below"]
        if (least is not None and not value >= least) or (below is not None and not value < below):
            limit = f"at least {least:g}" if below is None else f"from {least:g} to below {below:g}"
            raise cls.error(f"{item.name} is {value}; it is {limit}")
        if (most := item.metadata["most"]) is not None and not value <= most:
            raise cls.error(f"{item.name} is {value}; it is from {least:g} to {most:g}")
        return value

    @classmethod
    def _checked_list(cls, item: Any, value: Any) -> tuple[str, ...]:
        """The value of a setting that lists choices; text has them with commas between, or none."""
        choices = get_args(get_args(item.type)[0])
        if isinstance(value, str):
            value = [name.strip() for name in value.split(",") if name.strip() not in ("", "none")]
        if not isinstance(value, list | tuple) or any(name not in choices for name in value):
            names = ", ".join(choices)
            raise cls.error(f"{item.name} is {reprlib.repr(value)}; it lists some of: {names}")
        return tuple(choice for choice in choices if choice in value)


_KINDS = {bool: "true or false", int: "a whole number", float: "a finite number", str: "text"}
_LARGEST = 2**53  # a whole number that every part of a program can hold


_SHORT_NUMBER = re.compile(r"[+-]?(\d+\.|\.\d+)(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        # TOML wants a digit on both sides of a point; people write .5 too.
        return float(text) if _SHORT_NUMBER.fullmatch(text) else text


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    # A string or list of JSON is one of TOML.
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str | tuple) else repr(value)
