"""The CoNLL 2018 evaluation of parsers of raw text: words are aligned, then scored."""

from collections import Counter
from dataclasses import dataclass, field

from treecrf.treebank.metrics.alignment import ROOT, Text, score_segmentation
from treecrf.treebank.metrics.counts import Treebank, sentences_of, universal_features
from treecrf.treebank.metrics.scores import Score
from treecrf.treebank.tokens import Token

__all__ = ["evaluate_conll18"]

# These two are the shared task's, and stay as they were in 2018.
# fmt: off
CONTENT_RELATIONS = frozenset({
    "nsubj", "obj", "iobj", "csubj", "ccomp", "xcomp", "obl", "vocative", "expl", "dislocated",
    "advcl", "advmod", "discourse", "nmod", "appos", "nummod", "acl", "amod", "conj", "fixed",
    "flat", "compound", "list", "parataxis", "orphan", "goeswith", "reparandum", "root", "dep",
})
FUNCTION_RELATIONS = frozenset({"aux", "cop", "mark", "det", "clf", "case", "cc"})
# fmt: on


def evaluate_conll18(gold: Treebank, system: Treebank) -> dict[str, Score]:
    """Score a system that split the text itself; both are CoNLL-U files or sentences.

    The metrics are Tokens, Sentences, Words, UPOS, XPOS, UFeats, AllTags, Lemmas, UAS, LAS, CLAS,
    MLAS and BLEX. Raises `TreebankError` where the texts differ or a sentence is no tree.
    """
    gold_text, system_text = Text.of(sentences_of(gold)), Text.of(sentences_of(system))
    scores, pairs = score_segmentation(gold_text, system_text)
    gold_words, system_words = _annotations(gold_text), _annotations(system_text)
    right = _count_right(gold_words, system_words, pairs)

    for name in ("UPOS", "XPOS", "UFeats", "AllTags", "Lemmas", "UAS", "LAS"):
        scores[name] = Score(right[name], len(gold_words), len(system_words), len(pairs))
    gold_content = sum(word.is_content for word in gold_words)
    system_content = sum(word.is_content for word in system_words)
    aligned_content = sum(gold_words[g].is_content for g, _ in pairs)
    for name in ("CLAS", "MLAS", "BLEX"):
        scores[name] = Score(right[name], gold_content, system_content, aligned_content)
    return scores


@dataclass(slots=True)
class _Annotation:
    """The annotation of a word that is compared."""

    token: Token
    feats: str
    relation: str
    head: int
    function_words: list[int] = field(default_factory=list)

    @property
    def is_content(self) -> bool:
        return self.relation in CONTENT_RELATIONS

    @property
    def morphology(self) -> tuple[str, str]:
        return self.token.upos, self.feats


def _annotations(text: Text) -> list[_Annotation]:
    annotations = []
    for word in text.words:
        feats = universal_features(str(word.token.feats))
        relation = word.token.deprel.partition(":")[0]
        annotations.append(_Annotation(word.token, feats, relation, word.head))
    for index, annotation in enumerate(annotations):
        if annotation.relation in FUNCTION_RELATIONS and annotation.head != ROOT:
            annotations[annotation.head].function_words.append(index)
    return annotations


def _count_right(
    gold: list[_Annotation], system: list[_Annotation], pairs: list[tuple[int, int]]
) -> Counter[str]:
    gold_of = {ROOT: ROOT} | {s: g for g, s in pairs}

    def same_function_words(ours: list[int], theirs: list[int]) -> bool:
        return ours == [gold_of.get(child) for child in theirs] and all(
            gold[i].relation == system[j].relation and gold[i].morphology == system[j].morphology
            for i, j in zip(ours, theirs, strict=True)
        )

    right: Counter[str] = Counter()
    for g, s in pairs:
        word, answer = gold[g], system[s]
        upos, xpos = word.token.upos == answer.token.upos, word.token.xpos == answer.token.xpos
        feats = word.feats == answer.feats
        # A reference without lemmas does not blame a system for having some.
        lemma = word.token.lemma in ("_", answer.token.lemma)
        head = word.head == gold_of.get(answer.head)
        arc = head and word.relation == answer.relation
        right["UPOS"] += upos
        right["XPOS"] += xpos
        right["UFeats"] += feats
        right["AllTags"] += upos and xpos and feats
        right["Lemmas"] += lemma
        right["UAS"] += head
        right["LAS"] += arc
        if arc and word.is_content:
            right["CLAS"] += 1
            functions = same_function_words(word.function_words, answer.function_words)
            right["MLAS"] += upos and feats and functions
            right["BLEX"] += lemma
    return right
