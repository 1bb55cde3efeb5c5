"""Files in, files out: where the trees of a file go, and when they have to be made again."""

import os
from pathlib import Path

import pytest

from experiments.english.compact import save_compact
from tests.parser.models import SMALL, random_parser
from treecrf.integrations.shards import Shard, claim_folder, find_shards, unfinished
from treecrf.parser import ParserError
from treecrf.parser import folder as checkpoint
from treecrf.parser.files.sources import FileOptions


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    for name in ("b.txt", "a.conllu.gz", "c.jsonl", "deep/er/d.parquet", "deep/b.txt"):
        path = tmp_path / "corpus" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x" * len(name))
    return tmp_path / "corpus"


def names(shards: list[Shard], output: Path) -> list[str]:
    return [os.path.relpath(shard.target, output) for shard in shards]


def test_each_file_has_one_of_its_own(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shards = find_shards([f"{corpus}/*.*"], out, format="conllu")
    assert names(shards, out) == ["a.conllu.gz", "b.conllu", "c.conllu"]
    shards = find_shards([f"{corpus}/**/*.*"], out, format="json")
    expected = ["a.jsonl.gz", "b.jsonl", "c.jsonl", "deep/b.jsonl", "deep/er/d.jsonl"]
    assert sorted(names(shards, out)) == expected
    one = find_shards([f"{corpus}/deep/b.txt"], out, format="conllu")
    assert names(one, out) == ["b.conllu"]
    twice = find_shards([f"{corpus}/b.txt", f"{corpus}/*.txt"], out, format="conllu")
    assert names(twice, out) == ["b.conllu"]


def test_no_file_is_lost(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(ParserError, match="no such file, so nothing was begun; quote a pattern"):
        find_shards([f"{corpus}/*.xml"], out, format="conllu")
    with pytest.raises(
        ParserError, match=r"corpus: a folder; '.*/corpus/\*\*/\*' is all the files"
    ):
        find_shards([str(corpus)], out, format="conllu")
    assert len(find_shards([f"{corpus}/**/*"], out, format="conllu")) == 5
    with pytest.raises(ParserError, match="would both go to"):
        find_shards([f"{corpus}/b.txt", f"{corpus}/deep/b.txt"], out, format="conllu")
    with pytest.raises(ParserError, match="its trees would take its place"):
        find_shards([f"{corpus}/*.gz"], corpus, format="conllu")


def test_what_is_done_is_not_done_again(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shards = find_shards([f"{corpus}/**/*.*"], out, format="conllu")
    left = unfinished(shards)
    sizes = [os.path.getsize(shard.source) for shard in left]
    assert sizes == sorted(sizes, reverse=True)  # the longest takes no worker by surprise
    assert len(left) == 5
    first = Path(left[0].target)
    first.write_text("")
    second = Path(left[1].target)
    half = second.with_name(f".{second.name}.0123abcd.tmp")
    half.write_text("half of")
    mark = second.with_name(f".{second.name}.0123abcd.attempt")  # of a worker that was killed
    mark.touch()
    assert len(left[1].marks) == 1
    with left[1].attempt():
        assert len(left[1].marks) == 2
    assert len(left[1].marks) == 1
    assert unfinished(shards) == left[1:]
    assert not half.exists()
    assert not mark.exists()
    os.utime(left[0].source, (first.stat().st_mtime + 9,) * 2)  # it has changed since
    assert unfinished(shards) == left


def test_a_folder_is_of_one_model_and_its_options(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for number in (1, 2):
        random_parser(SMALL, seed=number).save(tmp_path / f"model{number}")
    first, second, plain = tmp_path / "model1", tmp_path / "model2", FileOptions()
    for _ in range(2):
        claim_folder(out, first, options=plain, format="conllu")
    for model, options in ((second, plain), (first, FileOptions(write_probs=True))):
        with pytest.raises(ParserError, match="by another model or with other options"):
            claim_folder(out, model, options=options, format="conllu")
    (tmp_path / "file").write_text("")
    with pytest.raises(ParserError, match="not a folder"):
        claim_folder(tmp_path / "file", first, options=plain, format="conllu")
    (out / ".treecrf.json").write_text("[" * 100_000)
    with pytest.raises(ParserError, match="by another model or with other options"):
        claim_folder(out, first, options=plain, format="conllu")


def test_a_model_in_several_files_is_told_from_another(tmp_path: Path) -> None:
    for seed in (1, 2):
        parser = random_parser(SMALL, seed=seed)
        parser.save(tmp_path / str(seed))
        save_compact(tmp_path / str(seed), parser.scorer.state_dict(), "half")
    assert not (tmp_path / "1" / checkpoint.WEIGHTS).exists()
    assert checkpoint.model_digest(tmp_path / "1") != checkpoint.model_digest(tmp_path / "2")


def test_a_model_is_the_same_after_training_that_found_no_better_one(tmp_path: Path) -> None:
    folder, digests = tmp_path / "model", []
    for changes in ({}, {"epochs": 7, "patience": 2}, {"decoder": "viterbi"}):
        random_parser(SMALL.changed(changes), seed=1).save(folder)
        digests.append(checkpoint.model_digest(folder))
    assert digests[0] == digests[1] != digests[2]
