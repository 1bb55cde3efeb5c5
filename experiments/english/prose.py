"""Paragraphs of English prose in files of several formats, and a share of them."""

import bz2
import gzip
import html
import lzma
import random
import re
import zlib
from collections.abc import Callable, Iterable

__all__ = ["FORMATS", "choose_paragraphs", "is_prose", "read_prose"]

_NOT_PROSE = re.compile(
    r"<(pre|table|script|style|nav|head|screen|programlisting|code-block)\b.*?</\1\s*>|<!--.*?-->",
    re.DOTALL,
)
_BLOCK = re.compile(r"</?(p|para|li|dd|dt|div|h\d|ul|ol|td|title|blockquote|br|item)\b[^>]*>")
_COMMON = re.compile(
    r"the|an?|of|to|in|and|is|are|was|were|be|been|it|that|this|for|on|with|as|at|by|you|i|he|she|"
    r"we|they|not|have|has|had|do|does|but|or|if|from|your|his|her|my|me|him|them|what|there|can|"
    r"will|would|so|no|one|all|who|which|when|how"
)
_CODE = re.compile(r"[{}\\|=<>_#@^~*█]|\$\D|\w\(|://|--")
_MISSING = "\ufffd"  # also stands for bytes that are not UTF-8
_GAP = re.compile(r"%\d*[A-Za-z]|%\d+%?|\$[A-Za-z]|&\w|\\a|\\[A-Z]|<[^>]*>|\{[^}]*\}|!\d")
_CHARSXP = re.compile(rb"\x00[\x00\x04]\x00\x09")


def _html(data: bytes) -> str:
    text = _BLOCK.sub("\n\n", _NOT_PROSE.sub("\n\n", data.decode("utf-8", "replace")))
    text = re.sub(r"</key>\s*<key>", "+", text)
    text = re.sub(r"<(link|xref)\b[^>]*/>", _MISSING, text)  # the title of another page
    lines = html.unescape(re.sub(r"<[^>]*>", "", text)).splitlines()
    return "\n".join(line.strip(" \t¶") for line in lines)


def _plain(data: bytes) -> str:
    return data.decode("utf-8", "replace").replace("\r", "").replace("_", "")


def _one_line(data: bytes) -> str:
    """A text without line breaks, cut after the first sentence end past every hundred words."""
    return re.sub(r"((?:\S+\s+){100}(?:\S+\s+)*?\S*[a-z][.!?]) ", r"\1\n\n", _plain(data))


def _pod(data: bytes) -> str:
    blocks = data.decode("utf-8", "replace").split("\n\n")
    # Headings of an FAQ are its questions; blocks that begin with a space are code.
    kept = [re.sub(r"^=head\d ", "", block) for block in blocks]
    text = "\n\n".join(block for block in kept if not re.match(r"[ \t=]", block))
    return html.unescape(re.sub(r"\b[A-Z]<+ ?([^<>|]*?)(?:\|[^<>]*)? ?>+", r"\1", text))


def _dictionary(data: bytes) -> str:
    text = re.sub(r"[{}]", "", data.decode("utf-8", "replace"))
    return re.sub(r"(?m)^ *\[[^\]]*\] ", "", text)  # where a word is used


def _wml(data: bytes) -> str:
    found = re.findall(r'_ ?"((?:[^"]|"")*)"', data.decode("utf-8", "replace"))
    return "\n\n".join(_without_gaps(text.replace('""', '"')) for text in found)


def _quoted(data: bytes) -> str:
    found = re.findall(r"`([^`\n]*)`", data.decode("utf-8", "replace"))
    return "\n\n".join(map(_without_gaps, found))


def _strings(data: bytes) -> str:
    """Strings of JSON, Lua, Python and C."""
    text = data.decode("utf-8", "replace").replace("\r", "")
    found = re.findall(r'"((?:[^"\\\n]|\\.)*)"|\[\[(.*?)\]\]', text, re.DOTALL)
    strings = "\n\n".join(_without_gaps(quoted or long) for quoted, long in found)
    return re.sub(r"\\[nt]", "\n", strings).replace("\\", "")


def _angles(data: bytes) -> str:
    """Texts in angle brackets, among commands of a game that stand in them as well."""
    found = re.findall(r"<([^<>\n]*)>", data.decode("utf-8", "replace"))
    texts = (text for text in found if not re.search(r"[a-z][A-Z]\w* [-\d?]|\d \?| \?$", text))
    return "\n\n".join(map(_without_gaps, texts))


