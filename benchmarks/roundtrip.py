"""Check that every treebank file of a folder is written back byte for byte.

Each file is written once as it was read, and once after every sentence has been made into tokens.
"""

import argparse
import io
import sys
from collections.abc import Iterable
from pathlib import Path

from benchmarks.report import print_table, treebank_files
from treecrf.treebank import Sentence, read_conllu, write_conllu


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.roundtrip", description=__doc__)
    parser.add_argument("treebanks", type=Path, help="the folder of treebanks")
    folder = parser.parse_args().treebanks
    rows = []
    for path in treebank_files(folder, "**/*.conllu"):
        content = path.read_bytes()
        sentences = list(read_conllu(path))
        words = sum(map(len, sentences))
        same = [written(sentences) == content]
        for sentence in sentences:
            assert sentence.tokens
        same.append(written(sentences) == content)
        verdict = ["same" if result else "DIFFERENT" for result in same]
        name = str(path.relative_to(folder))
        rows.append([name, f"{len(sentences):,}", f"{words:,}", f"{len(content):,}", *verdict])
    print_table(["file", "sentences", "words", "bytes", "untouched", "from tokens"], rows)
    if any("DIFFERENT" in row for row in rows):
        sys.exit("some files did not come back as they were")


def written(sentences: Iterable[Sentence]) -> bytes:
    buffer = io.BytesIO()
    write_conllu(sentences, buffer)
    return buffer.getvalue()


if __name__ == "__main__":
    main()
