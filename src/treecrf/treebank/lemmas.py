"""Lemma rules: a lemma as an edit of its form, so that a classifier can choose it.

A rule is `CASE|PREFIX|SUFFIX`: CASE says how the lemma is written (`lower`, `same` as the form,
`title`, `upper`, or `digits`: without commas), PREFIX and SUFFIX how many characters go at each end
and what comes in their place (`0`, `3y`). A lemma that has nothing in common with its form is a
rule of its own, `=be`.
"""

import re
from collections.abc import Callable
from difflib import SequenceMatcher

__all__ = ["IDENTITY", "apply_rule", "find_rule", "letter_case"]

IDENTITY = "same|0|0"
"""The lemma is the form."""

_CASES: dict[str, Callable[[str], str]] = {
    "lower": str.lower,
    "same": str,
    "title": lambda text: text[:1].upper() + text[1:].lower(),
    "upper": str.upper,
    "digits": lambda text: text.replace(",", ""),
}
_RULE = re.compile(r"(lower|same|title|upper|digits)\|(\d{1,9})(.*)\|(\d{1,9})(.*)", re.DOTALL)
_LONGEST = 100  # characters; a longer form has its lemma whole, because comparing takes the square


def find_rule(form: str, lemma: str) -> str:
    """The rule that makes this lemma of this form, with the longest part that both have."""
    best, longest = f"={lemma}", 0
    for case, change in _CASES.items():
        changed = change(form)
        if change(lemma) != lemma:
            continue
        at_form, at_lemma, size = _longest_common(changed, lemma)
        before, after = lemma[:at_lemma], lemma[at_lemma + size :]
        rule = f"{case}|{at_form}{before}|{len(changed) - at_form - size}{after}"
        # What is added may itself look like a part of a rule.
        if size > longest and apply_rule(form, rule) == lemma:
            best, longest = rule, size
    return best


def apply_rule(form: str, rule: str) -> str | None:
    """The lemma that a rule makes of a form; None where it does not fit the form."""
    if rule.startswith("="):
        return rule[1:]
    match = _RULE.fullmatch(rule)
    if match is None:
        return None
    case, cut_before, before, cut_after, after = match.groups()
    changed = _CASES[case](form)
    start, stop = int(cut_before), len(changed) - int(cut_after)
    return None if start >= stop else before + changed[start:stop] + after


def letter_case(word: str) -> str:
    """How a word is written: in small letters (or without any), capitalised, in capitals, mixed.

    A single capital has a class of its own, since the names of letters keep it.
    """
    if word.islower() or word.upper() == word.lower():
        return "lower"
    if len(word) == 1:
        return "letter"
    if word[0].isupper() and word[1:].islower():
        return "title"
    return "upper" if word.isupper() else "mixed"


def _longest_common(left: str, right: str) -> tuple[int, int, int]:
    """Starts of the longest common part in both, and its size; the first of several."""
    if len(left) > _LONGEST or len(right) > _LONGEST:
        return (0, 0, len(left)) if left == right else (0, 0, 0)
    return SequenceMatcher(None, left, right, autojunk=False).find_longest_match()