def _without_gaps(text: str) -> str:
    """Text without codes of colours and fonts; what a program fills in is marked as missing."""
    text = re.sub(r"`[^\w\s]|`\d|</?(?:b|i|big|small|span)\b[^>]*>|\[/?b\]", "", text)
    return _GAP.sub(_MISSING, text)


def _aiml(data: bytes) -> str:
    """Answers of a chat robot, but for those with a part that is filled in."""
    answers = re.findall(r"(?s)<template>(.*?)</template>", data.decode("utf-8", "replace"))
    text = re.sub(r"(?s)<(think|script)\b.*?</\1>", "", "\n\n".join(answers))
    text = re.sub(r"</?(li|random|condition|p)\b[^>]*>", "\n\n", text)
    text = re.sub(r"</?(set|a|em|b|i|br)\b[^>]*>", " ", text)
    blocks = re.split(r"\n\s*\n", html.unescape(re.sub(r"<[^>]*>", _MISSING, text)))
    # What begins with a small letter, or has its mark apart, is the rest of a sentence.
    return "\n\n".join(block for block in blocks if not re.search(r"^\s*[a-z]| [?!.,]", block))


def _rdb(data: bytes) -> str:
    """Strings of an R database: compressed objects, each string after its length."""
    lines: list[str] = []
    unpack = {b"Z": lzma.decompress, b"2": bz2.decompress}
    for match in re.finditer(rb"(?s)....(?:x[\x01\x5e\x9c\xda]|2BZh|Z\xfd7zXZ)", data):
        kind = data[match.start() + 4 : match.start() + 5]
        try:
            if kind in unpack:
                raw = unpack[kind](data[match.start() + 5 :])
            else:
                raw = zlib.decompressobj().decompress(data[match.start() + 4 :])
        except (zlib.error, lzma.LZMAError, OSError):
            continue
        for string in _CHARSXP.finditer(raw):
            end = string.end() + 4
            size = int.from_bytes(raw[string.end() : end])
            lines.append(raw[end : end + size].decode("utf-8", "replace") if size < 10_000 else "")
    return "\n".join(lines).replace("_", "")


FORMATS: dict[str, Callable[[bytes], str]] = {
    "html": _html,
    "plain": _plain,
    "one line": _one_line,
    "pod": _pod,
    "dictionary": _dictionary,
    "wml": _wml,
    "quoted": _quoted,
    "strings": _strings,
    "angles": _angles,
    "aiml": _aiml,
    "rdb": _rdb,
}


def is_prose(paragraph: str) -> bool:
    """Whether a paragraph is English sentences: no heading, code, table or list of names."""
    words = re.findall(r"[A-Za-z']+", paragraph)
    if _MISSING in paragraph or not 3 <= len(words) <= 600:
        return False
    if not re.search(r"[.!?…][\"')\]\u201d\u2019]*$", paragraph):
        return False
    letters = sum(map(str.isalpha, paragraph)) / len(re.sub(r"\s", "", paragraph))
    ascii_letters = sum(map(len, words)) / max(1, sum(map(str.isalpha, paragraph)))
    common = sum(_COMMON.fullmatch(word.lower()) is not None for word in words) / len(words)
    capitals = sum(word[0].isupper() for word in words) / len(words)
    if len(words) > 7 and (common < 0.2 or capitals > 0.5):
        return False
    return (
        letters > 0.75 and ascii_letters > 0.9 and len(_CODE.findall(paragraph)) <= len(words) / 25
    )


def read_prose(data: bytes, form: str) -> list[str]:
    """Paragraphs of prose in a file of a format of `FORMATS`, each in one line."""
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    blocks = re.split(r"\n\s*\n", FORMATS[form](data))
    paragraphs = (" ".join(block.split()) for block in blocks)
    return [paragraph for paragraph in paragraphs if is_prose(paragraph)]


def choose_paragraphs(paragraphs: Iterable[str], *, words: int, seed: int) -> list[str]:
    """Different paragraphs in random order, until they have so many words."""
    different = sorted({paragraph.lower(): paragraph for paragraph in paragraphs}.values())
    random.Random(seed).shuffle(different)
    chosen, count = [], 0
    for paragraph in different:
        if count >= words:
            break
        chosen.append(paragraph)
        count += len(paragraph.split())
    return chosen
