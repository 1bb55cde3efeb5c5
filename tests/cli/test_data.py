"""`treecrf data`, end to end."""

import gzip
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from treecrf.treebank import read_conllu
from treecrf.treebank.trees import is_projective

DATA = Path(__file__).parent.parent / "treebank" / "data"
GOLDEN = str(DATA / "golden.conllu")


def treecrf(
    *arguments: object, code: int = 0, stdin: str | None = None
) -> subprocess.CompletedProcess[str]:
    result = subprocess.run(
        [sys.executable, "-m", "treecrf", "data", *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        input=stdin,
    )
    assert "Traceback" not in result.stderr
    assert result.returncode == code, result.stderr
    if code == 0:
        counts = arguments[0] == "mask" and re.fullmatch("kept .* sentences\n", result.stderr)
        assert counts or result.stderr == ""
    return result


@pytest.fixture
def malformed(tmp_path: Path) -> Path:
    path = tmp_path / "bad.conllu"
    good = "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    path.write_text(good + good.replace("\t0\t", "\t7\t") + good + good.replace("\t0\t", "\t1\t"))
    return path


def test_stats_counts() -> None:
    table = treecrf("stats", GOLDEN).stdout
    assert "non-projective sentences" in table
    assert "6.5 a sentence" in table
    counts = json.loads(treecrf("stats", "-", "--json", stdin=Path(GOLDEN).read_text()).stdout)
    assert (counts["sentences"], counts["words"], counts["relations"]["root"]) == (4, 26, 4)


def test_stats_of_conll09_takes_either_analysis() -> None:
    path = DATA / "golden.conll09"
    gold = json.loads(treecrf("stats", path, "--json").stdout)
    predicted = json.loads(treecrf("stats", path, "--columns", "predicted", "--json").stdout)
    assert (gold["relations"]["ROOT"], predicted["relations"]["ROOT"]) == (1, 2)


def test_validate_names_every_problem(malformed: Path) -> None:
    result = treecrf("validate", malformed, code=2)
    assert result.stderr.splitlines() == [
        f"{malformed}:3: head 7 is outside the sentence, which has 1 words",
        f"{malformed}:7: the heads make a cycle: 1 -> 1",
        f"{malformed}: 2 malformed",
    ]
    assert result.stdout == f"{malformed}: 2 well-formed sentences with 2 words\n"
    found = json.loads(treecrf("validate", malformed, "--json", code=2).stdout)
    assert (found["sentences"], found["words"]) == (2, 2)
    assert found["problems"][1] == {"line": 7, "problem": "the heads make a cycle: 1 -> 1"}
    assert treecrf("validate", GOLDEN).stdout == (
        f"{GOLDEN}: 4 well-formed sentences with 26 words\n"
    )


def test_validate_wants_one_root_unless_told(tmp_path: Path) -> None:
    path = tmp_path / "roots.conllu"
    path.write_text("1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n2\tb\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    problem = treecrf("validate", path, code=2).stderr.splitlines()[0]
    assert problem == f"{path}:2: words 1 and 2 are both roots; one may be"
    treecrf("validate", path, "--multiroot")


@pytest.mark.parametrize(
    "command", ["stats", "convert", "project", "deproject", "show --number 9", "mask --keep 1"]
)
def test_a_malformed_file_is_one_line_and_no_output(
    command: str, malformed: Path, tmp_path: Path
) -> None:
    output = tmp_path / "out"
    name, *options = command.split()
    if name not in ("stats", "show"):
        options += ["--output", str(output)]
    result = treecrf(name, malformed, *options, code=2)
    assert result.stderr == (f"{malformed}:3: head 7 is outside the sentence, which has 1 words\n")
    assert not output.exists()


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "none.conllu"
    assert treecrf("stats", path, code=2).stderr == f"{path}: No such file or directory\n"
    assert (
        treecrf("stats", tmp_path, code=2).stderr
        == f"{tmp_path}: this is a folder; name a file in it\n"
    )


def test_the_file_to_write_is_an_option(tmp_path: Path) -> None:
    found = treecrf("convert", tmp_path / "a.conllu", "b.conllx", code=2).stderr
    assert found.endswith("argument(s) (b.conllx); the file to write goes after --output\n")


@pytest.mark.parametrize("ending", ["pdf", "PNG", "xz"])
def test_no_file_is_written_by_the_name_of_another_format(ending: str, tmp_path: Path) -> None:
    source, path = tmp_path / "a.conllu", tmp_path / f"b.{ending}"
    source.write_text("1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    for command in (("convert", source, "-o", path), ("show", source, "--svg", path)):
        found = treecrf(*command, code=2).stderr
        assert f"no .{ending.lower()} is written here, as in {path}: " in " ".join(found.split())
        assert not path.exists()


def test_convert_goes_between_formats(tmp_path: Path) -> None:
    assert treecrf("convert", GOLDEN).stdout == Path(GOLDEN).read_text(encoding="utf-8")
    packed = tmp_path / "golden.conllu.gz"
    treecrf("convert", GOLDEN, "-o", packed)
    assert gzip.decompress(packed.read_bytes()) == Path(GOLDEN).read_bytes()
    for name in ("conllx", "conll09"):
        text = treecrf("convert", packed, "--to", name).stdout
        again = list(read_conllu(io.StringIO(text)))
        assert [item.heads for item in again] == [item.heads for item in read_conllu(GOLDEN)]
    predicted = treecrf("convert", DATA / "golden.conll09", "--columns", "predicted").stdout
    assert predicted.split("\n")[0] == "1\tJohn\tJohn\t_\tNN\t_\t3\tOBJ\t_\t_"


@pytest.mark.parametrize("encoding", ["head", "path", "head+path"])
def test_project_and_deproject(encoding: str, tmp_path: Path) -> None:
    lifted = tmp_path / "lifted.conllu"
    treecrf("project", GOLDEN, "--encoding", encoding, "--output", lifted)
    assert all(is_projective([0, *item.heads]) for item in read_conllu(lifted))
    assert "nmod↑" in lifted.read_text(encoding="utf-8")
    restored = treecrf("deproject", lifted, "--encoding", encoding).stdout
    assert restored == Path(GOLDEN).read_text(encoding="utf-8")


def crossing_partial_tree() -> str:
    rows = [
        "1\ta\t{0}\t3\tx\t{1}",
        "2\tb\t{0}\t4\tx\t{1}",
        "3\tc\t{0}\t_\t_\t{1}",
        "4\td\t{0}\t0\tx\t{1}",
    ]
    return "\n".join(row.format("_\t_\t_\t_", "_\t_") for row in rows) + "\n\n"


@pytest.mark.parametrize("encoding", ["head", "path", "head+path"])
def test_a_file_is_lifted_once(encoding: str, tmp_path: Path) -> None:
    lifted = tmp_path / "lifted.conllu"
    treecrf("project", GOLDEN, "--encoding", encoding, "-o", lifted)
    for command, advice in (("project", "deproject it first"), ("mask", "use --encoding none")):
        options = ["--keep", "1"] if command == "mask" else []
        problem = treecrf(command, lifted, *options, "-o", tmp_path / "out", code=2).stderr
        assert problem.startswith(f"{lifted}:")
        assert problem.endswith(f": sentence 2: already lifted; {advice}\n")
        assert not (tmp_path / "out").exists()
    unchanged = treecrf("mask", lifted, "--keep", 1, "--encoding", "none").stdout
    assert unchanged == lifted.read_text(encoding="utf-8")


def test_mask_says_what_to_do_about_partial_trees_that_cannot_be_lifted() -> None:
    text = crossing_partial_tree()
    problem = treecrf("mask", "-", "--keep", 1, code=2, stdin=text).stderr
    assert problem.endswith("; annotate more, or --encoding none\n")
    assert treecrf("mask", "-", "--keep", 1, "--encoding", "none", stdin=text).stdout == text


def test_mask_of_sentences_takes_no_encoding() -> None:
    options = ["--keep", 0.5, "--unit", "sentences", "--encoding", "path"]
    assert "no --encoding" in treecrf("mask", GOLDEN, *options, code=2).stderr


def test_counts_of_one() -> None:
    text = "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    found = treecrf("validate", "-", stdin=text).stdout
    assert found == "-: 1 well-formed sentence with 1 word\n"


def test_project_names_partial_trees_that_cannot_be() -> None:
    text = crossing_partial_tree()
    result = treecrf("project", "-", code=1, stdin=text)
    assert result.stdout == text
    assert result.stderr == (
        "<stdin>:1: no projective tree has the arcs of this partial tree; annotate more\n"
    )


def test_mask_keeps_a_share() -> None:
    def heads(*options: object) -> list[list[int]]:
        result = treecrf("mask", GOLDEN, *options)
        found = [item.heads for item in read_conllu(io.StringIO(result.stdout))]
        by_sentence = [sum(head >= 0 for head in item) for item in found]
        assert f"kept {sum(by_sentence)} of " in result.stderr
        assert f"in {sum(map(bool, by_sentence))} of 4 sentences" in result.stderr
        return found

    some, more = heads("--keep", 0.3), heads("--keep", "0.6", "--unit", "dependencies", "--seed", 1)
    assert [sum(head >= 0 for head in item) for item in some] == [4, 2, 1, 0]
    for fewer, many in zip(some, more, strict=True):
        assert all(a in (-1, b) for a, b in zip(fewer, many, strict=True))
    assert heads("--keep", 0.6, "--seed", 2) != more
    kept = treecrf("mask", GOLDEN, "--keep", 0.5, "--unit", "sentences").stdout
    original = Path(GOLDEN).read_text(encoding="utf-8")
    assert kept.count("\n\n") == 2
    assert all(block in original for block in kept.split("\n\n"))
    assert heads("--keep", 1, "--encoding", "none")[1][6] == 2
    assert heads("--keep", 1)[1][6] == 4
    assert "--keep" in treecrf("mask", GOLDEN, "--keep", 2, code=2).stderr


def test_generate_writes_a_treebank(tmp_path: Path) -> None:
    path = tmp_path / "made.conllu.gz"
    treecrf("generate", path, "--sentences", 60, "--seed", 3, "--crossing", 0.5)
    sentences = list(read_conllu(path))
    assert len(sentences) == 60
    assert 15 < sum(is_projective([0, *item.heads]) for item in sentences) < 45
    text = treecrf("generate", "-", "--sentences", "20", "--seed", "3", "--crossing", "0.5").stdout
    assert list(read_conllu(io.StringIO(text))) == sentences[:20]
    treecrf("generate", path, "--sentences", 1)  # over what was generated
    assert len(list(read_conllu(path))) == 1
    assert "--crossing" in treecrf("generate", "-", "--crossing", 2, code=2).stderr
    assert "--sentences" in treecrf("generate", "-", "--sentences", -1, code=2).stderr


def test_show_draws_a_tree() -> None:
    lines = treecrf("show", GOLDEN, "--sent-id", "golden-2").stdout.splitlines()
    assert [line.rstrip() for line in lines] == [
        "golden-2",
        "A hearing is scheduled on the issue today",
        "    ┌───▶ A          DET   det         1",
        "  ┌─┼───▶ hearing    NOUN  nsubj:pass  2",
        "  ├─────▶ is         AUX   aux:pass    3",
        "──┼─────▶ scheduled  VERB  root        4",
        "  │ │ ┌─▶ on         ADP   case        5",
        "  │ │ ├─▶ the        DET   det         6",
        "  │ └─┴─▶ issue      NOUN  nmod        7",
        "  └─────▶ today      NOUN  obl:tmod    8",
    ]
    first = treecrf("show", GOLDEN).stdout
    assert first.startswith("golden-1\nDon't hear")
    every = treecrf("show", GOLDEN, "-n", "99").stdout
    assert "New York" in every
    assert every.startswith(first)


def test_show_says_when_there_is_no_such_sentence() -> None:
    result = treecrf("show", GOLDEN, "--sent-id", "x", code=2)
    assert result.stderr == f"{GOLDEN}: no sentence with sent_id = x\n"
    assert treecrf("show", "-", code=2, stdin="").stderr == "-: no sentences\n"


def test_a_reader_that_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "long.conllu"
    path.write_bytes(Path(GOLDEN).read_bytes() * 2000)
    process = subprocess.Popen(
        [sys.executable, "-m", "treecrf", "data", "convert", str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == b"# newdoc id = golden\n"
    process.stdout.close()
    with process.stderr:
        assert process.stderr.read() == b""
    process.wait()


def test_the_text_of_a_treebank(tmp_path: Path) -> None:
    row = "\t_\t_\t_\t_\t_\t_\t_\t"
    path, text = tmp_path / "a.conllu", tmp_path / "a.txt"
    path.write_text(
        f"# newdoc\n1\tHi{row}SpaceAfter=No\n2\t!{row}_\n\n"
        f"1-2\tdu{row}_\n1\tde{row}_\n2\tle{row}_\n\n"
        f"# newpar\n1\tBye{row}_\n\n",
        encoding="utf-8",
    )
    assert treecrf("convert", path, "--to", "text").stdout == "Hi! du\n\nBye\n"
    treecrf("convert", path, "-o", text)
    assert text.read_text(encoding="utf-8") == "Hi! du\n\nBye\n"
    treecrf("convert", path, "-o", tmp_path / "a.conllx")
    assert "-" not in (tmp_path / "a.conllx").read_text(encoding="utf-8")


def test_a_real_treebank_is_not_replaced_by_a_made_up_one(tmp_path: Path) -> None:
    path = tmp_path / "train.conllu"
    for content in (Path(GOLDEN).read_text(encoding="utf-8"), "some text\n"):
        path.write_text(content, encoding="utf-8")
        found = treecrf("generate", path, "--sentences", 1, code=2).stderr
        assert found.startswith(f"{path}: has something that was not generated; ")
        assert path.read_text(encoding="utf-8") == content
    treecrf("generate", path, "--sentences", 1, "--overwrite")
    treecrf("generate", path, "--sentences", 2)
