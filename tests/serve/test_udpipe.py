"""Clients of UDPipe find what they know: parameters, formats, names of models, errors."""

import io
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from tests.parser.models import random_parser, with_loss
from tests.serve.udpipe import CONLLU, problem, result
from treecrf.parser import Parser
from treecrf.serve.app import create_app
from treecrf.treebank import read_conllu

TEXT = "Anna didn't see the garden.\n\nIt rained."


def test_models_say_what_they_can_do(client: TestClient) -> None:
    for answer in (client.get("/models"), client.post("/models")):
        assert answer.json() == {
            "models": {
                "english-small-1.0": ["tokenizer", "tagger", "parser"],
                "de_words": ["tagger", "parser"],
            },
            "default_model": "english-small-1.0",
        }


def test_columns_that_nobody_asked_for_stay(client: TestClient, parser: Parser) -> None:
    assert result(client, data=CONLLU) == CONLLU
    parsed = result(client, data=CONLLU, parser="")
    (tree,) = parser.parse_tokens([["do", "n't", "go"]])
    expected = CONLLU
    for word in ("do\tdo\tAUX\tVB\tA=B", "n't\tnot\tPART\t_\t_", "go\tgo\tVERB\t_\t_"):
        number = len(expected.partition(f"\t{word}")[0].split("\n")) - 4
        head, deprel = tree.heads[number], tree.deprels[number]
        expected = expected.replace(f"{word}\t_\t_", f"{word}\t{head}\t{deprel}")
    assert parsed == expected


def test_text_is_cut_as_udpipe_writes_it(client: TestClient) -> None:
    written = result(client, data=TEXT, tokenizer="")
    assert "TokenRange" not in written
    first, second, _ = written.split("\n\n")
    lines = first.split("\n")
    assert lines[0].startswith("# generator = treecrf ")
    assert lines[1:6] == [
        "# treecrf_model = english-small-1.0",
        "# newdoc",
        "# newpar",
        "# sent_id = 1",
        "# text = Anna didn't see the garden.",
    ]
    assert lines[6] == "1\tAnna" + "\t_" * 8
    assert lines[7].startswith("2-3\tdidn't\t")
    assert lines[-1].endswith("\tSpacesAfter=\\n\\n")
    assert second.split("\n")[:3] == ["# newpar", "# sent_id = 2", "# text = It rained."]
    ranges = result(client, data=TEXT, tokenizer="ranges", parser="")
    assert "1\tAnna\t_\t_\t_\t_\t" in ranges
    assert "\tTokenRange=0:4\n" in ranges


def test_lines_that_are_sentences_stay_so(client: TestClient) -> None:
    text = "Anna slept. It rained.\n\nThe dog didn't sleep.\n"
    written = result(client, data=text, tokenizer="presegmented;ranges", parser="")
    first, second = read_conllu(io.StringIO(written))
    assert first.forms == ["Anna", "slept", ".", "It", "rained", "."]
    assert first.text == "Anna slept. It rained."
    assert second.forms == ["The", "dog", "did", "n't", "sleep", "."]
    for sentence in (first, second):
        for token in (*sentence.tokens, *sentence.multiwords):
            if "TokenRange=" in token.misc:
                start, end = map(int, token.misc.partition("TokenRange=")[2].split(":"))
                assert text[start:end] == token.form


def test_no_lines_are_no_sentences(client: TestClient) -> None:
    for options in ("", "presegmented"):
        assert result(client, data="", tokenizer=options, parser="") == ""


def test_formats_without_columns(client: TestClient) -> None:
    assert result(client, data=CONLLU, output="horizontal") == "do n't go\n"
    assert result(client, data=CONLLU, output="vertical") == "do\nn't\ngo\n\n"
    for name, data in (("horizontal", "do n't go\na\n"), ("vertical", "do\nn't\ngo\n\na\n")):
        assert result(client, data=data, input=name, output="horizontal") == "do n't go\na\n"


def test_spaces_inside_words_survive(client: TestClient) -> None:
    spaced = "1\t10 000\t_\t_\t_\t_\t_\t_\t_\t_\n2\tdogs\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    written = result(client, data=spaced, output="horizontal")
    assert written == "10\u00a0000 dogs\n"
    assert result(client, data=written, input="horizontal").endswith("\n" + spaced)
    assert result(client, data=written, input="horizontal", output="horizontal") == written
    assert result(client, data="\u00a0 a\t\tb \n", input="horizontal").count("\n") == 4


def test_line_breaks_of_either_kind_are_read(client: TestClient) -> None:
    assert result(client, data=CONLLU.replace("\n", "\r\n")) == CONLLU
    for name, data in (("horizontal", "a b\r\nc\r\n"), ("vertical", "a\r\nb\r\n\r\nc")):
        assert result(client, data=data, input=name, output="horizontal") == "a b\nc\n"


