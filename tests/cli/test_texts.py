"""From text to sentences: parse, segment and tag, with ids, from several files and from pipes."""

import io
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner
from udtools import Validator

from tests.cli.running import COMMAND, ENVIRONMENT, misuse, problem, treecrf
from treecrf.cli.app import app
from treecrf.demo import generate_treebank
from treecrf.segment import rebuild_text
from treecrf.treebank import Sentence, read_conllu

TEXT = "Anna saw the dog.  Why did Peter laugh?\n\nThe dog slept.\n"
FORMS = [["Anna", "saw", "the", "dog", "."], ["Why", "did", "Peter", "laugh", "?"]]


def sentences_of(text: str) -> list[Sentence]:
    return list(read_conllu(io.StringIO(text)))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.mark.parametrize("options", [(), ("--probs",), ("--workers", 1), ("--input", "lines")])
def test_what_text_becomes_is_valid(
    options: tuple[object, ...], full_model: Path, tmp_path: Path
) -> None:
    path, output = tmp_path / "text.txt", tmp_path / "parsed.conllu"
    lines = [sentence.text for sentence in generate_treebank(40, seed=3)]
    path.write_text("\n".join(lines) + "\n\n  Anna\tsaw\u00a0it .", encoding="utf-8")
    treecrf("parse", path, "-m", full_model, "-o", output, *options)
    state = Validator(lang="ud", level=2).validate_files([str(output)])
    assert state.passed(), str(state)
    ids = [sentence.sent_id for sentence in read_conllu(output)]
    assert ids == [str(number) for number in range(1, len(ids) + 1)]
    assert len(ids) >= 41 if "lines" not in options else len(ids) == 41


def test_documents_are_in_the_ids_of_their_sentences(full_model: Path, tmp_path: Path) -> None:
    path, output = tmp_path / "documents.jsonl", tmp_path / "parsed.conllu"
    records = [{"id": "a b/c", "text": TEXT}, {"text": "The dog slept."}, {"id": 7, "text": TEXT}]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    treecrf("parse", path, "-m", full_model, "-o", output)
    ids = [sentence.sent_id for sentence in read_conllu(output)]
    assert ids == ["a_b_c-1", "a_b_c-2", "a_b_c-3", "2-1", "7-1", "7-2", "7-3"]
    assert Validator(lang="ud", level=2).validate_files([str(output)]).passed()


def test_a_line_is_a_sentence(full_model: Path) -> None:
    text = "The book is old. Why did\n\nPeter laugh\n"
    options = ("--input", "lines", "-m", full_model, "-f", "conllu")
    first, second = sentences_of(treecrf("parse", "-", *options, stdin=text).stdout)
    assert first.forms == ["The", "book", "is", "old", ".", "Why", "did"]
    assert second.forms == ["Peter", "laugh"]
    assert (first.text, second.text) == ("The book is old. Why did", "Peter laugh")
    assert [comment for comment in first.comments if "newpar" in comment]
    assert "TokenRange=26:31" in second.tokens[0].misc


def test_several_files_go_into_a_folder(full_model: Path, file: Path, tmp_path: Path) -> None:
    other, out = tmp_path / "other.conllu", tmp_path / "out"
    treecrf("data", "generate", other, "--sentences", 3)
    options = ("-m", full_model)
    told = treecrf("parse", file, other, *options, "-o", out).stdout
    assert told == "parsed 2 files, 6 sentences\n"
    for source, name in ((file, "text.conllu"), (other, "other.conllu")):
        alone = treecrf("parse", source, *options, "-f", "conllu").stdout
        assert (out / name).read_text(encoding="utf-8") == alone
    told = treecrf("parse", f"{tmp_path}/*.txt", *options, "-f", "json", "-o", out).stdout
    assert told == "parsed 1 file, 3 sentences\n"
    assert sorted(path.name for path in out.iterdir()) == [
        "other.conllu",
        "text.conllu",
        "text.jsonl",
    ]
    treecrf("segment", file, *options, "-o", f"{tmp_path}/new/")
    assert set(sentences_of((tmp_path / "new" / "text.conllu").read_text())[0].heads) == {-1}


