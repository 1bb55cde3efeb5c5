"""`treecrf parse --format` and `treecrf data show`: trees for programs, people and pages."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import Result
from typer.testing import CliRunner

from treecrf.cli.app import app
from treecrf.treebank import read_conllu

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
SENTENCES = EXAMPLES / "sentences.txt"
TELESCOPE = EXAMPLES / "telescope.conllu"
SVG = "{http://www.w3.org/2000/svg}"
ESCAPE = "\x1b"


def treecrf(*arguments: object, code: int = 0, stdin: str | None = None) -> str:
    """Run a command in this process, which has loaded torch already."""
    result: Result = CliRunner().invoke(app, list(map(str, arguments)), input=stdin)
    assert result.exit_code == code, result.output
    return result.stdout if code == 0 else result.stderr


def on_a_terminal(*arguments: object) -> str:
    """What a command writes whose standard output is a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "treecrf", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.PIPE,
        env=os.environ | {"TERM": "xterm-256color", "NO_COLOR": ""},
    ) as process:
        os.close(theirs)
        pieces = []
        try:
            while piece := os.read(ours, 1 << 16):
                pieces.append(piece)
        except OSError:  # how Linux says that the other end is closed
            pass
        os.close(ours)
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert process.returncode == 0
    return b"".join(pieces).decode().replace("\r\n", "\n")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A parser that has seen a few sentences: it is right about little, and says so."""
    folder = tmp_path_factory.mktemp("formats")
    train, dev = folder / "train.conllu", folder / "dev.conllu"
    treecrf("data", "generate", train, "--sentences", 60)
    treecrf("data", "generate", dev, "--sentences", 10, "--seed", 2)
    files = ("--train", train, "--dev", dev, "--out", folder / "model")
    treecrf("train", *files, "--config", "tiny", "--set", "epochs=1")
    return folder / "model"


@pytest.fixture(scope="module")
def drawn(model: Path) -> str:
    return treecrf("parse", SENTENCES, "-m", model, "--format", "tree")


def test_a_file_or_a_pipe_gets_conllu(model: Path, tmp_path: Path) -> None:
    text = treecrf("parse", SENTENCES, "-m", model)
    assert text == treecrf("parse", SENTENCES, "-m", model, "--format", "conllu")
    assert "HeadProb" not in text
    assert "log_prob" not in text
    path = tmp_path / "parsed.conllu"
    treecrf("parse", SENTENCES, "-m", model, "-o", path)
    assert path.read_text(encoding="utf-8") == text
    assert len(list(read_conllu(path))) == 3


def test_a_terminal_gets_drawings(model: Path, drawn: str) -> None:
    shown = on_a_terminal("parse", SENTENCES, "-m", model, "--device", "cpu")
    assert f"{ESCAPE}[" in shown
    assert without_colours(shown) == drawn


@pytest.mark.slow
def test_a_terminal_gets_conllu_if_told(model: Path) -> None:
    shown = on_a_terminal("parse", SENTENCES, "-m", model, "-f", "conllu")
    assert without_colours(shown) == treecrf("parse", SENTENCES, "-m", model)


def without_colours(text: str) -> str:
    head, *rest = text.split(ESCAPE)
    return head + "".join(piece.partition("m")[2] for piece in rest)


def test_drawings_have_a_column_of_probabilities(model: Path, drawn: str) -> None:
    path = model.parent / "probs.conllu"
    treecrf("parse", SENTENCES, "-m", model, "--probs", "-o", path)
    blocks = drawn.split("\n\n")
    assert len(blocks) == 3
    for number, (block, sentence) in enumerate(zip(blocks, read_conllu(path), strict=True), 1):
        heading, text, *rows = block.strip("\n").split("\n")
        assert heading.startswith(f"{number}, log_prob -")
        assert text == sentence.text
        probs = [token.misc.removeprefix("HeadProb=").split("|")[0] for token in sentence.tokens]
        shares = [f"{float(prob):.0%}" for prob in probs]
        assert [row.split()[-2] for row in rows] == shares
    # The same is drawn from the file, which has the figures to four places.
    assert treecrf("data", "show", path, "-n", 3) == drawn


def test_drawings_in_a_file(model: Path, drawn: str, tmp_path: Path) -> None:
    path = tmp_path / "trees.txt"
    treecrf("parse", SENTENCES, "-m", model, "--format", "tree", "-o", path)
    assert path.read_text(encoding="utf-8") == drawn


def test_ranked_trees_say_so(model: Path) -> None:
    text = treecrf("parse", SENTENCES, "-m", model, "--format", "tree", "--topk", 2)
    headings = [line.split(", ") for line in text.splitlines() if ", rank " in line]
    ranks = [(str(number), f"rank {rank}") for number in (1, 2, 3) for rank in (1, 2)]
    assert [(heading[0], heading[1]) for heading in headings] == ranks


def test_json_is_an_object_a_line(model: Path, tmp_path: Path) -> None:
    text = treecrf("parse", SENTENCES, "-m", model, "--format", "json")
    objects = [json.loads(line) for line in text.splitlines()]
    assert [value["text"] for value in objects] == SENTENCES.read_text().splitlines()
    for value in objects:
        assert value["log_prob"] < 0
        assert all(0 <= token["prob"] <= 1 for token in value["tokens"])
        assert sum(token["head"] == 0 for token in value["tokens"]) == 1
        assert {token["misc"] for token in value["tokens"]} == {None}
    path = tmp_path / "parsed.json"
    treecrf("parse", SENTENCES, "-m", model, "-f", "json", "-o", path)
    assert path.read_text(encoding="utf-8") == text
    umlaut = treecrf("parse", "-", "-m", model, "-f", "json", stdin="Größe 図\n")
    assert "Größe 図" in umlaut
    ranked = treecrf("parse", SENTENCES, "-m", model, "-f", "json", "--topk", 2).splitlines()
    assert [json.loads(line)["rank"] for line in ranked] == 3 * [1, 2]
    assert "rank" not in objects[0]


def test_svg_is_one_picture(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "trees.svg"
    treecrf("parse", SENTENCES, "-m", model, "--format", "svg", "-o", path)
    picture = ElementTree.parse(path).getroot()
    trees = [element for element in picture if element.tag == f"{SVG}svg"]
    assert [tree.findtext(f"{SVG}desc") for tree in trees] == SENTENCES.read_text().splitlines()
    kinds = {group.get("class") for group in picture.iter(f"{SVG}g")}
    assert kinds
    assert "unknown" not in kinds
    alone = ElementTree.fromstring(
        treecrf("parse", "-", "-m", model, "-f", "svg", stdin="I saw her\n")
    )
    assert (alone.get("role"), alone.findtext(f"{SVG}desc")) == ("img", "I saw her")
    assert len(list(alone.iter(f"{SVG}g"))) == 3


@pytest.mark.parametrize("format", ["conllu", "json", "tree", "svg"])
def test_a_file_is_written_whole_or_not_at_all(model: Path, tmp_path: Path, format: str) -> None:
    path = tmp_path / "out"
    path.write_text("before")
    row = "1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    arguments = ("parse", "-", "-m", model, "-f", format, "-o", path)
    problem = treecrf(*arguments, code=2, stdin=row + row.replace("1", "2"))
    assert problem.startswith("<stdin>:3: ")
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["out"]
    treecrf(*arguments, stdin=row)
    assert path.read_text() != "before"


@pytest.mark.parametrize("format", ["conllu", "json", "tree"])
def test_no_sentences_are_nothing(model: Path, format: str) -> None:
    assert treecrf("parse", "-", "-m", model, "-f", format, stdin="") == ""


def test_show_has_probabilities_of_the_file() -> None:
    lines = treecrf("data", "show", TELESCOPE).splitlines()
    assert [line.rstrip() for line in lines] == [
        "1, log_prob -0.1816",
        "I saw Sarah with a telescope.",
        "  ┌───▶ I          PRON   nsubj  100%  1",
        "──┼───▶ saw        VERB   root   100%  2",
        "  ├───▶ Sarah      PROPN  obj    100%  3",
        "  │ ┌─▶ with       ADP    case   100%  4",
        "  │ ├─▶ a          DET    det    100%  5",
        "  ├─┴─▶ telescope  NOUN   obl     84%  6",
        "  └───▶ .          PUNCT  punct  100%  7",
    ]


def test_show_colours_by_how_sure(tmp_path: Path) -> None:
    path = tmp_path / "sure.conllu"
    rows = [("a", 0, "0.99"), ("b", 1, "0.7"), ("c", 1, "0.2")]
    lines = [
        f"{number}\t{form}\t_\t_\t_\t_\t{head}\tx\t_\tHeadProb={prob}\n"
        for number, (form, head, prob) in enumerate(rows, 1)
    ]
    path.write_text("".join(lines) + "\n")
    shown = on_a_terminal("data", "show", path)
    for share, colour in (("99%", 32), ("70%", 33), ("20%", 31)):
        assert f"{ESCAPE}[{colour}m{share}" in shown


def test_show_sends_no_commands_to_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "commands.conllu"
    path.write_text("# sent_id = \x1b]0;x\x07\n1\t\x1b[2Jhi\x9b\t_\t\x1b\t_\t_\t0\t\x1b\t_\t_\n\n")
    text = treecrf("data", "show", path)
    assert "\ufffd[2Jhi\ufffd" in text
    assert not set(text) & set("\x1b\x07\x9b")


def test_show_writes_a_picture(tmp_path: Path) -> None:
    path = tmp_path / "tree.svg"
    assert treecrf("data", "show", TELESCOPE, "--svg", path) == ""
    assert treecrf("data", "show", TELESCOPE, "--svg", "-") == path.read_text(encoding="utf-8")
    gold = EXAMPLES / "gold.conllu"
    picture = ElementTree.fromstring(treecrf("data", "show", gold, "-n", 2, "--svg", "-"))
    assert len(picture.findall(f"{SVG}svg")) == 2
    problem = treecrf("data", "show", gold, "--sent-id", "x", "--svg", path, code=2)
    assert problem == f"{gold}: no sentence with sent_id = x\n"
    assert path.read_text(encoding="utf-8").endswith("</svg>\n")
