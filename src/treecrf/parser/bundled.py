"""The models that come with treecrf, by name."""

import os
from pathlib import Path

from treecrf.parser.errors import ParserError

__all__ = ["BUNDLED", "DEFAULT", "model_folder"]

BUNDLED = Path(__file__).parent.parent / "models"
DEFAULT = "en"


def model_folder(model: str | Path | None, *, bundled: Path = BUNDLED) -> Path:
    """The folder of a model: one that exists, else a model that comes with treecrf."""
    if not isinstance(model, str | os.PathLike | None):
        raise ParserError(f"a model is the path of its folder, or a name, and not {model!r:.60}")
    # A name with a separator is a path, even if pathlib would shorten it.
    if model is not None and (Path(model).exists() or os.path.basename(model) != str(model)):
        return Path(model)
    name = DEFAULT if model is None else str(model)
    folder = bundled / name
    if (folder / "config.toml").is_file():
        return folder
    if model is None or name == DEFAULT:
        raise ParserError(
            "no English model comes with this copy of treecrf; name a folder that `treecrf train` "
            "wrote (--model DIR)"
        )
    return Path(model)
