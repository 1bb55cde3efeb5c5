"""Settings by name, and settings read from a TOML file."""

import tomllib
from pathlib import Path

from treecrf.parser.config import Config
from treecrf.parser.errors import ParserError

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
    # What the paper trained with.
    "paper": Config(batch_tokens=5000, average=0.0),
}


def load_config(source: str | Path) -> Config:
    """A preset by its name, or the settings of a TOML file; what it leaves out has its default."""
    if str(source) in PRESETS:
        return PRESETS[str(source)]
    path = Path(source)
    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        names = ", ".join(PRESETS)
        raise ParserError(f"{path}: no such file, and no preset of that name ({names})") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ParserError(f"{path}: not a TOML file that can be read: {error}") from None
    try:
        return Config().changed(settings)
    except ParserError as error:
        raise ParserError(f"{path}: {error}") from None
