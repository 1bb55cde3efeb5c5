"""Names and versions of packages of models: checked by the rules of PEP 503, 440 and 639."""

import re
import sys

from treecrf.parser.errors import ParserError

__all__ = ["check_licence", "check_version", "import_name", "model_name", "normalised"]

PREFIX = "treecrf-model-"

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?", re.IGNORECASE | re.ASCII)
_NUMBER = r"(?:0|[1-9][0-9]*)"
_VERSION = re.compile(
    rf"(?:{_NUMBER}!)?{_NUMBER}(?:\.{_NUMBER})*(?:(?:a|b|rc){_NUMBER})?"
    rf"(?:\.post{_NUMBER})?(?:\.dev{_NUMBER})?(?:\+[a-z0-9]+(?:\.[a-z0-9]+)*)?"
)
_LICENCE_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")
_OPERATORS = ("AND", "OR", "WITH")


def normalised(name: str) -> str:
    """The name of a package as indexes write it; raises an error if it is not one."""
    if not _NAME.fullmatch(name):
        raise ParserError(
            f"{name!r:.80} is not a name of a package: use letters, digits and hyphens, such as "
            f"{PREFIX}fr"
        )
    plain = re.sub(r"[-_.]+", "-", name).lower()
    if plain == "treecrf" or import_name(plain) in sys.stdlib_module_names:
        raise ParserError(f"{name}: another package has this name; use one such as {PREFIX}fr")
    return plain


def import_name(name: str) -> str:
    """The folder of the package in an environment."""
    return name.replace("-", "_")


def model_name(name: str) -> str:
    """The name that `treecrf.load` takes: `fr` of `treecrf-model-fr`, else the whole name."""
    return name.removeprefix(PREFIX)


def check_version(version: str) -> None:
    """Raise an error unless a version is in the normal form of PEP 440."""
    if not _VERSION.fullmatch(version):
        raise ParserError(
            f"{version!r:.80} is not a version in the form of PEP 440: write 1.0.0, 1.1rc1 or "
            "2.0.dev3"
        )


def check_licence(licence: str) -> None:
    """Raise an error unless a licence looks like an SPDX expression."""
    words = licence.replace("(", " ").replace(")", " ").split()
    whole = [_LICENCE_WORD.fullmatch(word) for word in words]
    pairs = [(word in _OPERATORS) != (place % 2 == 1) for place, word in enumerate(words)]
    if not words or not all(whole) or any(pairs) or words[-1] in _OPERATORS:
        raise ParserError(
            f"{licence!r:.80} is not an SPDX licence expression: write CC-BY-SA-4.0, or MIT AND "
            "CC-BY-SA-4.0"
        )
