"""`treecrf parse` from end to end."""

import gzip
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

import treecrf as package
from tests.cli.running import COMMAND, ENVIRONMENT, misuse, parsed, problem, treecrf
from treecrf.cli.app import app
from treecrf.treebank import read_conllu
from treecrf.treebank.trees import is_tree

ROOT = Path(__file__).parent.parent.parent
GOLDEN = ROOT / "tests" / "treebank" / "data" / "golden.conllu"
TOKENS = "the dog saw a telescope .\n\n  Anna   sleeps\t. \n"


@pytest.fixture(scope="module")
def parser(model: Path) -> package.Parser:
    return package.load(model, device="cpu")


def rows(text: str) -> Iterator[list[str]]:
    """The lines of a file, those of words cut into columns."""
    for line in text.split("\n"):
        yield line.split("\t") if re.match(r"[0-9]+\t", line) else [line]


def test_everything_but_the_tree_stays(model: Path, tmp_path: Path) -> None:
    output = tmp_path / "parsed.conllu"
    treecrf("parse", GOLDEN, "--model", model, "-o", output)
    before, after = (path.read_bytes().decode() for path in (GOLDEN, output))
    assert before != after
    for old, new in zip(rows(before), rows(after), strict=True):
        if len(old) == 10:
            old[2:8] = new[2:8]
        assert old == new
    trees = list(read_conllu(output, multiroot=False))
    assert all(is_tree([0, *sentence.heads]) for sentence in trees)
    assert all("_" not in sentence.deprels for sentence in trees)


def test_probabilities_go_into_misc(model: Path, parser: package.Parser, tmp_path: Path) -> None:
    output = tmp_path / "parsed.conllu"
    treecrf("parse", GOLDEN, "--model", model, "--probs", "-o", output)
    before, after = (path.read_bytes().decode() for path in (GOLDEN, output))
    log_probs = re.findall(r"^# log_prob = (-?\d+\.\d{4})\n", after, re.MULTILINE)
    without = re.sub(r"^# log_prob = .*\n", "", after, flags=re.MULTILINE)
    written = []
    for old, new in zip(rows(before), rows(without), strict=True):
        if len(old) == 10:
            misc, _, probs = new[9].rpartition("HeadProb=")
            prob = probs.partition("|")[0]
            assert misc.rstrip("|") == old[9].replace("_", "")
            written.append(float(prob))
            old[2:8], old[9] = new[2:8], new[9]
        assert old == new
    assert all(0 <= prob <= 1 for prob in written)
    expected = parser.parse_tokens(list(read_conllu(GOLDEN)))
    assert written == pytest.approx([p for s in expected for p in s.probs or ()], abs=1.1e-4)
    from_python = [s.comments[-1].removeprefix("# log_prob = ") for s in expected]
    assert list(map(float, log_probs)) == pytest.approx(list(map(float, from_python)), abs=1e-3)


@pytest.mark.parametrize("kind", ["auto", "tokens"])
def test_words_from_standard_input(kind: str, model: Path, parser: package.Parser) -> None:
    text = treecrf("parse", "-", "--model", model, "--input", kind, stdin=TOKENS).stdout
    sentences = parsed(text)
    assert [sentence.forms for sentence in sentences] == [
        ["the", "dog", "saw", "a", "telescope", "."],
        ["Anna", "sleeps", "."],
    ]
    assert sentences[1].comments == ["# sent_id = 2", "# text = Anna sleeps ."]
    expected = parser.parse_tokens([sentence.forms for sentence in sentences])
    assert [s.heads for s in sentences] == [s.heads for s in expected]
    assert [s.deprels for s in sentences] == [s.deprels for s in expected]


def test_what_the_input_is_can_be_said(model: Path) -> None:
    text = "1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    assert parsed(treecrf("parse", "-", "-m", model, stdin=text).stdout)[0].forms == ["a"]
    as_tokens = treecrf("parse", "-", "-m", model, "--input", "tokens", stdin=text).stdout
    assert parsed(as_tokens)[0].forms == ["1", "a", *"________"]
    line = problem("parse", "-", "-m", model, "--input", "conllu", stdin="a dog\n\n")
    assert line.startswith("<stdin>:1: 10 columns expected")


