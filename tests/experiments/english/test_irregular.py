"""The lemmas of irregular words."""

from experiments.english.bundle import with_more_lemmas
from experiments.english.irregular import abbreviation_lemmas, irregular_lemmas


def test_each_form_has_one_lemma() -> None:
    lemmas = irregular_lemmas()
    assert lemmas["sang\tVERB"] == lemmas["Sung\tVERB"] == "sing"
    assert lemmas["geese\tNOUN"] == "goose"
    # Those of two verbs, or the base of another one, are left to the model.
    for form in ("fell", "lay", "saw", "wound", "bore"):
        assert f"{form}\tVERB" not in lemmas
    for key, lemma in lemmas.items():
        form, tag = key.split("\t")
        assert tag in ("VERB", "NOUN")
        assert form.lower().isalpha()
        assert lemma.islower()


def test_abbreviated_dates() -> None:
    lemmas = abbreviation_lemmas()
    assert lemmas["Aug\tPROPN"] == lemmas["Aug.\tPROPN"] == "August"
    assert lemmas["hrs\tNOUN"] == "hour"
    assert not {"Sun\tPROPN", "Jan\tPROPN", "May\tPROPN"} & lemmas.keys()  # also names, or whole


def test_a_treebank_knows_better() -> None:
    found = with_more_lemmas({"sang\tVERB": "sang", "plans\tNOUN": "plan", "x\tVERB": "hope"})
    assert found["sang\tVERB"] == "sang"
    assert found["hoping\tVERB"] == "hope"
    assert found["weaving\tVERB"] == "weave"  # a regular form of an irregular verb
