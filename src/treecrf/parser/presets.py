"""Settings by name, and settings read from a TOML file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from treecrf.descriptions import read_toml
from treecrf.parser.config import Config
from treecrf.parser.errors import ParserError
from treecrf.storage import StorageError

__all__ = ["PRESETS", "load_config"]

PRESETS: dict[str, Config] = {
    "default": Config(),
    # Trains on a laptop in a minute, for tests, examples and first tries: large steps, and hardly
    # any dropout.
    "tiny": Config(
        word_size=64,
        char_embedding_size=16,
        char_size=32,
        lstm_layers=2,
        lstm_size=64,
        arc_size=64,
        label_size=32,
        sibling_size=16,
        embedding_dropout=0.1,
        encoder_dropout=0.0,
        recurrent_dropout=0.0,
        mlp_dropout=0.0,
        learning_rate=1e-2,
        decay_steps=500,
        batch_tokens=200,
        average=0.99,
        epochs=10,
        patience=3,
    ),
    # As in the paper; where it does not say, as in its authors' code.
    "paper": Config(
        batch_tokens=5000,
        average=0.0,
        lstm_input_dropout=0.33,
        recurrent_dropout_mask="sentence",
        project_vectors=False,
    ),
}


def load_config(
    source: str | Path, changes: Mapping[str, Any] | None = None, *, base: Config | None = None
) -> Config:
    """Load a preset by its name, or a TOML file, with `changes` on top.

    Settings that a file leaves out are those of `base`, else the defaults. Conflicts between
    settings are checked at the end: a change may resolve one.
    """
    changes = Config.checked(changes or {})
    if str(source) in PRESETS:
        preset = PRESETS[str(source)]
        return preset.changed(changes) if changes else preset
    path = Path(source)
    try:
        settings = read_toml(path)
    except FileNotFoundError:
        names = ", ".join(PRESETS)
        raise ParserError(f"{path}: no such file, and no preset of that name ({names})") from None
    except StorageError as error:
        raise ParserError(str(error)) from None
    try:
        settings = Config.checked(Config.with_present_names(settings))
        if not changes:
            return (base or Config()).changed(settings)
    except ParserError as error:
        raise ParserError(f"{path}: {error}") from None
    return (base or Config()).changed(settings | changes)