def test_nothing_else_breaks_a_line(client: TestClient) -> None:
    word = "a\x0b\x0c\x1c\x85\u2028b"
    assert (
        result(client, data=f"{word} c", input="horizontal", output="vertical") == f"{word}\nc\n\n"
    )
    assert result(client, data=f"{word}\nc", input="vertical", output="horizontal") == f"{word} c\n"
    text = "Anna slept.\u2028It rained.\x0cThe dog slept.\nAnna slept."
    (first, _) = read_conllu(io.StringIO(result(client, data=text, tokenizer="presegmented")))
    assert len(first) == 10
    answer = client.post("/api/parse", json={"model": "de_words", "text": "a\u2028b \x0cc\r\nd"})
    sentences = answer.json()["sentences"]
    assert [sentence["text"] for sentence in sentences] == ["a b c", "d"]
    places = [[(t["start"], t["end"]) for t in sentence["tokens"]] for sentence in sentences]
    assert places == [[(0, 1), (2, 3), (5, 6)], [(8, 9)]]


def test_a_last_empty_line_is_not_needed(client: TestClient) -> None:
    for end in ("", "\n", "\r\n"):
        assert result(client, data=CONLLU.rstrip("\n") + end) == CONLLU


def test_heads_that_are_replaced_may_be_anything(client: TestClient) -> None:
    broken = CONLLU.replace("A=B\t_", "A=B\t2").replace("PART\t_\t_\t_", "PART\t_\t_\t1")
    (sentence,) = read_conllu(io.StringIO(result(client, data=broken, parser="")))
    assert sorted(sentence.heads)[0] == 0
    assert problem(client, data=broken).startswith(
        "the data is not CoNLL-U: line 4: the heads make a cycle: 1 -> 2 -> 1"
    )


def test_options_of_the_tokenizer_are_those_of_udpipe(client: TestClient) -> None:
    text = "  Anna  slept.\n\nIt rained."
    written = result(client, data=text, tokenizer="ranges")
    assert "SpacesBefore=" in written
    assert "SpacesAfter=" in written
    normal = result(client, data=text, tokenizer="normalized_spaces;ranges=1;whatever")
    assert "Spaces" not in normal
    assert "\tSpaceAfter=No|TokenRange=8:13\n" in normal
    lines = result(client, data=text, tokenizer="normalized_spaces").splitlines()
    assert "1\tAnna" + "\t_" * 8 in lines


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("", "english-small-1.0"),
        ("english-small-1.0", "english-small-1.0"),
        ("english-small", "english-small-1.0"),
        ("English", "english-small-1.0"),
        ("engl", "english-small-1.0"),
        ("en", "english-small-1.0"),
        ("eng", "english-small-1.0"),
        ("german", "de_words"),
        ("deu", "de_words"),
        ("de", "de_words"),
    ],
)
def test_names_mean_models(client: TestClient, name: str, found: str) -> None:
    answer = client.get("/process", params={"data": "", "model": name})
    assert answer.json()["model"] == found


def test_the_first_of_several_models_is_meant(parser: Parser) -> None:
    names = ["fr_gsd-1", "ancient_greek-a", "en_ewt-2.16", "en_ewt-2.3", "en_gum-1"]
    with TestClient(create_app(dict.fromkeys(names, parser))) as client:
        for name, found in {
            "": "fr_gsd-1",
            "grc": "ancient_greek-a",
            "en_ewt": "en_ewt-2.16",
            "english": "en_ewt-2.16",
            "en_g": "en_gum-1",
        }.items():
            answer = client.get("/process", params={"data": "", "model": name})
            assert answer.json()["model"] == found


def test_what_is_wrong_is_plain_text(client: TestClient) -> None:
    assert problem(client).startswith("the parameter `data` is missing")
    assert problem(client, data="a", model="/etc/passwd").startswith("there is no model '/etc/p")
    assert problem(client, data="a", output="epe").startswith("there is no output format 'epe'")
    assert problem(client, data="a", input="text").startswith("there is no input format 'text'")
    broken = problem(client, data="1\ta\n", input="conllu")
    assert broken.startswith("the data is not CoNLL-U: line 1: ")
    no_tokenizer = problem(client, data="a", model="de_words", tokenizer="")
    assert no_tokenizer.startswith("the model 'de_words' has no tokenizer")


def test_input_is_composed(client: TestClient) -> None:
    """As UDPipe does; letters with more marks than any language has stay as they are."""
    decomposed = "Zoe\u0308"
    for data, options in (
        (decomposed, {"tokenizer": ""}),
        (decomposed, {"input": "horizontal"}),
        (f"1\t{decomposed}" + "\t_" * 8, {"input": "conllu"}),
    ):
        assert "1\tZoë\t" in result(client, data=data, **options)
    odd = "e" + "\u0308\u0323" * 200
    assert result(client, data=f"{odd}\n", input="vertical", output="vertical") == f"{odd}\n\n"


