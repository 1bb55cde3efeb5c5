"""The file that annotation writes: partial trees, whole at every moment, and nobody else's."""

import errno
import fcntl
import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

import pytest

from treecrf.serve.annotate.decisions import OPEN, Annotations, Record
from treecrf.serve.annotate.store import SentenceStore
from treecrf.treebank import Sentence, TreebankError, read_conllu, write_conllu

FORMS = ["Anna", "saw", "the", "garden"]


def sentence() -> Sentence:
    comments = ["# sent_id = a", "# log_prob = -0.5"]
    return Sentence(FORMS, [2, 0, 4, 2], deprels=["nsubj", "root", "det", "obj"], comments=comments)


def test_only_what_is_confirmed_is_written(tmp_path: Path) -> None:
    path = tmp_path / "out.conllu"
    record = Record({1: 2, 4: 2}, {4: "obj"}, "done")
    with Annotations(path) as annotations:
        assert annotations[3] == OPEN
        annotations.put(3, sentence(), record)
    (written,) = read_conllu(path)
    assert written.heads == [2, -1, -1, 2]
    assert written.deprels == ["_", "_", "_", "obj"]
    assert written.comments == ["# sent_id = a", "# annotate = 3 done"]
    with Annotations(path) as again:
        assert list(again) == [3]
        assert again[3] == record
        assert again.counts() == {"done": 1, "skipped": 0, "heads": 2}


def test_what_a_parser_said_of_heads_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "out.conllu"
    rows = ["1\ta\t_\t_\t_\t_\t2\tdep\t_\tHeadProb=0.5", "2\tb\t_\t_\t_\t_\t0\troot\t_\t"]
    text = "\n".join(rows) + "SpaceAfter=No|HeadProb=0.1|Gloss=b\n\n"
    (parsed,) = read_conllu(io.BytesIO(text.encode()))
    with Annotations(path) as annotations:
        annotations.put(1, parsed, Record({1: 2}))
    (written,) = read_conllu(path)
    assert written.column("misc") == ["_", "SpaceAfter=No|Gloss=b"]


def test_the_order_is_that_of_the_person(tmp_path: Path) -> None:
    path = tmp_path / "out.conllu"
    with Annotations(path) as annotations:
        for number in (5, 2, 9, 2):
            annotations.put(number, sentence(), Record({1: 2}, {}, "open"))
    with Annotations(path) as again:
        assert list(again) == [5, 2, 9]


def test_records_may_be_counted_while_one_is_put(tmp_path: Path) -> None:
    with Annotations(tmp_path / "out.conllu") as annotations:
        for number in (1, 2):
            annotations.put(number, sentence(), Record({1: 2}))
        counting = iter(annotations)
        assert next(counting) == 1
        annotations.put(3, sentence(), Record({1: 2}))
        assert list(counting) == [2]


def test_a_file_of_something_else_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "gold.conllu"
    write_conllu([sentence()], path)
    with pytest.raises(TreebankError, match="not made by `treecrf annotate`"):
        Annotations(path)
    assert next(iter(read_conllu(path))).heads == [2, 0, 4, 2]


def test_another_corpus_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "out.conllu"
    with Annotations(path) as annotations:
        annotations.put(2, sentence(), Record({1: 2}))
    with Annotations(path) as again:
        again.check(1, Sentence(["else"]))
        with pytest.raises(TreebankError, match="sentence 2 is not that of the corpus"):
            again.check(2, Sentence(["else"]))
    with Annotations(path) as again, pytest.raises(TreebankError, match="another one; give that"):
        again.check_all_found()


def test_one_process_has_the_file(tmp_path: Path) -> None:
    path = tmp_path / "out.conllu"
    with Annotations(path), pytest.raises(TreebankError, match=r"has it \(process \d+ .*end that"):
        Annotations(path)
    assert list(tmp_path.iterdir()) == []
    with Annotations(path):
        pass


def test_a_disk_without_locks_is_not_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def flock(file: IO[str], operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(TreebankError, match=r"cannot be locked there .* on another disk"):
        Annotations(tmp_path / "out.conllu")


def test_a_process_killed_at_any_moment_leaves_a_whole_file(tmp_path: Path) -> None:
    """What it said to be saved is there; what it was writing is there or is not."""
    path = tmp_path / "out.conllu"
    code = (
        "import sys\n"
        "from treecrf.serve.annotate.decisions import Annotations, Record\n"
        "from treecrf.treebank import Sentence\n"
        "with Annotations(sys.argv[1]) as annotations:\n"
        "    for number in range(len(list(annotations)) + 1, 1_000_000):\n"
        "        annotations.put(number, Sentence(['a', 'b']), Record({1: 2}, {}, 'done'))\n"
        "        print(number, flush=True)\n"
    )
    for milliseconds in (0, 7, 40):
        command = [sys.executable, "-c", code, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(milliseconds / 1000)
            process.send_signal(signal.SIGKILL)
            said = process.stdout.read().split()
        with Annotations(path) as annotations:
            numbers = list(annotations)
            assert numbers == list(range(1, len(numbers) + 1))
            assert not said or len(numbers) >= int(said[-1])
            assert all(annotations[number].heads == {1: 2} for number in numbers)
        assert {name for name in os.listdir(tmp_path) if name.endswith(".tmp")} == set()


def test_a_corpus_has_its_sentences_by_number() -> None:
    with SentenceStore() as corpus:
        sentences = [Sentence([f"w{number}", "ö"]) for number in range(50)]
        assert [corpus.add(each) for each in sentences] == list(range(1, 51))
        assert len(corpus) == 50
        assert [corpus[number].forms for number in (50, 1, 17)] == [
            ["w49", "ö"],
            ["w0", "ö"],
            ["w16", "ö"],
        ]