@pytest.mark.parametrize("options", [(), ("--workers", "1")])
@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (
            "# a list\n\n1\ta dog\n2\ta cat\n",
            "3: 10 columns expected, with tabs between them, and 2 ",
        ),
        ("\t".join("abcdefghij") + "\nk\n", "1: id 'a' where 1 would be next; "),
    ],
)
def test_text_that_is_taken_for_conllu_says_what_to_do(
    options: tuple[str, ...], text: str, wrong: str, model: Path
) -> None:
    line = problem("parse", "-", "-m", model, *options, stdin=text)
    assert line.startswith(f"<stdin>:{wrong}")
    assert line.endswith("; if this is plain text, say so with `treecrf parse --input text`")


@pytest.mark.parametrize(
    "options",
    [
        ("--text", "a dog"),
        ("a.txt", "--topk", 2),
        ("a.txt", "--format", "json"),
        ("a.jsonl",),
        ("a.txt", "--input", "jsonl"),
    ],
)
def test_workers_are_refused_where_they_are_of_no_use(
    options: tuple[object, ...], model: Path
) -> None:
    told = misuse("parse", *options, "-m", model, "--workers", 2)
    assert told.startswith("--workers go from a FILE of CoNLL-U, words or text to --format conllu")


@pytest.mark.parametrize("options", [(), ("--probs",), ("--topk", "2"), ("--workers", "1")])
@pytest.mark.parametrize("text", ["", "\n\n"])
def test_nothing_in_nothing_out(options: tuple[str, ...], text: str, model: Path) -> None:
    run = CliRunner().invoke(app, ["parse", "-", "--model", str(model), *options], input=text)
    note = "note: standard input: there are no sentences in it\n"
    assert (run.exit_code, run.stdout, run.stderr) == (0, "", note)


def test_precision_by_name(model: Path) -> None:
    found = treecrf("parse", GOLDEN, "--model", model, "--precision", "int8", "--device", "cpu")
    assert [sentence.forms for sentence in parsed(found.stdout)] == [
        sentence.forms for sentence in read_conllu(GOLDEN)
    ]
    told = misuse("parse", GOLDEN, "--model", model, "--precision", "int8", "--runtime", "onnx")
    assert told.startswith("--runtime onnx takes no --precision")


def test_packed_files(model: Path, tmp_path: Path) -> None:
    packed = tmp_path / "in.conllu.gz"
    packed.write_bytes(gzip.compress(GOLDEN.read_bytes()))
    treecrf("parse", packed, "--model", model, "-o", tmp_path / "out.conllu.gz")
    plain = treecrf("parse", GOLDEN, "--model", model).stdout
    assert gzip.decompress((tmp_path / "out.conllu.gz").read_bytes()).decode() == plain


def test_a_file_may_be_replaced_by_its_parse(model: Path, tmp_path: Path) -> None:
    file = tmp_path / "both.conllu"
    file.write_bytes(GOLDEN.read_bytes())
    treecrf("parse", file, "--model", model, "-o", file)
    assert file.read_text(encoding="utf-8") == treecrf("parse", GOLDEN, "-m", model).stdout


def test_processes_that_read_and_write_change_nothing(
    model: Path, treebank: Path, tmp_path: Path
) -> None:
    dev, outputs = treebank / "dev.conllu", [tmp_path / "without", tmp_path / "with"]
    for workers, output in enumerate(outputs):
        treecrf("parse", dev, "-m", model, "--probs", "--workers", workers, "-o", output)
    assert outputs[0].read_bytes() == outputs[1].read_bytes()


@pytest.mark.parametrize("options", [(), ("--probs",), ("--keep-heads",)])
def test_a_large_file_is_parsed_as_a_small_one(
    options: tuple[str, ...], model: Path, tmp_path: Path
) -> None:
    large, output = tmp_path / "large.conllu", tmp_path / "parsed.conllu"
    content = f"# {'x' * (1 << 20)}\n" + GOLDEN.read_text(encoding="utf-8")
    large.write_text(content, encoding="utf-8")
    treecrf("parse", large, "--model", model, "-o", output, *options)
    piped = treecrf(
        "parse", "-", "--input", "conllu", "--model", model, *options, stdin=content
    ).stdout
    assert output.read_text(encoding="utf-8") == piped


