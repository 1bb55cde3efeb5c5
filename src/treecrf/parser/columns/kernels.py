"""Compiled loops over the bytes of CoNLL-U: find cells, number distinct ones, write trees.

Strings come as a pair: their bytes one after the other, and where each starts (and the last ends).
"""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from treecrf.ops.numba.compiling import compiled, kernel

__all__ = [
    "BODY",
    "END",
    "LINE",
    "START",
    "WORD",
    "Bytes",
    "Strings",
    "copy_string",
    "find_cells",
    "number_cells",
    "write_number",
    "write_words",
]

Bytes: TypeAlias = npt.NDArray[np.uint8]
Array: TypeAlias = npt.NDArray[Any]
Strings: TypeAlias = tuple[Bytes, Array]

# What is known of a sentence: its first byte, that of its first line after the comments, the empty
# line after it, the number of its first line, and how many words are before it.
START, BODY, END, LINE, WORD = range(5)

_TAB, _BREAK, _COMMENT, _NOTHING = 9, 10, ord("#"), ord("_")
_HYPHEN, _POINT, _ZERO, _BAR = ord("-"), ord("."), ord("0"), ord("|")
_HEAD, _MISC = 6, 9
_MOST_DIGITS = 9


@kernel
def find_cells(data: Bytes, cells: Array, bounds: Array, known: bool) -> int:
    """Find sentences and the cells of their words, up to the first sentence that is odd.

    A sentence is odd if it is malformed, does not end, or may tell that a file whose format is not
    `known` yet is no CoNLL-U. Returns the number of sentences; the row after theirs in `bounds`
    says where the next one starts.

    Args:
        data: The bytes of whole lines, with `\\n` after each.
        cells: For each word the starts of its cells and of the next line, `[line + 1, 11]`.
        bounds: For each sentence `START` to `WORD`, `[sentence + 2, 5]`.
        known: Whether this is CoNLL-U, as those before it have told.
    """
    size, at, line, words = len(data), 0, 1, 0
    for sentence in range(len(bounds)):
        while at < size and data[at] == _BREAK:
            at += 1
            line += 1
        bounds[sentence, START] = at
        bounds[sentence, LINE] = line
        bounds[sentence, WORD] = words
        while at < size and data[at] == _COMMENT:
            while at < size and data[at] != _BREAK:
                at += 1
            at += 1
            line += 1
        bounds[sentence, BODY] = at
        if not known and at > bounds[sentence, START]:
            return sentence
        number = first_of_multiword = last_of_multiword = empty_nodes = 0
        while at < size and data[at] != _BREAK:
            row = cells[words]
            at = _cut_line(data, at, row)
            if at < 0:
                return sentence
            line += 1
            middle = row[0]
            while data[middle] != _TAB and data[middle] != _HYPHEN and data[middle] != _POINT:
                middle += 1
            first = _read_number(data, row[0], middle)
            if data[middle] == _TAB:
                if first != number + 1:
                    return sentence
                empty = data[row[8]] == data[row[9]] == _NOTHING and row[10] - row[8] == 4
                if not known and not empty:
                    return sentence
                number += 1
                words += 1
                empty_nodes = 0
                continue
            last = _read_number(data, middle + 1, row[1] - 1)
            if not known or first < 0 or last < 1:
                return sentence
            if data[middle] == _HYPHEN:
                if last < first or first != number + 1 or first <= last_of_multiword:
                    return sentence
                first_of_multiword, last_of_multiword = first, last
            else:
                empty_nodes += 1
                if first != number or last != empty_nodes or first_of_multiword == number + 1:
                    return sentence
        if at >= size or number == 0 or last_of_multiword > number:
            return sentence
        bounds[sentence, END] = at
    return len(bounds)


@compiled
def _cut_line(data: Bytes, at: int, row: Array) -> int:
    """Find the ten cells of a line; returns the start of the next line, or -1 if it is none."""
    column = 0
    start = row[0] = at
    while at < len(data) and data[at] != _BREAK:
        if data[at] == _TAB:
            column += 1
            if at == start or column > 9:
                return -1
            start = row[column] = at + 1
        at += 1
    if column != 9 or at == start or at == len(data):
        return -1
    row[10] = at + 1
    return at + 1


@compiled
def _read_number(data: Bytes, start: int, end: int) -> int:
    """A number without zeros before it; -1 if this is none."""
    if not 0 < end - start <= _MOST_DIGITS or (data[start] == _ZERO and end - start > 1):
        return -1
    number = 0
    for at in range(start, end):
        digit = int(data[at]) - _ZERO
        if not 0 <= digit <= 9:
            return -1
        number = 10 * number + digit
    return number


