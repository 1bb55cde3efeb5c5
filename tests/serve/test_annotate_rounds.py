"""Two annotators, a service that is killed meanwhile, and a model trained on what they agree on."""

import io
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import treecrf
from tests.serve.browsing import Service, start
from tests.serve.simulated import Annotator, work_together
from treecrf.treebank import evaluate, read_conllu

pytestmark = [pytest.mark.service, pytest.mark.slow]

SENTENCES = 50


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """What a first model learns from, a corpus to annotate, and held-out trees."""
    for name, count, seed in (("first", 80, 1), ("corpus", SENTENCES, 2), ("dev", 100, 3)):
        options = ("--sentences", count, "--seed", seed)
        treecrf("data", "generate", tmp_path / f"{name}.conllu", *options)
    return tmp_path


def train(data: Path, *options: object, out: str) -> str:
    command = ("train", "--dev", data / "dev.conllu", "--out", data / out, *options)
    return treecrf(*command).stdout


def las(text: str, line: str) -> float:
    found = re.search(rf"^{line} .*LAS +([0-9.]+)", text, re.MULTILINE)
    assert found, text
    return float(found[1])


def check_saved(service: Service, annotator: Annotator) -> None:
    """All that the service has said to have, it has, and nothing that nobody chose.

    What it has besides, whose answer did not come, is remembered from now on.
    """
    for place in range(1, SENTENCES + 1):
        item = annotator.look(service, place)
        chosen = annotator.opinion(item["number"], item["asked"])
        decision = {
            name: {str(word): value for word, value in said.items()}
            for name, said in chosen.items()
        }
        if item["state"] == "done":
            annotator.saved.setdefault(item["number"], decision)
            assert annotator.saved[item["number"]] == decision
            assert {name: item[name] for name in decision} == decision
        else:
            assert (item["heads"], item["number"] in annotator.saved) == ({}, False)


def test_two_annotators_outlive_a_service_and_teach_a_model(data: Path) -> None:
    settings = ("--config", "tiny", "--set", "epochs=25")
    train(data, "--train", data / "first.conllu", *settings, out="model")
    gold = list(read_conllu(data / "corpus.conllu"))
    team = [Annotator("anna", gold, errors=0.05), Annotator("ben", gold, errors=0.1)]
    out = data / "out.conllu"
    command = ("annotate", data / "corpus.conllu", "--model", data / "model", "--out", out)
    options = ("--annotators", "anna,ben", "--share", "0.5")
    with start(*command, *options) as service:

        def goes_on() -> bool:
            """Until half of it is done: then the process is killed, whatever it is doing."""
            if sum(len(each.saved) for each in team) < SENTENCES:
                return True
            service.process.kill()
            return False

        work_together(service, team, goes_on)
    assert SENTENCES <= sum(len(each.saved) for each in team) < 2 * SENTENCES
    with start(*command, *options) as service:
        for each in team:
            check_saved(service, each)
        work_together(service, team)
        for each in team:
            check_saved(service, each)
            assert len(each.saved) == SENTENCES
        found = service.get("api/annotate/agreement")
        agreed = service.read("api/annotate/export/agreed")
    (pair,) = found["pairs"]
    check_figures(pair, found["disagreements"], team)
    (data / "agreed.conllu").write_text(agreed, encoding="utf-8")
    for sentence, right in zip(read_conllu(data / "agreed.conllu"), gold, strict=True):
        assert any(head >= 0 for head in sentence.heads)
        assert sentence.forms == right.forms
    gently = ("--set", "learning_rate=0.001", "--set", "epochs=10")
    start_from = ("--init", data / "model", *gently)
    trained = train(data, "--train", data / "agreed.conllu", *start_from, out="next")
    before, after = las(trained, "start"), las(trained, "best")
    assert after > before
    scores = {}
    for name in ("model", "next"):
        parsed = data / f"{name}.conllu"
        treecrf("parse", data / "dev.conllu", "--model", data / name, "-o", parsed)
        scores[name] = evaluate(data / "dev.conllu", parsed).las.correct
    print(f"agreement {pair}; dev LAS {before} -> {after}; right relations {scores}")
    assert scores["next"] > scores["model"]


def check_figures(
    pair: dict[str, Any], disagreements: list[dict[str, Any]], team: list[Annotator]
) -> None:
    """The figures and the sentences that differ, counted from what was saved."""
    one, other = (each.saved for each in team)
    words = [(number, word) for number in one for word in one[number]["heads"]]
    heads = [[said[number]["heads"][word] for number, word in words] for said in (one, other)]
    labels = [[said[number]["labels"][word] for number, word in words] for said in (one, other)]
    same_heads = [a == b for a, b in zip(*heads, strict=True)]
    same_labels = [a == b for a, b in zip(*labels, strict=True)]
    same = [a and b for a, b in zip(same_heads, same_labels, strict=True)]
    assert (pair["sentences"], pair["words"], pair["relations"]) == (SENTENCES, *[len(words)] * 2)
    assert pair["uas"] == pytest.approx(sum(same_heads) / len(words))
    assert pair["las"] == pytest.approx(sum(same) / len(words))
    assert 0 < pair["kappa"] < 1
    differing = {number for (number, _), is_same in zip(words, same, strict=True) if not is_same}
    assert {each["number"] for each in disagreements} == differing != set()
    listed = sum(len(each["words"]) for each in disagreements)
    assert listed == same.count(False)


def test_the_bundled_model_learns_from_what_is_annotated(tmp_path: Path) -> None:
    """The command of docs/annotate.md, with the sentences of a text in the place of a corpus."""
    corpus, out = tmp_path / "corpus.txt", tmp_path / "out.conllu"
    corpus.write_text("I saw Sarah with a telescope. Visiting relatives can be boring.\n")
    with start("annotate", corpus, "--out", out, "--share", "0.4") as service:
        model = service.get("api/annotate")["model"]
        for place in (1, 2):
            item = service.get(f"api/annotate/{place}")
            tokens = [item["sentence"]["tokens"][word - 1] for word in item["asked"]]
            heads = {token["id"]: token["head"] for token in tokens}
            labels = {token["id"]: token["deprel"] for token in tokens}
            service.decide(place, heads=heads, labels=labels, state="done")
    dev = tmp_path / "dev.conllu"
    treecrf("parse", corpus, "-o", dev)
    options = ("--set", "learning_rate=1e-4", "--set", "epochs=1")
    trained = train(tmp_path, "--train", out, "--init", model, *options, out="next")
    assert "2 partial" in trained
    again = treecrf("parse", corpus, "--model", tmp_path / "next").stdout
    forms = [sentence.forms for sentence in read_conllu(io.StringIO(again))]
    assert forms == [sentence.forms for sentence in read_conllu(dev)]
