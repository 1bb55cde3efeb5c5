"""Names of Universal Dependencies in plain words: relations, tags and features."""

from pathlib import Path

__all__ = ["MEANINGS", "explain"]


def _read() -> dict[str, str]:
    # Entries end with a semicolon or a line; `=Plur` is a value of the feature before it.
    table = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    meanings: dict[str, str] = {}
    feature = ""
    for entry in table.strip().replace("\n", "; ").split("; "):
        name, meaning = entry.split(": ", 1)
        if not name.startswith("="):
            feature = name
        meanings[feature + name.removeprefix(feature)] = meaning
    return meanings


MEANINGS = _read()
"""Meanings by name: relations, universal tags, features, and features with a value."""


def explain(name: str) -> str | None:
    """The meaning of a name of Universal Dependencies in a few words; None if it is not known.

    It may be a relation ("nsubj", "nsubj:pass"), a universal tag ("NOUN"), the name of a feature
    ("Case"), a feature with its value ("Case=Gen") or a whole column of them.

    Examples:
        >>> explain("nsubj")
        'nominal subject'
        >>> explain("Number=Plur|Case=Gen")
        'number: plural; case: genitive'
    """
    if "|" in name:
        return "; ".join(explain(item) or item for item in name.split("|"))
    if "=" in name:
        return _feature(*name.split("=", 1))
    if name in MEANINGS:
        return MEANINGS[name]
    relation, _, subtype = name.partition(":")
    known = MEANINGS.get(relation) if subtype and relation.islower() else None
    return f"{known} ({subtype})" if known else None


def _feature(name: str, values: str) -> str | None:
    feature = name.partition("[")[0]  # Number[psor]
    kind = MEANINGS.get(feature)
    if kind is None or values == "Yes":
        return kind
    known = [MEANINGS.get(f"{feature}={value}", value) for value in values.split(",")]
    return f"{kind}: {' or '.join(known)}"
