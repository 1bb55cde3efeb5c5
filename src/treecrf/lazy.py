"""Names of a package that are imported when they are first used, so that a command loads little."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module

__all__ = ["lazy_names"]


def lazy_names(
    package: str, modules: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package whose modules define these names."""
    names = vars(sys.modules[package])
    homes = {name: module for module, defined in modules.items() for name in defined}

    def get(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(f"{package}.{homes[name]}"), name)
        names[name] = value
        return value

    return get, lambda: sorted({*names, *names["__all__"], *homes})