def test_the_best_trees(model: Path, parser: package.Parser) -> None:
    options = ("--topk", 3, "--probs")
    text = treecrf("parse", "-", "--model", model, *options, stdin="a dog\nAnna saw the dog .\n")
    few, many = parsed(text.stdout)[:2], parsed(text.stdout)[2:]
    assert {tuple(sentence.heads) for sentence in few} == {(2, 0), (0, 1)}  # there are two
    best = next(parser.parse_best([["Anna", "saw", "the", "dog", "."]], 3))
    assert [s.heads for s in many] == [s.heads for s in best]
    assert len({tuple(sentence.heads) for sentence in many}) == 3
    comments = [sentence.comments[-2:] for sentence in many]
    assert [rank for _, rank in comments] == ["# rank = 1", "# rank = 2", "# rank = 3"]
    log_probs = [float(log_prob.removeprefix("# log_prob = ")) for log_prob, _ in comments]
    assert log_probs == sorted(log_probs, reverse=True)
    assert log_probs[0] < 0
    assert "HeadProb=" in many[2].tokens[0].misc


@pytest.mark.parametrize("decoder", ["mbr", "viterbi", "mst"])
def test_decoders(decoder: str, model: Path, parser: package.Parser, treebank: Path) -> None:
    dev = treebank / "dev.conllu"
    trees = parsed(treecrf("parse", dev, "--model", model, "--decoder", decoder).stdout)
    expected = parser.parse_tokens(list(read_conllu(dev)), decoder=decoder)  # type: ignore[arg-type]
    assert [tree.heads for tree in trees] == [tree.heads for tree in expected]


@pytest.mark.parametrize("workers", [0, 1])
def test_a_broken_file_leaves_the_old_output(
    workers: int, model: Path, treebank: Path, tmp_path: Path
) -> None:
    sentences = (treebank / "train.conllu").read_text(encoding="utf-8").split("\n\n")[:-1]
    sentences = (2 * sentences)[:500]
    sentences[499] = sentences[499].replace("\t0\troot\t", "\t0\t\t")
    broken, output = tmp_path / "broken.conllu", tmp_path / "parsed.conllu"
    text = "\n\n".join(sentences) + "\n\n"
    broken.write_text(text, encoding="utf-8")
    output.write_text("what was there")
    line = problem("parse", broken, "-m", model, "-o", output, "--workers", workers)
    number = text[: text.index("\t0\t\t")].count("\n") + 1
    assert line.startswith(f"{broken}:{number}: column DEPREL is empty")
    assert output.read_text() == "what was there"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken.conllu", "parsed.conllu"]


def test_a_reader_that_has_seen_enough_is_no_error(
    model: Path, treebank: Path, tmp_path: Path
) -> None:
    long = tmp_path / "long.conllu"
    long.write_bytes((treebank / "train.conllu").read_bytes() * 5)
    process = subprocess.Popen(
        [*COMMAND, "parse", str(long), "--model", str(model)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == b"# sent_id = generated-1-1\n"
    process.stdout.close()
    with process.stderr:
        assert process.stderr.read() == b""
    process.wait()


def test_errors_are_one_line(model: Path, tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    assert problem("parse", missing, "-m", model) == f"{missing}: No such file or directory"
    assert problem("parse", GOLDEN, "-m", missing).startswith(f"{missing}: no such folder; a model")
    line = problem("parse", GOLDEN, "-m", tmp_path)
    assert line.startswith(f"{tmp_path}: not a model folder: it has no config.toml")
    target = missing / "parsed.conllu"
    line = problem("parse", GOLDEN, "-m", model, "-o", target)
    assert line == f"{target}: there is no folder {missing}; make it first"
    line = problem("parse", GOLDEN, "-m", model, "--device", "cuda:99")
    assert line == "this torch finds no CUDA device 'cuda:99'; use the device cpu"
    assert "try cpu, cuda or cuda:1" in problem("parse", GOLDEN, "-m", model, "--device", "gpu")


def test_options_that_do_not_go_together(model: Path) -> None:
    line = misuse("parse", GOLDEN, "-m", model, "--topk", 2, "--decoder", "mbr")
    assert line == "--topk lists the best trees; it takes no --decoder"
    assert "--topk" in misuse("parse", GOLDEN, "-m", model, "--topk", 0)