@kernel
def number_cells(
    data: Bytes, cells: Array, column: int, table: Array, numbers: Array, first: Array
) -> int:
    """Number the distinct cells of a column in the order of the file; returns how many there are.

    Args:
        data: The bytes that the cells are in.
        cells: Where they are, `[word, 11]`.
        column: The column.
        table: A hash table filled with -1, as large as a power of two and larger than the words.
        numbers: The number of each cell, `[word]`, is written here.
        first: For each number the first word that has it, `[word]`, is written here.
    """
    count, mask = 0, len(table) - 1
    for word in range(len(cells)):
        start, size = cells[word, column], cells[word, column + 1] - 1 - cells[word, column]
        code = np.uint64(14695981039346656037)
        for at in range(start, start + size):  # FNV-1a
            code = (code ^ np.uint64(data[at])) * np.uint64(1099511628211)
        place = np.int64((code ^ (code >> np.uint64(32))) & np.uint64(mask))
        while True:
            number = table[place]
            if number < 0:
                number = table[place] = count
                first[count] = word
                count += 1
                break
            other = cells[first[number], column]
            if cells[first[number], column + 1] - 1 - other == size:
                same = True
                for at in range(size):
                    same &= data[start + at] == data[other + at]
                if same:
                    break
            place = (place + 1) & mask
        numbers[word] = number
    return count


@kernel
def write_words(
    data: Bytes,
    cells: Array,
    bounds: Array,
    target: Bytes,
    heads: Array,
    columns: Array,
    numbers: Array,
    names: Strings,
    dropped: Strings,
    comments: Strings,
    dropped_keys: Strings,
    keys: Strings,
    probs: Array,
) -> int:
    """Write sentences with other trees; returns the number of bytes.

    Args:
        data: The bytes of the sentences.
        cells: Where the cells of words are, `[word, 11]`.
        bounds: `START` to `WORD` of each sentence and of the end, `[sentence + 1, 5]`.
        target: The bytes are written here.
        heads: The head of each word; -1 for none.
        columns: The other columns that are replaced, in ascending order; DEPREL is the last.
        numbers: The name of each word in these columns, `[column, word]`.
        names: All names.
        dropped: Comments that start so are left out.
        comments: Lines after the comments of each sentence.
        dropped_keys: Entries of MISC that start so are left out.
        keys: Starts of entries that are added to MISC.
        probs: What follows the keys, times 10,000, `[key, word]`.
    """
    end = 0
    for sentence in range(len(bounds) - 1):
        at, body = bounds[sentence, START], bounds[sentence, BODY]
        while at < body:
            start = at
            while data[at] != _BREAK:
                at += 1
            at += 1
            if not _starts_with_any(data, start, at, dropped):
                end = _copy(data, start, at, target, end)
        end = copy_string(comments, sentence, target, end)
        for word in range(bounds[sentence, WORD], bounds[sentence + 1, WORD]):
            row = cells[word]
            copied = at  # multiword tokens and empty nodes before the word come with it
            for place in range(len(columns)):
                column = columns[place]
                if column > _HEAD:
                    end = _copy(data, copied, row[_HEAD], target, end)
                    end = write_number(heads[word], target, end)
                    copied = row[_HEAD + 1] - 1
                end = _copy(data, copied, row[column], target, end)
                end = copy_string(names, numbers[place, word], target, end)
                copied = row[column + 1] - 1
            end = _copy(data, copied, row[_MISC], target, end)
            end = _write_misc(data, row, dropped_keys, target, end)
            for key in range(len(probs)):
                if key or target[end - 1] != _TAB:
                    target[end] = _BAR
                    end += 1
                end = copy_string(keys, key, target, end)
                end = write_number(probs[key, word] // 10_000, target, end)
                end = write_number(10_000 + probs[key, word] % 10_000, target, end)
                target[end - 5] = _POINT
            if target[end - 1] == _TAB:
                target[end] = _NOTHING
                end += 1
            target[end] = _BREAK
            end += 1
            at = row[10]
        end = _copy(data, at, bounds[sentence, END] + 1, target, end)
    return end


@compiled
def _write_misc(data: Bytes, row: Array, dropped: Strings, target: Bytes, end: int) -> int:
    """Write the entries of MISC but those dropped; no bytes if nothing, or `_`, is left."""
    first, at, stop = end, row[_MISC], row[_MISC + 1] - 1
    kept = False
    while at <= stop:
        start = at
        while at < stop and data[at] != _BAR:
            at += 1
        if not _starts_with_any(data, start, at, dropped):
            if kept:
                target[end] = _BAR
                end += 1
            end = _copy(data, start, at, target, end)
            kept = True
        at += 1
    return first if end == first + 1 and target[first] == _NOTHING else end


@compiled
def _starts_with_any(data: Bytes, start: int, end: int, strings: Strings) -> bool:
    text, starts = strings
    for number in range(len(starts) - 1):
        size = starts[number + 1] - starts[number]
        same = size <= end - start
        for place in range(size):
            if not same:
                break
            same = data[start + place] == text[starts[number] + place]
        if same:
            return True
    return False


@compiled
def write_number(number: int, target: Bytes, end: int) -> int:
    if number < 0:
        target[end] = _NOTHING
        return end + 1
    digits, rest = 1, number
    while rest >= 10:
        rest //= 10
        digits += 1
    for place in range(digits):
        target[end + digits - 1 - place] = _ZERO + number % 10
        number //= 10
    return end + digits


@compiled
def copy_string(strings: Strings, number: int, target: Bytes, end: int) -> int:
    text, starts = strings
    return _copy(text, starts[number], starts[number + 1], target, end)


@compiled
def _copy(source: Bytes, start: int, stop: int, target: Bytes, end: int) -> int:
    for place in range(stop - start):
        target[end + place] = source[start + place]
    return end + stop - start