def test_a_paragraph_starts_after_a_blank_line_alone(client: TestClient) -> None:
    text = "Anna slept.\nIt rained.\n \nThe dog slept.\nAnna slept.\n"
    written = result(client, data=text, tokenizer="presegmented")
    comments = [s.comments for s in read_conllu(io.StringIO(written))]
    assert ["# newpar" in each for each in comments] == [True, False, True, False]
    lines = "Anna slept .\nIt rained .\n\nThe dog slept .\nAnna slept .\n"
    options = {"data": text, "tokenizer": "presegmented"}
    assert result(client, **options, output="horizontal=paragraphs") == lines
    words = lines.replace("\n", "\n\n").replace(" ", "\n").replace("\n\n\n\n", "\n\n\n")
    assert result(client, **options, output="vertical=paragraphs") == words
    assert result(client, **options, output="horizontal") == lines.replace("\n\n", "\n")


def test_version_1_of_conllu_has_no_spaces_and_no_empty_nodes(client: TestClient) -> None:
    rest = "\t_" * 7
    given = f"1\t10 000\t1 0{rest}\n1.1\ta\tb{rest}\n2\tdogs\tdog{rest}\n\n"
    assert result(client, data=given) == given
    assert result(client, data=given, output="conllu=v2") == given
    expected = f"1\t10_000\t1_0{rest}\n2\tdogs\tdog{rest}\n\n"
    assert result(client, data=given, output="conllu=v1") == expected
    assert result(client, data=expected, input="conllu=v1") == expected
    for name, options in (("output", "v3"), ("output", "v1;paragraphs"), ("input", "paragraphs")):
        said = problem(client, data=given, **{name: f"conllu={options}"})
        assert said.startswith(f"there is no {name} format 'conllu={options}'; there are conllu, ")


def test_new_tags_have_no_old_ones_beside_them() -> None:
    config = replace(with_loss("crf"), predict=("upos",))
    with TestClient(create_app({"tagging": random_parser(config)})) as client:
        tagged = result(client, data=CONLLU, tagger="")
        (sentence,) = read_conllu(io.StringIO(tagged))
        for name in ("lemma", "xpos", "feats"):
            assert set(sentence.column(name)) == {"_"}
        assert sentence.column("misc") == ["_", "X=Y", "SpaceAfter=No"]
        (sentence,) = read_conllu(io.StringIO(result(client, data=CONLLU, parser="")))
        assert sentence.column("lemma") == ["do", "not", "go"]


def test_tags_are_given_to_who_asks_for_them() -> None:
    config = replace(with_loss("crf"), predict=("upos",))
    with TestClient(create_app({"tagging": random_parser(config)})) as client:
        assert client.get("/models").json()["models"] == {"tagging": ["tagger", "parser"]}
        given = "1\ta\t_\tDET\t_\t_\t_\t_\t_\t_\n2\tdog\t_\tADJ\t_\t_\t_\t_\t_\t_\n\n"
        columns = {}
        for asked in ("", "tagger", "parser", "tagger parser"):
            (sentence,) = read_conllu(
                io.StringIO(result(client, data=given, **dict.fromkeys(asked.split(), "")))
            )
            columns[asked] = sentence.column("upos"), sentence.heads
        kept, (tags, no_heads) = columns[""], columns["tagger"]
        assert kept == (["DET", "ADJ"], [-1, -1])
        assert set(tags) <= {"NOUN", "VERB", "X"}
        assert no_heads == [-1, -1]
        heads = columns["parser"][1]
        assert heads in ([0, 1], [2, 0])
        assert columns["parser"] == (["DET", "ADJ"], heads)
        assert columns["tagger parser"] == (tags, heads)


def test_every_column_is_filled_and_nothing_old_is_left(client: TestClient, parser: Parser) -> None:
    (expected,) = parser.parse_tokens([["do", "n't", "go"]])
    rows = [
        "# text = don't go",
        "1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_",
        "1\tdo\told\tX\tOLD\tOld=Yes\t3\taux\t3:aux\tHeadProb=0.5|Gloss=do",
        "2\tn't\told\tX\tOLD\tOld=Yes\t3\tadvmod\t3:advmod\t_",
        "2.1\tyou\tyou\tPRON\t_\t_\t_\t_\t3:nsubj\t_",
        "3\tgo\told\tX\tOLD\tOld=Yes\t0\troot\t0:root\t_",
    ]
    data = "\n".join(rows) + "\n\n"
    written = result(client, data=data, tagger="", parser="")
    (sentence,) = read_conllu(io.StringIO(written))
    for name in ("lemma", "upos", "xpos", "feats", "head", "deprel"):
        assert sentence.column(name) == expected.column(name)
    assert "_" not in sentence.column("lemma") + sentence.column("upos") + sentence.column("xpos")
    # What belonged to the tree that is replaced.
    assert sentence.column("deps") == ["_"] * 3
    assert sentence.empty_nodes == []
    assert sentence.column("misc") == ["Gloss=do", "_", "_"]
    assert [multiword.form for multiword in sentence.multiwords] == ["don't"]
    # Without a new tree the graph stays.
    (tagged,) = read_conllu(io.StringIO(result(client, data=data, tagger="")))
    assert tagged.column("deps") == ["3:aux", "3:advmod", "0:root"]
    assert tagged.heads == [3, 3, 0]
    assert len(tagged.empty_nodes) == 1