def test_a_wrong_file_does_not_stop_the_others(
    full_model: Path, file: Path, tmp_path: Path
) -> None:
    wrong, out = tmp_path / "wrong.conllu", tmp_path / "out"
    wrong.write_text("1\ta\n\n")
    command = ["parse", str(wrong), str(file), "-m", str(full_model), "-o", str(out)]
    run = CliRunner().invoke(app, command)
    assert run.exit_code == 2
    first, last = run.stderr.splitlines()
    assert first.startswith(f"{wrong}:1: 10 columns expected")
    assert last == "1 of 2 files could not be parsed, the others are done"
    assert (out / "text.conllu").exists()
    assert problem("parse", wrong, file, "-m", full_model, "-o", file).endswith(
        "not a folder; several files go into one"
    )
    assert misuse("parse", "-", file, "-m", full_model, "-o", out) == (
        "standard input goes to one file, and no folder"
    )


@pytest.mark.parametrize("command", ["parse", "segment", "tag"])
def test_an_empty_file_is_told_of(command: str, full_model: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.txt"
    empty.write_text("\n")
    run = CliRunner().invoke(app, [command, str(empty), "-m", str(full_model)])
    note = f"note: {empty}: there are no sentences in it\n"
    assert (run.exit_code, run.stdout, run.stderr) == (0, "", note)
    out = str(tmp_path / "out")
    run = CliRunner().invoke(
        app, [command, str(empty), "-m", str(full_model), "-o", f"{out}{os.sep}"]
    )
    assert (run.exit_code, run.stderr) == (0, note)


@pytest.mark.parametrize("ending", ["png", "parquet", "conllu.xz", "conllx"])
@pytest.mark.parametrize("command", ["parse", "segment", "tag"])
def test_no_output_has_the_name_of_another_format(
    command: str, ending: str, file: Path, tmp_path: Path
) -> None:
    target = tmp_path / f"out.{ending}"
    found = misuse(command, file, "-o", target)
    assert found.startswith(f"no .{ending.rpartition('.')[2]} is written here, as in {target}: ")
    assert not target.exists()


@pytest.mark.parametrize(
    ("name", "start"),
    [("a.conllu", "# newpar"), ("a.jsonl.gz", "\x1f"), ("a.JSON", "{"), ("a.svg", "<svg")],
)
def test_the_name_of_the_output_says_its_format(
    name: str, start: str, full_model: Path, file: Path, tmp_path: Path
) -> None:
    treecrf("parse", file, "-m", full_model, "-o", tmp_path / name)
    assert (tmp_path / name).read_bytes().decode("latin1").startswith(start)
    treecrf("parse", file, "-m", full_model, "-f", "tree", "-o", tmp_path / name)
    if not name.endswith(".gz"):
        assert "Anna" in (tmp_path / name).read_text(encoding="utf-8").splitlines()[1]


def test_segment_cuts_and_does_not_parse(full_model: Path, file: Path, tmp_path: Path) -> None:
    text = treecrf("segment", file, "-m", full_model).stdout
    parsed = sentences_of(treecrf("parse", file, "-m", full_model, "-f", "conllu").stdout)
    cut = sentences_of(text)
    assert [sentence.forms for sentence in cut][:2] == FORMS
    assert [s.forms for s in cut] == [s.forms for s in parsed]
    assert [s.comments for s in cut] == [s.comments for s in parsed]
    assert all(set(s.heads) == {-1} and set(s.column("upos")) == {"_"} for s in cut)
    assert rebuild_text(cut) == TEXT
    treecrf("segment", file, "-m", full_model, "-o", tmp_path / "cut.jsonl")
    objects = [json.loads(line) for line in (tmp_path / "cut.jsonl").read_text().splitlines()]
    assert [value["text"] for value in objects] == [sentence.text for sentence in cut]


def test_segment_cuts_as_parse_does(tmp_path: Path) -> None:
    """Here only the encoder of the English model says where a sentence ends."""
    path = tmp_path / "text.txt"
    path.write_text("Please call me tomorrow Thanks John Smith")
    cut, parsed = (
        [sentence.forms for sentence in sentences_of(treecrf(command, path).stdout)]
        for command in ("segment", "parse")
    )
    assert len(cut) > 1
    assert cut == parsed


def test_segment_needs_text_and_a_segmenter(full_model: Path, model: Path, tmp_path: Path) -> None:
    tree, file = tmp_path / "tree.conllu", tmp_path / "a.txt"
    treecrf("data", "generate", tree, "--sentences", 1)
    file.write_text("a")
    assert "which has its words already" in problem("segment", tree, "-m", full_model)
    assert "no segmenter" in problem("segment", file, "-m", model)


def test_tag_fills_columns_and_keeps_trees(model: Path, treebank: Path, tmp_path: Path) -> None:
    bare, tagged = tmp_path / "bare.conllu", tmp_path / "tagged.conllu"
    with bare.open("w") as file:
        for sentence in read_conllu(treebank / "dev.conllu"):
            empty = ["_"] * len(sentence)
            columns = dict.fromkeys(("upos", "xpos", "feats", "lemma"), empty)
            file.write(sentence.with_columns(columns).to_conllu())
    treecrf("tag", bare, "-m", model, "-o", tagged)
    parsed = sentences_of(treecrf("parse", bare, "-m", model, "-f", "conllu").stdout)
    right = 0
    for gold, new, full in zip(
        read_conllu(treebank / "dev.conllu"), read_conllu(tagged), parsed, strict=True
    ):
        assert (new.heads, new.deprels) == (gold.heads, gold.deprels)
        assert new.comments == gold.comments
        for name in ("upos", "xpos", "feats", "lemma"):
            assert new.column(name) == full.column(name)
        right += new.column("upos") == gold.column("upos")
    assert right > 30


def test_tags_of_text_have_no_heads(full_model: Path, file: Path) -> None:
    first, *_ = sentences_of(treecrf("tag", file, "-m", full_model).stdout)
    assert first.sent_id == "1"
    assert set(first.heads) == {-1}
    assert "_" not in first.column("upos")


@contextmanager
def running(*arguments: object) -> "Iterator[subprocess.Popen[bytes]]":
    with subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=ENVIRONMENT,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def answer(process: "subprocess.Popen[bytes]", text: str, sentences: int) -> list[Sentence]:
    """What the command writes of so many sentences before it gets any more."""
    assert process.stdin
    assert process.stdout
    process.stdin.write(text.encode())
    process.stdin.flush()
    lines = []
    while sentences:
        lines.append(process.stdout.readline().decode())
        assert lines[-1], "the command has ended"
        sentences -= lines[-1] == "\n"
    return sentences_of("".join(lines))


ROW = "1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n\n"


@pytest.mark.parametrize(
    ("command", "kind", "texts"),
    [
        ("parse", "text", ["Anna saw the dog.\n\nPe", "ter slept.\n\n", "The dog slept.\n \nIt"]),
        ("segment", "lines", ["Anna saw the dog.\nPe", "ter slept.\n", "The dog slept.\nIt"]),
        ("tag", "conllu", [f"{ROW}# text", f" = a\n{ROW}", ROW]),
        pytest.param(
            *("parse", "tokens", ["Anna saw\nPe", "ter slept\n", "The dog\nIt"]),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            *("parse", "jsonl", ['{"text": "a"}\n{"te', 'xt": "a"}\n', '{"text": "a"}\n']),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_pipe_is_answered_as_it_comes(
    command: str, kind: str, texts: list[str], full_model: Path
) -> None:
    found = []
    with running(command, "-", "-m", full_model, "--input", kind) as process:
        for text in texts:
            found += answer(process, text, 1)
        rest, _ = process.communicate()
    found += sentences_of(rest.decode())
    together = treecrf(
        command, "-", "-m", full_model, "--input", kind, "-f", "conllu", stdin="".join(texts)
    ).stdout
    assert [s.to_conllu() for s in found] == [s.to_conllu() for s in sentences_of(together)]


def test_errors_in_a_pipe_name_the_line(model: Path) -> None:
    command = [*COMMAND, "parse", "-", "-m", str(model)]
    run = subprocess.run(
        command, input=f"{ROW}{ROW}1\ta\n\n".encode(), capture_output=True, env=ENVIRONMENT
    )
    assert run.returncode == 2
    assert run.stderr.startswith(b"<stdin>:5: 10 columns expected")
