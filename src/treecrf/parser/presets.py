"""Settings by name, and settings read from a TOML file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from treecrf.parser.config import Config
from treecrf.parser.errors import ParserError
from treecrf.storage import StorageError, read_toml

__all__ = ["PRESETS", "load_config"]

PRESETS: dict[str, Config] = {
    "default": Config(),
    # Small enough to be trained on a laptop in a minute: for tests, examples and trying things out.
    # What there is time for is learnt best in large steps, and with hardly any dropout.
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
    # What the paper trained with, in the authors' own code where the paper does not say.
    "paper": Config(
        batch_tokens=5000, average=0.0, lstm_input_dropout=0.33, recurrent_dropout_mask="sentence"
    ),
}


def load_config(
    source: str | Path, changes: Mapping[str, Any] | None = None, *, base: Config | None = None
) -> Config:
    """A preset by its name, or the settings of a TOML file, and `changes` on top of either.

    What a file leaves out is as in `base`, else the default. Whether settings go together is
    checked once all of them are there: a change may complete or correct what the file says.
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
