"""Models that are installed as packages: found by the entry points of their group."""

from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path

from treecrf.parser.errors import ParserError

__all__ = ["GROUP", "InstalledModel", "find_installed", "installed_models"]

GROUP = "treecrf.models"
"""Entry points: the name of a model, and the package whose folder is the model folder."""


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """A model of a package."""

    name: str
    folder: Path
    package: str
    version: str


def installed_models() -> list[InstalledModel]:
    """The models of all packages in this environment, by name; none of their code is run."""
    found = (_model(point) for point in entry_points(group=GROUP))
    return sorted(
        (one for one in found if one is not None), key=lambda one: (one.name, one.package)
    )


def find_installed(name: str) -> InstalledModel | None:
    """The installed model of this name; an error if two packages have one."""
    found = [one for one in installed_models() if one.name == name]
    if len(found) > 1:
        packages = " and ".join(f"{one.package} {one.version}" for one in found)
        raise ParserError(f"{name}: {packages} both have a model of this name; uninstall one")
    return found[0] if found else None


def _model(point: EntryPoint) -> InstalledModel | None:
    """The model of an entry point; None if its files are not there any more."""
    if point.dist is None or "." in point.value or ":" in point.value:
        return None
    spec = None
    with suppress(ImportError, ValueError):
        spec = find_spec(point.value)
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(next(iter(spec.submodule_search_locations)))
    about = point.dist.metadata
    package, version = (about.get_all(name, ["?"])[0] for name in ("Name", "Version"))
    return InstalledModel(point.name, folder, package, version)
