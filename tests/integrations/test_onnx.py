"""ONNX graphs score as torch does, for every kind of model, and parsers use them."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import treecrf
from tests.cli.running import misuse, problem
from tests.cli.running import treecrf as run
from tests.parser.encoders import config_for
from tests.parser.folders import VECTORS, WITH_VECTORS, parser_of
from tests.parser.models import LOSSES, batch_of, random_scorer, sentences_of, with_loss
from tests.parser.test_transformer import trained
from tests.parser.test_transformer import treebank as small_treebank  # noqa: F401
from treecrf.demo import generate_treebank
from treecrf.integrations.onnx.export import TOLERANCE, export_onnx, largest_difference
from treecrf.integrations.onnx.network import scorer_graph
from treecrf.integrations.onnx.runtime import FORMAT, GraphScorer, load_onnx
from treecrf.parser import Config, ParserError
from treecrf.parser.batching.batch import Batch, make_batch
from treecrf.parser.batching.encoding import encode
from treecrf.parser.network.scorer import Scorer
from treecrf.treebank import Sentence, read_conllu, write_conllu

PROPERTIES = {"format": FORMAT, "digest": ""}


def graph_of(scorer: Scorer) -> GraphScorer:
    data = scorer_graph(scorer, PROPERTIES).SerializeToString()
    return GraphScorer(data, name="a graph")


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("rich", [False, True], ids=["words", "words, vectors and tags"])
def test_scores_of_a_bilstm_are_those_of_torch(loss: str, rich: bool) -> None:
    config = replace(with_loss(loss), lstm_layers=2)
    if rich:
        config = replace(config, sibling_form="shared")
    vectors = None
    if rich:
        config, vectors = replace(config, tags="upos", predict=("lemma", "upos")), VECTORS
    if loss == "crf":
        config = replace(config, word_size=2, project_vectors=False, char_size=0)
    vocabulary = WITH_VECTORS.changed(lemma=["lower|0|0", "same|0|0", "=be"])
    scorer = random_scorer(config, vocabulary=vocabulary, vectors=vectors).float()
    for layer in scorer.lemma_tags.parameters():
        torch.nn.init.normal_(layer)
    graph = graph_of(scorer)
    for lengths in ([1], [5, 1, 9, 5], [2, 30], [3] * 7):  # any number, any length
        batch = batch_of(sentences_of(lengths, seed=len(lengths)), config, vocabulary=vocabulary)
        assert largest_difference(scorer, graph, batch) < TOLERANCE


def test_three_biaffines_are_refused() -> None:
    scorer = random_scorer(replace(with_loss("crf2o"), sibling_form="biaffine"))
    with pytest.raises(ParserError, match="sibling_form = biaffine cannot be made an ONNX graph"):
        scorer_graph(scorer, PROPERTIES)


def test_a_wrong_score_is_a_difference() -> None:
    config = replace(with_loss("crf2o"), predict=("upos",))
    scorer = random_scorer(config).float()
    graph = graph_of(scorer)
    batch = batch_of(sentences_of([4, 2]), config)
    scored = [scorer.arc_scores.weight, scorer.label_scores.weight]
    assert scorer.sibling_scores is not None
    tags = scorer.column_scores["upos"].weight
    assert isinstance(tags, torch.nn.Parameter)
    for weight in (*scored, scorer.sibling_scores.weight, tags):
        before = weight.detach().clone()
        with torch.no_grad():
            weight[-1] += 0.01
            assert largest_difference(scorer, graph, batch) > TOLERANCE
            weight.copy_(before)


@pytest.mark.parametrize(("layers", "mixed"), [(0, 4), (1, 4), (0, 9)])  # it has no 9 to mix
def test_scores_of_a_bert_are_those_of_torch(
    layers: int,
    mixed: int,
    bert: Path,
    small_treebank: Path,  # noqa: F811
    tmp_path: Path,
) -> None:
    settings = {"lstm_layers": layers, "mix_layers": mixed, "predict": ["upos"], "tags": "upos"}
    settings |= {"spelling_size": 8}
    config = config_for(bert, **settings)
    folder = trained(tmp_path / "model", small_treebank, config)
    path, difference = export_onnx(folder)
    assert path == folder / "model.onnx"
    assert difference < TOLERANCE
    parser = treecrf.load(folder, device="cpu")
    assert isinstance(parser.scorer, Scorer)
    # The second one is longer than the encoder reads at once.
    words = [["The", "man", "slept"], ["unheardof", "the"] * 9]
    tagged = [Sentence(forms) for forms in words]
    for sentence in tagged:
        sentence.tokens[1].upos = "NOUN"
    encoded = encode(tagged, parser.vocabulary, parser.config)
    batch: Batch = make_batch(encoded, np.arange(2))
    assert batch.pieces is not None
    assert len(batch.pieces.windows) > 2
    graph = GraphScorer(path.read_bytes(), name="a graph")
    assert largest_difference(parser.scorer, graph, batch) < TOLERANCE
    ours, theirs = (
        [(s.heads, s.deprels, s.column("upos")) for s in known.parse_tokens(tagged)]
        for known in (parser, load_onnx(folder))
    )
    assert ours == theirs


def test_other_encoders_are_refused(
    roberta: Path,
    small_treebank: Path,  # noqa: F811
    tmp_path: Path,
) -> None:
    folder = trained(tmp_path / "model", small_treebank, config_for(roberta))
    said = problem("export", "--model", folder)
    assert said.startswith("only encoders in the shape of BERT, and BiLSTMs, can be made ONNX")
    assert not (folder / "model.onnx").exists()


def test_parsing_with_a_graph_gives_the_same_trees(model: Path, tmp_path: Path) -> None:
    graph, text = tmp_path / "graph.onnx", tmp_path / "text.conllu"
    write_conllu(generate_treebank(300, seed=5), text)
    said = run("export", "--model", model, "--onnx", graph).stdout
    assert said.startswith(f"{graph}: ")
    assert "scores differ from torch's by at most" in said
    run("parse", text, "--model", model, "-o", tmp_path / "torch.conllu")
    options = ("--runtime", "onnx", "--onnx", graph, "-o", tmp_path / "onnx.conllu")
    run("parse", text, "--model", model, *options)
    assert (tmp_path / "onnx.conllu").read_text() == (tmp_path / "torch.conllu").read_text()


def test_probabilities_and_best_trees_are_the_same(model: Path, tmp_path: Path) -> None:
    graph = tmp_path / "graph.onnx"
    export_onnx(model, graph=graph)
    ours, theirs = treecrf.load(model, device="cpu"), load_onnx(model, graph=graph)
    words = [sentence.forms for sentence in generate_treebank(20, seed=6)]
    held = [{1: 2}] * len(words)
    for one, other in zip(
        ours.parse_tokens(words, constraints=held),
        theirs.parse_tokens(words, constraints=held),
        strict=True,
    ):
        assert one.heads == other.heads
        assert one.probs == pytest.approx(other.probs, abs=1e-3)
    for best, others in zip(ours.parse_best(words, 3), theirs.parse_best(words, 3), strict=True):
        assert best[0].heads == others[0].heads
    crf = theirs.distribution(words[:2])
    assert torch.allclose(crf.marginals, ours.distribution(words[:2]).marginals, atol=1e-3)


def test_a_graph_of_another_model_is_refused(tmp_path: Path) -> None:
    folder, other = tmp_path / "model", tmp_path / "other"
    parser_of(seed=1).save(folder)
    parser_of(seed=2).save(other)
    missing = problem("parse", "--text", "a", "--model", folder, "--runtime", "onnx")
    graph = folder / "model.onnx"
    assert missing == f"{graph}: no such file: treecrf export --model {folder} writes it"
    run("export", "--model", folder)
    shutil.copy(graph, other)
    said = problem("parse", "--text", "a", "--model", other, "--runtime", "onnx")
    assert (
        said == f"{other / 'model.onnx'}: this graph is not of the model {other}: export it again"
    )
    graph.write_bytes(graph.read_bytes()[:1000])
    with pytest.raises(ParserError, match="not a graph that can be run"):
        load_onnx(folder)
    with pytest.raises(ParserError, match="computed on the CPU, not on cuda"):
        load_onnx(folder, device="cuda")
    said = misuse("parse", "--text", "a", "--model", folder, "--onnx", graph)
    assert said == "--onnx names a graph for --runtime onnx"


def test_the_english_model_is_exported_in_single_precision(tmp_path: Path) -> None:
    assert problem("export").startswith("name a file for the graph of an installed model")
    missing = problem("parse", "--text", "a", "--runtime", "onnx")
    assert missing == "name a graph with --onnx FILE: treecrf export --onnx FILE writes it"
    missing = problem("parse", "--text", "a", "--runtime", "onnx", "--onnx", "no.onnx")
    assert missing == "no.onnx: no such file: treecrf export --onnx no.onnx writes it"
    graph = tmp_path / "en.onnx"
    run("export", "--onnx", graph)
    parser = treecrf.load(device="cpu", precision="float32")
    text = "I saw Sarah with a telescope. It was not hers, she said."
    ours, theirs = parser.parse(text), load_onnx(graph=graph).parse(text)
    assert [(s.heads, s.deprels) for s in ours] == [(s.heads, s.deprels) for s in theirs]


def test_a_sentence_that_is_too_long_is_named() -> None:
    config: Config = with_loss("crf2o")
    graph = graph_of(random_scorer(config).float())
    graph(batch_of(sentences_of([644]), config))
    with pytest.raises(ParserError, match=r"a sentence of 645 words is too long .* --runtime onnx"):
        graph(batch_of(sentences_of([645]), config))


def test_a_parser_with_a_graph_has_nothing_to_save(tmp_path: Path) -> None:
    parser_of().save(tmp_path / "model")
    export_onnx(tmp_path / "model")
    with pytest.raises(ParserError, match="copy its folder instead"):
        load_onnx(tmp_path / "model").save(tmp_path / "copy")


def test_the_segmenter_of_the_folder_is_used(full_model: Path, tmp_path: Path) -> None:
    graph, text = tmp_path / "graph.onnx", "Anna saw the garden. The dog slept."
    export_onnx(full_model, graph=graph)
    ours = treecrf.load(full_model, device="cpu").parse(text)
    theirs = load_onnx(full_model, graph=graph).parse(text)
    assert [s.heads for s in theirs] == [s.heads for s in ours]
    assert len(theirs) == 2
    path = tmp_path / "parsed.conllu"
    write_conllu(theirs, path)
    assert [s.forms for s in read_conllu(path)] == [s.forms for s in ours]
