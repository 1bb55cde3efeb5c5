"""CoNLL 2018 scores of a model on a treebank, with gold words and from raw text."""

from collections.abc import Sequence

from treecrf.parser import Parser
from treecrf.segment.training.raw_text import raw_sentences, raw_text
from treecrf.treebank import Sentence, evaluate_conll18

__all__ = ["GOLD_WORDS", "RAW_TEXT", "gold_word_scores", "raw_text_scores"]

GOLD_WORDS = ("UPOS", "XPOS", "UFeats", "Lemmas", "UAS", "LAS")
RAW_TEXT = ("Tokens", "Sentences", "Words", *GOLD_WORDS, "CLAS", "MLAS", "BLEX")


def gold_word_scores(parser: Parser, gold: Sequence[Sentence]) -> dict[str, float]:
    """F1 in percent on gold words."""
    # Tags that were there are not the model's.
    bare = [Sentence(sentence.forms) for sentence in gold]
    parsed = parser.parse_stream(bare, probs=False)
    names = ("upos", "xpos", "feats", "lemma")
    trees = [
        truth.with_tree(
            tree.heads, tree.deprels, columns={name: tree.column(name) for name in names}
        )
        for truth, tree in zip(gold, parsed, strict=True)
    ]
    scores = evaluate_conll18(gold, trees)
    return {name: 100 * scores[name].f1 for name in GOLD_WORDS}


def raw_text_scores(parser: Parser, gold: Sequence[Sentence]) -> dict[str, float]:
    """F1 in percent from raw text."""
    text = raw_text(raw_sentences(gold))
    scores = evaluate_conll18(gold, list(parser.parse_text([text], probs=False)))
    return {name: 100 * scores[name].f1 for name in RAW_TEXT}
