"""Models by name: those that come with treecrf, and those that are installed as packages."""

import os
from pathlib import Path

from treecrf.parser.errors import ParserError
from treecrf.parser.packages.installed import find_installed, installed_models

__all__ = ["BUNDLED", "DEFAULT", "bundled_names", "is_packaged", "model_folder"]

BUNDLED = Path(__file__).parent.parent / "models"
DEFAULT = "en"
# The modules that define these names load torch.
_CONFIG = "config.toml"
_SOME = (_CONFIG, "segmenter.json")


def model_folder(model: str | Path | None, *, bundled: Path = BUNDLED) -> Path:
    """The folder of a model: one that exists, else an installed model, else a bundled one.

    Without a name it is the English model that comes with treecrf. A folder without a model in it,
    such as one of texts, gives way to a model of its name.
    """
    if not isinstance(model, str | os.PathLike | None):
        raise ParserError(f"a model is the path of its folder, or a name, and not {model!r:.60}")
    name = DEFAULT if model is None else str(model)
    if not name:
        raise ParserError("the name of the model is empty; give the path of its folder, or a name")
    # A name with a separator is a path, even if pathlib would shorten it.
    if os.path.basename(name) != name:
        return Path(name)
    if model is not None and any((Path(name) / file).exists() for file in _SOME):
        return Path(name)
    if model is not None and (installed := find_installed(name)) is not None:
        return installed.folder
    if (bundled / name / _CONFIG).is_file():
        return bundled / name
    if model is not None and Path(name).exists():
        return Path(name)  # whoever loads it says what it lacks
    if name == DEFAULT:
        raise ParserError(
            "no English model comes with this copy of treecrf; name a folder that `treecrf train` "
            "wrote (--model DIR)"
        )
    there = sorted({*bundled_names(bundled), *(one.name for one in installed_models())})
    raise ParserError(
        f"{name}: no such folder, and no model of this name is installed; "
        f"there {'is' if len(there) == 1 else 'are'} {', '.join(there) or 'none'} "
        "(`treecrf models`), and folders that `treecrf train` wrote"
    )


def bundled_names(bundled: Path = BUNDLED) -> list[str]:
    """The names of the models that come with treecrf."""
    return sorted(path.parent.name for path in bundled.glob(f"*/{_CONFIG}"))


def is_packaged(folder: Path) -> bool:
    """Whether a model folder belongs to an installed package, which nobody should write to."""
    real = folder.resolve()
    folders = [BUNDLED, *(one.folder for one in installed_models())]
    return any(real.is_relative_to(one.resolve()) for one in folders)
