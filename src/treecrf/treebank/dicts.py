"""Sentences as dictionaries that JSON can hold."""

from typing import TYPE_CHECKING, Any

from treecrf.treebank.tokens import COLUMNS, EmptyNode, Multiword, Token

if TYPE_CHECKING:
    from treecrf.treebank.sentence import Sentence

__all__ = ["sentence_to_dict"]


def sentence_to_dict(sentence: "Sentence") -> dict[str, Any]:
    """The sentence with its words, multiword tokens and empty nodes; None for what is unknown."""
    words = [_word(token) for token in sentence.tokens]
    known = {
        "prob": sentence.probs,
        "deprel_prob": sentence.deprel_probs,
        "upos_prob": sentence.upos_probs,
    }
    for name, probs in known.items():
        if probs is not None:
            for word, prob in zip(words, probs, strict=True):
                word[name] = prob
    return {
        "sent_id": sentence.sent_id,
        "text": sentence.text,
        "comments": list(sentence.comments),
        "tokens": words,
        "multiwords": [
            {"id": f"{item.first}-{item.last}", "first": item.first, "last": item.last}
            | (_columns(item) | {"start": item.start, "end": item.end})
            for item in sentence.multiwords
        ],
        "empty_nodes": [
            {"id": f"{item.after}.{item.number}", "after": item.after, "number": item.number}
            | _columns(item)
            for item in sentence.empty_nodes
        ],
    }


def _word(token: Token) -> dict[str, Any]:
    head = token.head if token.head >= 0 else None
    offsets = {"start": token.start, "end": token.end}
    return {"id": token.id} | _columns(token) | {"head": head} | offsets


def _columns(item: Token | Multiword | EmptyNode) -> dict[str, Any]:
    cells = {name: getattr(item, name) for name in COLUMNS[1:]}
    columns = {name: None if cell == "_" else cell for name, cell in cells.items()}
    columns["feats"] = dict(item.feats) or None
    if item.form == "_":  # a word that is an underscore, and its lemma
        columns |= {"form": item.form, "lemma": item.lemma}
    return columns
