"""The figures of a card: what `treecrf evaluate` prints of a model, on words and from raw text."""

from collections.abc import Sequence

from treecrf.parser.api import Parser
from treecrf.parser.packages.card import Figures
from treecrf.segment.training.raw_text import treebank_text
from treecrf.treebank import Score, Sentence, evaluate, evaluate_conll18

__all__ = ["counts", "gold_word_figures", "raw_text_figures"]

_LEFT_OUT = ("LA", "UCM", "LCM", "SIB", "AllTags")


def counts(sentences: Sequence[Sentence]) -> dict[str, int]:
    """Numbers of sentences and words, for a card."""
    return {"sentences": len(sentences), "words": sum(map(len, sentences))}


def gold_word_figures(parser: Parser, gold: Sequence[Sentence]) -> Figures:
    """Scores in percent on given words."""
    parsed = parser.parse_stream(gold, probs=False)
    return _percents(evaluate(gold, parsed, columns=parser.config.predict).scores)


def raw_text_figures(parser: Parser, gold: Sequence[Sentence]) -> Figures:
    """Scores in percent from raw text; none without a segmenter, or if some word has no head."""
    if not parser.has_segmenter or any(-1 in sentence.heads for sentence in gold):
        return {}
    parsed = list(parser.parse_text(treebank_text(gold), probs=False))
    return _percents(evaluate_conll18([one for one in gold if len(one)], parsed))


def _percents(scores: dict[str, Score]) -> dict[str, float]:
    shown = {name: score for name, score in scores.items() if name not in _LEFT_OUT}
    return {name: round(100 * score.f1, 2) for name, score in shown.items()}
