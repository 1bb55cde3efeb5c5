"""Compiled loops from the characters of a text to the bytes of its CoNLL-U."""

from typing import Any

import numpy as np
import numpy.typing as npt

from treecrf.ops.numba.compiling import compiled, kernel
from treecrf.parser.columns.kernels import Bytes, Strings, copy_string, write_number

__all__ = ["write_cut"]

Codes = npt.NDArray[np.uint32]
Array = npt.NDArray[Any]

_NEW_PARAGRAPH = np.frombuffer(b"# newpar\n", np.uint8)
_ID = np.frombuffer(b"# sent_id = ", np.uint8)
_TEXT = np.frombuffer(b"\n# text = ", np.uint8)
_REST = np.frombuffer(b"\t_\t_\t_\t_\t_\t_\t_\t", np.uint8)  # what is between FORM and MISC
_NO_SPACE = np.frombuffer(b"SpaceAfter=No|", np.uint8)
_AFTER = np.frombuffer(b"SpacesAfter=", np.uint8)
_BEFORE = np.frombuffer(b"SpacesBefore=", np.uint8)
_PLACE = np.frombuffer(b"TokenRange=", np.uint8)
_SPACE, _TAB, _BREAK, _RETURN = ord(" "), ord("\t"), ord("\n"), ord("\r")
_BAR, _BACKSLASH, _HYPHEN, _COLON, _NOTHING = ord("|"), ord("\\"), ord("-"), ord(":"), ord("_")


@kernel
def write_cut(
    codes: Codes,
    starts: Array,
    stops: Array,
    places: Array,
    counts: Array,
    words: Strings,
    ends: Array,
    new_paragraphs: Array,
    before: int,
    new_text: bool,
    target: Bytes,
) -> int:
    """Write sentences of a text; returns the number of bytes.

    Args:
        codes: The characters, from the white space before the first token on.
        starts: Where tokens start, `[token + 1]`; and the end of the white space after the last.
        stops: Where tokens end, `[token]`.
        places: Where they start in the text as a whole, `[token]`.
        counts: The number of words of multiword tokens, 0 for others, `[token]`.
        words: The words of multiword tokens, one after the other.
        ends: Tokens before each sentence, and all, `[sentence + 1]`.
        new_paragraphs: Whether a paragraph begins with it, `[sentence]`.
        before: The number of sentences before the first.
        new_text: Whether the white space before the first token is to be written.
        target: The bytes are written here.
    """
    end = word = 0
    for sentence in range(len(new_paragraphs)):
        if new_paragraphs[sentence]:
            end = _write(_NEW_PARAGRAPH, target, end)
        end = _write(_ID, target, end)
        end = write_number(before + sentence + 1, target, end)
        end = _write(_TEXT, target, end)
        first, last = ends[sentence], ends[sentence + 1]
        for token in range(first, last):
            end = _write_codes(codes, starts[token], stops[token], target, end)
            if starts[token + 1] > stops[token] and token + 1 < last:
                target[end] = _SPACE
                end += 1
        target[end] = _BREAK
        end += 1
        number = 0
        for token in range(first, last):
            end = write_number(number + 1, target, end)
            if counts[token]:
                target[end] = _HYPHEN
                end = write_number(number + counts[token], target, end + 1)
            target[end] = _TAB
            end = _write_codes(codes, starts[token], stops[token], target, end + 1)
            end = _write(_REST, target, end)
            end = _write_space(codes[stops[token] : starts[token + 1]], target, end)
            if new_text and token == 0 and starts[0]:
                end = _write(_BEFORE, target, end)
                end = _write_escaped(codes[: starts[0]], target, end)
            end = _write(_PLACE, target, end)
            end = write_number(places[token], target, end)
            target[end] = _COLON
            stop = places[token] + stops[token] - starts[token]
            end = write_number(stop, target, end + 1)
            target[end] = _BREAK
            end += 1
            for _ in range(counts[token]):
                number += 1
                end = write_number(number, target, end)
                target[end] = _TAB
                end = copy_string(words, word, target, end + 1)
                end = _write(_REST, target, end)
                target[end], target[end + 1] = _NOTHING, _BREAK
                end += 2
                word += 1
            number += not counts[token]
        target[end] = _BREAK
        end += 1
    return end


@compiled
def _write_space(codes: Codes, target: Bytes, end: int) -> int:
    """Write the entry of MISC for the white space after a token; `misc_of` gives the same."""
    if len(codes) == 0:
        return _write(_NO_SPACE, target, end)
    if len(codes) == 1 and codes[0] == _SPACE:
        return end
    return _write_escaped(codes, target, _write(_AFTER, target, end))


@compiled
def _write_escaped(codes: Codes, target: Bytes, end: int) -> int:
    """Write white space, and a bar after it."""
    for at in range(len(codes)):
        code = codes[at]
        letter = 0
        if code == _SPACE:
            letter = ord("s")
        elif code == _TAB:
            letter = ord("t")
        elif code == _BREAK:
            letter = ord("n")
        elif code == _RETURN:
            letter = ord("r")
        if letter:
            target[end], target[end + 1] = _BACKSLASH, letter
            end += 2
        else:
            end = _write_codes(codes, at, at + 1, target, end)
    target[end] = _BAR
    return end + 1


@compiled
def _write_codes(codes: Codes, start: int, stop: int, target: Bytes, end: int) -> int:
    """Write characters in UTF-8."""
    for at in range(start, stop):
        code = codes[at]
        if code < 0x80:
            target[end] = code
            end += 1
            continue
        more = 1 if code < 0x800 else 2 if code < 0x10000 else 3
        target[end] = (0xF0 << (3 - more) & 0xFF) | (code >> 6 * more)
        for place in range(1, more + 1):
            target[end + place] = 0x80 | (code >> 6 * (more - place) & 0x3F)
        end += more + 1
    return end


@compiled
def _write(text: Bytes, target: Bytes, end: int) -> int:
    for place in range(len(text)):
        target[end + place] = text[place]
    return end + len(text)
