"""A text is annotated as it was cut when that began, whatever cuts it later."""

from pathlib import Path

import pytest

from tests.cli.running import problem
from tests.serve.browsing import Service, start
from treecrf.parser import Parser
from treecrf.serve.annotate.cut import Cut
from treecrf.serve.annotate.store import SentenceStore
from treecrf.treebank import TreebankError

TEXT = "Anna didn't see the garden. It rained, and she slept.\nThe old dog saw the cat.\n"


def forms_of(service: Service) -> dict[int, list[str]]:
    """The words of every sentence of the queue, by its number in the corpus."""
    total = service.get("api/annotate")["progress"]["total"]
    items = [service.get(f"api/annotate/{place}") for place in range(1, total + 1)]
    return {item["number"]: [t["form"] for t in item["sentence"]["tokens"]] for item in items}


@pytest.mark.slow
@pytest.mark.parametrize("is_first_without", [False, True])
def test_another_model_does_not_cut_the_text_again(
    full_model: Path, model: Path, tmp_path: Path, is_first_without: bool
) -> None:
    """One of the models has a segmenter, the other takes what is between spaces for words."""
    corpus, out = tmp_path / "corpus.txt", tmp_path / "out.conllu"
    corpus.write_text(TEXT)
    first, second = (model, full_model) if is_first_without else (full_model, model)
    command = ("annotate", corpus, "--out", out, "--order", "corpus", "--share", "0.5")
    with start(*command, "--model", first) as service:
        before = forms_of(service)
        assert not (tmp_path / "out.conllu.cut").exists()  # nothing is decided yet
        service.decide(2, heads={1: 2}, state="done")
    with start(*command, "--model", second) as service:
        assert forms_of(service) == before
        item = service.get("api/annotate/1")
        assert (item["number"], item["heads"], item["state"]) == (2, {"1": 2}, "done")
        service.decide(2, heads={2: 1})
    with start(*command, "--model", first) as service:
        assert forms_of(service) == before
    corpus.write_text(TEXT.replace("Anna", "Maria"))
    told = problem(*command, "--model", second)
    assert f"{corpus}: not the text that was annotated in out.conllu" in told


def cut(parser: Parser, corpus: Path, *, keep: bool = True) -> list[list[str]]:
    """The words that there are to annotate, in a process that decides something, or does not."""
    out = corpus.with_name("out.conllu")
    made = Cut(str(corpus), out, is_begun=out.exists())
    with SentenceStore() as store:
        sentences = list(made.sentences(parser))
        for sentence in sentences:
            store.add(sentence)
        if keep:
            made.keep(store)
            out.touch()
    return [sentence.forms for sentence in sentences]


@pytest.mark.parametrize("name", ["corpus.txt", "corpus.jsonl"])
def test_what_is_added_to_a_text_is_cut_when_it_is_there(
    parser: Parser, wordy: Parser, tmp_path: Path, name: str
) -> None:
    corpus = tmp_path / name
    lines = ["Anna didn't sleep.", "She saw it."]
    if name.endswith("jsonl"):
        lines = [f'{{"text": "{line}"}}' for line in lines]
    corpus.write_text(lines[0] + "\n")
    first = cut(parser, corpus)
    assert first == [["Anna", "did", "n't", "sleep", "."]]
    corpus.write_text("\r\n".join(lines), newline="")
    longer = [*first, ["She", "saw", "it."]]
    assert cut(wordy, corpus) == longer
    assert cut(parser, corpus) == longer
    corpus.write_text(lines[0][:-3])
    with pytest.raises(TreebankError, match="not the text that was annotated"):
        cut(parser, corpus)


def test_nothing_is_kept_of_what_nobody_decided(
    parser: Parser, wordy: Parser, tmp_path: Path
) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("It rained.\n")
    assert cut(parser, corpus, keep=False) == [["It", "rained", "."]]
    assert cut(wordy, corpus, keep=False) == [["It", "rained."]]
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.txt"]


def test_a_broken_cut_is_said(parser: Parser, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("It rained.\n")
    cut(parser, corpus)
    (tmp_path / "out.conllu.cut").write_text("1\tIt\n")
    with pytest.raises(TreebankError, match="not as `treecrf annotate` wrote it"):
        cut(parser, corpus)
