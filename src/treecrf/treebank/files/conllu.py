"""Reading and writing of CoNLL-U, CoNLL-X and CoNLL-09.

CoNLL-X   ID FORM LEMMA CPOSTAG POSTAG FEATS HEAD DEPREL PHEAD PDEPREL
CoNLL-09  ID FORM LEMMA PLEMMA POS PPOS FEAT PFEAT HEAD PHEAD DEPREL PDEPREL FILLPRED PRED APREDs

Nearly every sentence goes through `parse_sentence` alone, which cuts all columns at once and only
finds out whether everything is well. `_Lines` goes through the others line by line: it knows
multiword tokens and empty nodes, and names what is wrong.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NoReturn, TypeAlias

from treecrf.treebank.errors import TreebankError
from treecrf.treebank.files import streams
from treecrf.treebank.files.streams import File
from treecrf.treebank.sentence import Sentence
from treecrf.treebank.tokens import COLUMNS, IDS, cut
from treecrf.treebank.trees import find_cycle, roots

__all__ = [
    "Columns",
    "ConlluReader",
    "Format",
    "check_conllu",
    "parse_chunks",
    "parse_sentence",
    "read_conllu",
    "write_conllu",
]

Format: TypeAlias = Literal["conllu", "conllx", "conll09"]
Columns: TypeAlias = Literal["gold", "predicted"]

# Where FORM to DEPREL are. The one tag of CoNLL-09 is a treebank's own: XPOS, and no UPOS (None).
_PLACES: dict[tuple[Format, Columns], tuple[int | None, ...]] = {
    ("conllx", "gold"): (1, 2, 3, 4, 5, 6, 7),
    ("conllx", "predicted"): (1, 2, 3, 4, 5, 8, 9),
    ("conll09", "gold"): (1, 2, None, 4, 6, 8, 10),
    ("conll09", "predicted"): (1, 3, None, 5, 7, 9, 11),
}
_COLUMNS_OF_CONLL09 = 14

# Most sentences find their heads here; longer ones are read line by line.
_HEADS = {"_": -1, "-1": -1, "0": 0} | {text: number for number, text in enumerate(IDS, 1)}
_find_head = _HEADS.__getitem__

_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")
_MULTIWORD = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})")
_EMPTY_NODE = re.compile(r"(0|[1-9][0-9]{0,8})\.([1-9][0-9]{0,8})")


def read_conllu(
    source: File, *, columns: Columns = "gold", multiroot: bool = True
) -> Iterator[Sentence]:
    """The sentences of a file, one at a time: memory does not grow with the file.

    The source is a path, `-` for standard input, or an open file; gzip is unpacked. CoNLL-U,
    CoNLL-X and CoNLL-09 are told apart by what is in them; of these two, `columns` takes the gold
    or the predicted analysis. A TreebankError names the line of whatever is wrong; without
    `multiroot`, a second root is.
    """
    with streams.open_source(source) as (file, name):
        chunks = streams.read_chunks(file)
        yield from parse_chunks(chunks, name, columns=columns, multiroot=multiroot)


def parse_chunks(
    chunks: Iterator[bytes], name: str, *, columns: Columns, multiroot: bool, trees: bool = True
) -> Iterator[Sentence]:
    """The sentences of a file that comes in pieces; see `parse_sentence`."""
    yield from ConlluReader(name, columns, multiroot, trees).read(chunks)


def check_conllu(source: File, *, multiroot: bool = False) -> Iterator[Sentence | TreebankError]:
    """The sentences of a file and, in the place of those that are malformed, what is wrong."""
    with streams.open_source(source) as (file, name):
        reader = ConlluReader(name, "gold", multiroot)
        try:
            for line, breaks, block in streams.read_blocks(streams.read_chunks(file), name):
                try:
                    yield reader.parse(block, line, breaks)
                except TreebankError as error:
                    yield error
        except TreebankError as error:  # of the file itself: it cannot be read on
            yield error


@dataclass(slots=True)
class ConlluReader:
    """Sentences of one file; it finds out the format as it goes."""

    name: str
    columns: Columns = "gold"
    multiroot: bool = True
    trees: bool = True
    format: Format | None = None
    seen: bool = False  # whether the file has a sentence

    def read(self, chunks: Iterator[bytes], *, line: int = 1) -> Iterator[Sentence]:
        """The sentences of the file, or of a part that starts at this line."""
        blocks = streams.read_blocks(chunks, self.name, line=line, seen=self.seen)
        for first_line, breaks, block in blocks:
            yield self.parse(block, first_line, breaks)
            self.seen = True

    def parse(self, data: bytes, line: int, breaks: int) -> Sentence:
        block = streams.decode(data, self.name, line)
        if self.format is None:
            self.format = _find_format(block)
            if not self.seen and _is_plain(block):
                problem = _wrong_columns("10", block.partition("\n")[0])
                advice = "this looks like plain text; `treecrf parse` makes CoNLL-U of it"
                raise TreebankError(f"{problem}; {advice}", source=self.name, line=line)
        if self.format in ("conllx", "conll09"):
            block = _as_conllu(
                block, self.name, line=line, format=self.format, columns=self.columns
            )
        elif self.columns == "predicted":
            problem = "no predicted columns: this is not CoNLL-X or CoNLL-09, or PHEAD is empty"
            raise TreebankError(problem, source=self.name, line=line)
        return parse_sentence(
            block, self.name, line, breaks, multiroot=self.multiroot, trees=self.trees
        )


def write_conllu(sentences: Iterable[Sentence], target: File, *, format: Format = "conllu") -> None:
    """Write sentences to a path, `-` for standard output, or an open file.

    What was read from a UD file and not changed is written back byte for byte. A path that ends in
    `.gz` is packed. A file is there as a whole or not at all: until the last sentence is written,
    the path keeps what it had, so it may be the one that the sentences are read from.
    """
    with streams.open_target(target) as write:
        for sentence in sentences:
            write(sentence.to_conllu() if format == "conllu" else _to_format(sentence, format))


def parse_sentence(
    block: str, source: str, line: int, breaks: int, *, multiroot: bool, trees: bool = True
) -> Sentence:
    """The sentence of a block; without `trees`, heads that make no tree are left out."""
    start = 0
    while block.startswith("#", start):
        start = block.find("\n", start) + 1
        if not start:
            raise TreebankError("comments without a sentence", source=source, line=line)
    comments = block[: start - 1].split("\n") if start else []
    body = block[start:] if start else block

    cells = cut(body)
    heads = _quick_heads(cells, breaks=breaks - len(comments), multiroot=multiroot)
    if heads is not None:
        forms, deprels = cells[1::11], cells[7::11]
    else:
        lines = _Lines(body, source, first_line=line + len(comments))
        forms, deprels = ([row[column] for row in lines.words] for column in (1, 7))
        heads = lines.heads(multiroot=multiroot) if trees else None
    return Sentence.from_lines(
        body, forms, heads=heads, deprels=deprels, comments=comments, source=source, line=line
    )


def _quick_heads(cells: list[str], *, breaks: int, multiroot: bool) -> list[int] | None:
    """The heads of lines that are words and all well; None where a closer look is needed."""
    words = breaks + 1
    if (
        len(cells) != 11 * words - 1
        or cells[10::11].count("\n") != breaks
        or cells[::11] != IDS[:words]
        or not all(cells)
    ):
        return None
    try:
        heads = list(map(_find_head, cells[6::11]))
    except KeyError:
        return None
    if max(heads) > words or find_cycle([0, *heads]) or not (multiroot or heads.count(0) <= 1):
        return None
    return heads


class _Lines:
    """The words among the lines of a sentence; raises a TreebankError for the first bad line."""

    def __init__(self, body: str, source: str, *, first_line: int) -> None:
        self.source = source
        self.words: list[list[str]] = []
        self.numbers: list[int] = []  # of the lines the words are in
        self.first_of_multiword = self.last_of_multiword = 0  # of the latest one
        self.empty_nodes = 0  # since the last word
        number = first_line
        for number, text in enumerate(body.split("\n"), first_line):
            self._add(text, number)
        if not self.words:
            self._fail(number, "a sentence without words")
        if self.last_of_multiword > len(self.words):
            ends = f"ends at word {len(self.words)} and its last multiword token at word"
            self._fail(number, f"the sentence {ends} {self.last_of_multiword}")

    def _add(self, text: str, number: int) -> None:
        row = text.split("\t")
        following = len(self.words) + 1
        if len(row) != 10:
            if text.startswith("#"):
                self._fail(number, "a comment inside a sentence; its place is before the words")
            self._fail(number, _wrong_columns("10", text))
        if "" in row:
            name = COLUMNS[row.index("")].upper()
            self._fail(number, f"column {name} is empty; _ stands for nothing")
        if row[0] == str(following):
            self.words.append(row)
            self.numbers.append(number)
            self.empty_nodes = 0
        elif match := _MULTIWORD.fullmatch(row[0]):
            first, last = int(match[1]), int(match[2])
            if last < first:
                self._fail(number, f"multiword token {row[0]} ends before it starts")
            if first != following:
                self._fail(number, f"multiword token {row[0]} is not right before word {first}")
            if first <= self.last_of_multiword:
                self._fail(number, f"multiword token {row[0]} overlaps the one before it")
            self.first_of_multiword, self.last_of_multiword = first, last
        elif _EMPTY_NODE.fullmatch(row[0]):
            if self.first_of_multiword == following:
                self._fail(number, f"empty node {row[0]} between a multiword token and its words")
            self.empty_nodes += 1
            expected = f"{len(self.words)}.{self.empty_nodes}"
            if row[0] != expected:
                self._fail(number, f"empty node {row[0]} where {expected} would be next")
        else:
            self._fail(number, f"id {_short(row[0])} where {following} would be next")

    def heads(self, *, multiroot: bool) -> list[int]:
        """The heads of the words, -1 where they are not annotated."""
        heads = [0]
        for number, row in zip(self.numbers, self.words, strict=True):
            head = row[6]
            if head in ("_", "-1"):
                heads.append(-1)
            elif not _NUMBER.fullmatch(head):
                self._fail(number, f"head {_short(head)} is not a number, or _ for no head")
            elif int(head) > len(self.words):
                size = len(self.words)
                self._fail(number, f"head {head} is outside the sentence, which has {size} words")
            else:
                heads.append(int(head))
        if cycle := find_cycle(heads):
            number, words = self.numbers[cycle[0] - 1], [str(word) for word in (*cycle, cycle[0])]
            path = " -> ".join(words if len(words) <= 12 else [*words[:10], "...", words[-1]])
            self._fail(number, f"the heads make a cycle: {path}")
        if not multiroot and len(several := roots(heads)) > 1:
            number = self.numbers[several[1] - 1]
            self._fail(number, f"words {several[0]} and {several[1]} are both roots; one may be")
        return heads[1:]

    def _fail(self, number: int, problem: str) -> NoReturn:
        raise TreebankError(problem, source=self.source, line=number)


def _find_format(block: str) -> Format | None:
    """The format of the file that a sentence is from; None where the sentence does not tell.

    CoNLL-09 has more columns. In the ninth, CoNLL-X has a number and CoNLL-U number:relation. Where
    both are `_`, CoNLL-X has no comments, and nothing in the tenth.
    """
    for line in block.split("\n"):
        if line.startswith("#"):
            continue
        row = line.split("\t")
        if len(row) >= _COLUMNS_OF_CONLL09:
            return "conll09"
        if block.startswith("#") or not row[0].isdecimal():
            return "conllu"
        if len(row) == 10 and row[8:] != ["_", "_"]:
            return "conllx" if row[8].isdecimal() else "conllu"
    return None


def _is_plain(block: str) -> bool:
    """Whether the start of a file has no tabs, and no comment or number of a word either."""
    return "\t" not in block and not block.startswith("#") and not block[:1].isdecimal()


def _as_conllu(block: str, source: str, *, line: int, format: Format, columns: Columns) -> str:
    """The lines of a sentence in CoNLL-U, with the gold or the predicted analysis."""
    places = _PLACES[format, columns]
    lines = []
    for number, text in enumerate(block.split("\n"), line):
        if text.startswith("#"):
            lines.append(text)
            continue
        row = text.split("\t")
        if (len(row) < _COLUMNS_OF_CONLL09) if format == "conll09" else (len(row) != 10):
            expected = "10" if format == "conllx" else f"{_COLUMNS_OF_CONLL09} or more"
            raise TreebankError(_wrong_columns(expected, text), source=source, line=number)
        if format == "conllx" and not (row[8] in ("_", "-1") or row[8].isdecimal()):
            # What stands there would be lost: the file is not what its beginning says.
            problem = f"PHEAD {row[8][:40]!r} is no number, and those before made this CoNLL-X"
            raise TreebankError(problem, source=source, line=number)
        cells = ["_" if place is None else row[place] for place in places]
        lines.append("\t".join([row[0], *cells, "_", "_"]))
    return "\n".join(lines)


def _to_format(sentence: Sentence, format: Format) -> str:
    """The lines in an older format, which has words only, and the empty line after them."""
    rows = Sentence.from_tokens(sentence.tokens).to_conllu()[:-2].split("\n")
    return "".join(_row(row.split("\t"), format) for row in rows) + "\n"


def _row(cells: list[str], format: Format) -> str:
    if format == "conllx":
        return "\t".join([*cells[:8], "_", "_"]) + "\n"
    number, word, lemma, upos, xpos, feats, head, deprel, _, _ = cells
    tag = upos if xpos == "_" else xpos
    twice = [lemma, lemma, tag, tag, feats, feats, head, head, deprel, deprel]
    return "\t".join([number, word, *twice, "_", "_"]) + "\n"


def _wrong_columns(expected: str, text: str) -> str:
    columns = text.count("\t") + 1
    found = f"{columns} found in {_short(text)}"
    return f"{expected} columns expected, with tabs between them, and {found}"


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "...")
