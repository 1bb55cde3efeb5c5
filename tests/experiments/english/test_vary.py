"""Sentences in capitals, in small letters and without a mark at their end."""

from pathlib import Path

import pytest

from experiments.english import vary
from treecrf.demo import generate_treebank
from treecrf.treebank import Sentence, read_conllu, write_conllu


def test_words_change_and_annotation_stays(tmp_path: Path) -> None:
    sentences = list(generate_treebank(300, seed=1))
    write_conllu(sentences, tmp_path / "train.conllu")
    assert vary.main([str(tmp_path / name) for name in ("train.conllu", "varied.conllu")]) == 0
    varied = list(read_conllu(tmp_path / "varied.conllu"))
    by_words = {" ".join(one.forms).lower(): one for one in sentences}
    whole = [one for one in varied if " ".join(one.forms).lower() in by_words]
    for one in whole:
        original = by_words[" ".join(one.forms).lower()]
        for name in ("upos", "xpos", "feats", "head", "deprel"):
            assert one.column(name) == original.column(name)
        for ours, theirs in zip(one.tokens, original.tokens, strict=True):
            assert ours.lemma == ("_" if ours.upos == "PROPN" else theirs.lemma)
    assert any(one.forms[0].isupper() for one in whole)
    assert any("".join(one.forms).islower() for one in whole)
    unended = [one for one in varied if one not in whole]
    assert unended
    for one in unended:
        (full,) = {key for key in by_words if key.startswith(" ".join(one.forms).lower() + " ")}
        assert by_words[full].heads[:-1] == one.heads


@pytest.mark.parametrize("forms", [["Go", "!"], ["no", "end", "here"]])
def test_what_has_no_mark_to_drop_stays(forms: list[str]) -> None:
    sentence = Sentence(
        forms, [0, *[1] * (len(forms) - 1)], deprels=["root"] + ["dep"] * (len(forms) - 1)
    )
    assert vary._unended(sentence) is None
