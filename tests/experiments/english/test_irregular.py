"""The lemmas of irregular words."""

from experiments.english.irregular import irregular_lemmas


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
