"""`treecrf train` from end to end: what it writes and prints, and its options."""

import json
import os
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import treecrf as package
from tests.cli.running import ONE_EPOCH, TWO_ROOTS, misuse, problem, treecrf
from tests.parser.encoders import make_bert
from treecrf.cli.app import app
from treecrf.parser.folder import load_weights
from treecrf.treebank import read_conllu, write_conllu

FILES = ["checkpoint.safetensors", "config.toml", "log.jsonl", "model.safetensors", "vocab.json"]


EPOCH = re.compile(
    r"epoch +\d+  loss +\d+\.\d{4}  dev UAS +\d+\.\d\d  LAS +\d+\.\d\d [* ] +[\d,]+ sentences/s  "
    r"\d:\d\d:\d\d"
)


def log_of(folder: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


def test_what_training_prints_and_writes(data: tuple[object, ...], out: Path) -> None:
    options = ("--config", "tiny", "--set", "epochs=3", "--device", "cpu")
    same, *lines = treecrf("train", *data, *options, "--out", out).stdout.splitlines()
    assert same.startswith(f"note   {data[1]} is training data too")
    sentences = list(read_conllu(str(data[1])))
    words = sum(map(len, sentences))
    assert re.fullmatch(rf"train  60 sentences, {words} words \(\d+ with lifted arcs\)", lines[0])
    assert lines[1] == "dev    60 sentences"
    assert re.fullmatch(r"model  crf2o, 0\.\dM weights, on cpu", lines[2])
    assert lines[3] == "also   UPOS, XPOS, FEATS, LEMMA"
    assert [bool(EPOCH.fullmatch(line)) for line in lines[4:]] == [True, True, True, False]
    log = log_of(out)
    assert [line["epoch"] for line in log] == [1, 2, 3]
    best = max(log, key=lambda line: line["las"])
    assert lines[-1] == (
        f"best   dev LAS {best['las']:.2f} in epoch {best['epoch']}; the model is in {out}"
    )
    assert log[-1]["best_las"] == best["las"]
    assert sorted(path.name for path in out.iterdir()) == FILES
    evaluation = json.loads(treecrf("evaluate", data[1], "-m", out, "--json").stdout)
    assert 100 * evaluation["LAS"]["f1"] == pytest.approx(best["las"])


def test_training_says_what_is_not_annotated(data: tuple[object, ...], out: Path) -> None:
    first, *others = read_conllu(str(data[1]))
    bare = ["_"] * len(first)
    sentences = [first.with_columns({"lemma": bare, "upos": bare}), *others]
    part = out.with_name("part.conllu")
    write_conllu([one.with_columns({"xpos": ["_"] * len(one)}) for one in sentences], part)
    told = treecrf("train", "--train", part, "--dev", data[1], *ONE_EPOCH, "--out", out).stdout
    also = f"{len(first)} words without UPOS; {len(first)} words without LEMMA"
    assert f"also   UPOS, FEATS, LEMMA; no XPOS in the training data; {also}\n" in told
    told = treecrf("evaluate", data[1], "-m", out).stdout
    assert "this model predicts no XPOS\n" in told


def test_an_epoch_is_chosen_without_punctuation(data: tuple[object, ...], out: Path) -> None:
    options = ("--config", "tiny", "--set", "epochs=2", "--punct", "unicode")
    _, *lines = treecrf("train", *data, *options, "--out", out).stdout.splitlines()
    assert lines[1] == "dev    60 sentences, scored without punctuation"
    best = max(line["las"] for line in log_of(out))
    for punct, same in (("unicode", True), ("keep", False)):
        asked = ("evaluate", data[1], "-m", out, "--json", "--punct", punct)
        las = 100 * json.loads(treecrf(*asked).stdout)["LAS"]["f1"]
        assert (las == pytest.approx(best)) == same
    untagged = out.with_name("untagged.conllu")
    untagged.write_text("1\t.\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    line = problem(
        "train", *data[:2], "--dev", untagged, *ONE_EPOCH, "--punct", "tag", "--out", out / "other"
    )
    assert line.startswith(f"{untagged}: by its tags no word is punctuation; punct = unicode goes")


def test_training_anew_and_on(data: tuple[object, ...], out: Path) -> None:
    treecrf("train", *data, *ONE_EPOCH, "--out", out)
    first = (out / "model.safetensors").read_bytes()
    line = problem("train", *data, *ONE_EPOCH, "--out", out)
    assert line == (
        f"{out}: there is a model already; --resume goes on with it, --overwrite trains anew"
    )
    treecrf("train", *data, *ONE_EPOCH, "--out", out, "--overwrite")
    assert (out / "model.safetensors").read_bytes() == first
    treecrf("train", *data, *ONE_EPOCH, "--out", out, "--overwrite", "--seed", 2)
    assert (out / "model.safetensors").read_bytes() != first
    text = treecrf("train", *data, "--out", out, "--resume", "--set", "epochs=2").stdout
    assert len(EPOCH.findall(text)) == 1
    assert [line["epoch"] for line in log_of(out)] == [1, 2]
    assert package.load(out).config.seed == 2
    text = treecrf("train", *data, "--out", out, "--resume", "--set", "epochs=2").stdout
    assert not EPOCH.search(text)  # there is nothing left to do
    assert "this training had ended already: 2 epochs are done; --set epochs=N goes on" in text
    assert "best   dev LAS" in text
    (out / "model.safetensors").unlink()  # as before the first epoch
    line = problem("train", *data, *ONE_EPOCH, "--out", out)
    assert line.startswith(f"{out}: there is a training that has made no model yet; --resume goes")


def test_settings_of_a_file_and_by_themselves(data: tuple[object, ...], out: Path) -> None:
    file = out.with_name("settings.toml")
    file.write_text('loss = "crf"\nlstm_size = 20\nlstm_layers = 1\nepochs = 1\nseed = 7\n')
    options = ("--config", file, "--set", "arc_size=30", "--set", "decoder=viterbi", "--seed", 8)
    treecrf("train", *data, *options, "--loss", "local", "--nonprojective", "none", "--out", out)
    config = package.load(out).config
    assert (config.lstm_size, config.arc_size, config.label_size) == (20, 30, 100)
    assert (config.loss, config.nonprojective, config.decoder) == ("local", "none", "viterbi")
    assert config.seed == 8
    treecrf("parse", data[1], "--model", out, "-o", out / "parsed.conllu")


def test_several_files_are_one_treebank(
    data: tuple[object, ...], treebank: Path, out: Path
) -> None:
    more = ("--train", treebank / "train.conllu")
    text = treecrf("train", *data, *more, *ONE_EPOCH, "--out", out).stdout
    assert "train  360 sentences" in text
    line = problem("train", *more, *data, "--out", out, "--resume")  # the other way round
    assert line.startswith(f"{out}: the checkpoint is of other training data; give the same files")


def test_word_vectors(data: tuple[object, ...], out: Path) -> None:
    vectors = out.with_name("vectors.txt")
    known = ["the", "a", "dog", "saw", ".", "wombat", "quokka"]
    numbers = [f"{word} {place} -0.5 {place % 3}" for place, word in enumerate(known)]
    vectors.write_text("\n".join(numbers) + "\n")
    run = treecrf("train", *data, *ONE_EPOCH, "--embeddings", vectors, "--out", out)
    assert re.search(r"^vectors of [1-9] of the \d+ forms in the training data$", run.stdout, re.M)
    assert sorted(path.name for path in out.iterdir()) == sorted([*FILES, "vectors.safetensors"])
    parser = package.load(out)
    assert parser.vocabulary.vectors == known
    assert "wombat" not in parser.vocabulary.words
    vectors.unlink()  # the model has them
    treecrf("train", *data, "--resume", "--set", "epochs=2", "--out", out)
    treecrf("train", *data, "--resume", "--set", "epochs=3", "--embeddings", vectors, "--out", out)
    assert treecrf("parse", "-", "-m", out, stdin="a wombat saw .\n").stdout.count("\n") == 7
    vectors.write_text("the 1 2\ndog 1\n")
    line = problem("train", *data, *ONE_EPOCH, "--embeddings", vectors, "--out", out, "--overwrite")
    assert line.startswith(f"{vectors}:2: ")
    assert package.load(out).vocabulary.vectors == known  # nothing is removed before


def test_tags(data: tuple[object, ...], out: Path) -> None:
    treecrf("train", *data, *ONE_EPOCH, "--set", "tags=upos", "--out", out)
    parser = package.load(out)
    assert {"NOUN", "VERB", "DET"} <= set(parser.vocabulary.tags)
    sentence = next(read_conllu(str(data[1])))
    nouns = sentence.with_tree(
        sentence.heads, sentence.deprels, columns={"upos": ["NOUN"] * len(sentence)}
    )
    tagged, alike = parser.parse_tokens([sentence, nouns])
    assert tagged.probs != alike.probs


@pytest.mark.parametrize("schedule", ["exponential", "linear"])  # the second ends at a rate of 0
def test_a_model_that_becomes_worse(
    schedule: str, data: tuple[object, ...], model: Path, out: Path
) -> None:
    settings = ("--set", "learning_rate=1.0", "--set", "epochs=1", "--set", f"schedule={schedule}")
    arguments = ["train", *data, "--init", model, *settings, "--out", out]
    run = CliRunner().invoke(app, list(map(str, arguments)))
    assert run.exit_code == 0
    assert "warning: the model that it started from has a dev LAS of" in run.stderr
    assert run.stderr.endswith("a lower rate forgets less, such as --set learning_rate=0.1\n")


def test_settings_that_only_go_together_may_come_from_several_places(
    data: tuple[object, ...], out: Path, tmp_path: Path
) -> None:
    """As in the card of the English model: the file leaves out which transformer it is."""
    encoder = make_bert(tmp_path / "encoder")
    file = tmp_path / "settings.toml"
    file.write_text('encoder = "transformer"\nlstm_layers = 0\nepochs = 1\narc_size = 8\n')
    line = problem("train", *data, "--config", file, "--out", out)
    assert line == (
        f"{file}: the encoder is a transformer and none is named: --set transformer=FOLDER_OR_NAME"
    )
    named = ("--set", f"transformer={encoder}")
    treecrf("train", *data, "--config", file, *named, "--out", out)
    assert package.load(out).config.transformer == str(encoder)
    # What the file leaves out, a model to start from or to go on with has.
    treecrf("train", *data, "--config", file, "--resume", "--set", "epochs=2", "--out", out)
    following = tmp_path / "next"
    still = ("--set", "learning_rate=0", "--set", "transformer_learning_rate=0")  # no worse
    treecrf("train", *data, "--config", file, "--init", out, *still, "--out", following)
    assert package.load(following).config.arc_size == 8


def test_a_model_starts_from_another(
    data: tuple[object, ...], model: Path, treebank: Path, out: Path
) -> None:
    new = out.with_name("new.conllu")
    text = (treebank / "dev.conllu").read_text(encoding="utf-8")
    new.write_text(text.replace("\tobj\t", "\tnovelty\t"), encoding="utf-8")
    files = ("--train", new, "--dev", new)
    run = treecrf(
        *("train", *files, "--init", model, "--set", "epochs=1", "--loss", "crf", "--out", out)
    )
    assert re.search(r"^start  dev UAS \d\d\.\d\d, LAS \d\d\.\d\d$", run.stdout, re.M)
    first, second = package.load(model), package.load(out)
    assert second.config == first.config.changed({"epochs": 1, "loss": "crf"})
    known = first.vocabulary.relations
    assert second.vocabulary.relations[: len(known)] == known
    assert {name.split("↑")[0] for name in second.vocabulary.relations[len(known) :]} == {"novelty"}
    assert second.vocabulary.words[: len(first.vocabulary.words)] == first.vocabulary.words
    # One epoch from the start is worth less.
    scratch = out.with_name("scratch")
    treecrf("train", *files, *ONE_EPOCH, "--loss", "crf", "--out", scratch)
    assert log_of(out)[0]["las"] > log_of(scratch)[0]["las"] + 20
    assert load_weights(out).keys() < load_weights(model).keys()  # no siblings


def test_training_ends_with_the_time(data: tuple[object, ...], out: Path) -> None:
    options = ("--config", "tiny", "--max-minutes", 1e-9, "--out", out)
    treecrf("train", *data, *options)
    assert [line["epoch"] for line in log_of(out)] == [1]
    assert package.load(out).parse_tokens([["a", "dog"]])[0].heads in ([2, 0], [0, 1])


def test_sentences_that_no_projective_tree_fits_are_named(
    data: tuple[object, ...], out: Path
) -> None:
    arguments = ["train", *map(str, data), *ONE_EPOCH, "--out", str(out)]
    result = CliRunner().invoke(app, [*arguments, "--nonprojective", "none"])
    assert result.exit_code == 0, result.output
    assert re.fullmatch(
        rf"warning: left out \d+ sentences whose heads no projective tree has \({data[1]}:\d+, .*"
        r" and \d+ more\); --nonprojective pseudo .*\n",
        result.stderr,
    )


def test_several_roots_are_learnt_if_so_meant(treebank: Path, out: Path) -> None:
    roots = out.with_name("roots.conllu")
    roots.write_text(20 * TWO_ROOTS, encoding="utf-8")
    files = ("--train", roots, "--dev", roots)
    options = ("--config", "tiny", "--set", "epochs=3", "--set", "multiroot=true")
    treecrf("train", *files, *options, "--out", out)
    assert package.load(out).parse_tokens([["a", "b"]])[0].heads == [0, 0]


def test_resumed_training_is_the_same_training(
    data: tuple[object, ...], treebank: Path, out: Path
) -> None:
    treecrf("train", *data, *ONE_EPOCH, "--out", out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    train, dev = treebank / "train.conllu", treebank / "dev.conllu"
    line = problem("train", "--train", train, "--dev", dev, "--resume", "--out", out)
    assert line == (
        f"{out}: the checkpoint is of other training data; give the same files in the same order, "
        "or another --out"
    )
    line = problem("train", "--train", dev, "--dev", train, "--resume", "--out", out)
    assert line.startswith(f"{out}: the checkpoint is of other dev data; give the same files")
    line = problem("train", *data, "--resume", "--loss", "crf", "--set", "seed=2", "--out", out)
    assert line == (
        f"{out}: training began with another loss and seed; resumed, only epochs, patience, "
        "decoder may change"
    )
    line = problem("train", *data, "--resume", "--config", "default", "--out", out)
    assert re.search(r"another word_size and \w+ and char_size and \d+ more; resumed, only", line)
    assert before == {path.name: path.read_bytes() for path in out.iterdir()}
    (out / "checkpoint.safetensors").write_bytes(before["checkpoint.safetensors"][:99])
    line = problem("train", *data, "--resume", "--out", out)
    assert line.startswith(f"{out / 'checkpoint.safetensors'}: damaged, or not a safetensors file")
    (out / "checkpoint.safetensors").unlink()
    line = problem("train", *data, "--resume", "--out", out)
    assert line == (
        f"{out}: there is no checkpoint.safetensors to go on from; --init starts another training "
        "from this model, --overwrite trains anew"
    )
    assert (out / "model.safetensors").read_bytes() == before["model.safetensors"]


@pytest.mark.slow
def test_the_english_model_goes_on_from_what_was_annotated(
    treebank: Path, out: Path, tmp_path: Path
) -> None:
    """By its name, on partial trees; the new model cuts raw text and is as sure as the old one."""
    whole, partial = tmp_path / "whole.conllu", tmp_path / "partial.conllu"
    treecrf("data", "generate", whole, "--sentences", 6)
    CliRunner().invoke(app, ["data", "mask", str(whole), "--keep", "0.5", "-o", str(partial)])
    files = ("--train", partial, "--dev", whole, "--device", "cpu")
    slow = ("--set", "epochs=1", "--set", "learning_rate=1e-6")
    slow += ("--set", "transformer_learning_rate=1e-7")
    arguments = ("train", *files, "--init", "en", *slow, "--out", out)
    run = CliRunner().invoke(app, list(map(str, arguments)))
    assert run.exit_code == 0, run.output
    config = package.load("en", device="cpu").config
    temperatures = ("temperature", "relation_temperature", "upos_temperature")
    kept = ", ".join(f"{name} {getattr(config, name)}" for name in temperatures)
    assert run.stdout.startswith(
        f"init   en: keeps its segmenter, {kept}, precision int8; temperatures were fitted to its "
        "weights, not to the new ones\n"
    )
    text = "Peter didn't sleep. He was reading!"
    words = treecrf("parse", "--text", text, "--model", out, "--device", "cpu").stdout
    assert words == treecrf("parse", "--text", text, "--device", "cpu").stdout
    arguments = ("train", *files, *ONE_EPOCH, "--overwrite", "--out", out)
    run = CliRunner().invoke(app, list(map(str, arguments)))
    assert run.stderr.startswith(f"warning: the segmenter in {out} goes with the model that is")


def test_what_can_be_read_once_trains_no_segmenter(data: tuple[object, ...], out: Path) -> None:
    for option, source in (("--train", os.devnull), ("--dev", "-")):
        line = misuse("train", *data, option, source, *ONE_EPOCH, "--segmenter", "--out", out)
        assert line == (
            f"--segmenter reads the data again, and {source} can be read once: make a file of it"
        )
    assert not out.exists()
