"""The models that come with treecrf, by name."""

from pathlib import Path

from treecrf.parser.errors import ParserError

__all__ = ["BUNDLED", "DEFAULT", "model_folder"]

BUNDLED = Path(__file__).parent.parent / "models"
DEFAULT = "en"


def model_folder(model: str | Path | None) -> Path:
    """The folder that is meant: one that exists, else a model that comes with treecrf."""
    if model is not None and (Path(model).exists() or str(model) != Path(model).name):
        return Path(model)
    name = DEFAULT if model is None else str(model)
    folder = BUNDLED / name
    if (folder / "config.toml").is_file():
        return folder
    if model is None or name == DEFAULT:
        raise ParserError(
            "no English model comes with this copy of treecrf; name a folder that `treecrf train` "
            "wrote (--model DIR)"
        )
    return Path(model)
