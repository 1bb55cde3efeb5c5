"""One model at work on many requests: it cuts texts, and parses sentences together."""

import io
from collections.abc import Iterable, Iterator, Sequence

from treecrf.parser import Parser
from treecrf.parser.decoding.sentences import Analysis, TreeNamer
from treecrf.serve.queue.jobs import Task
from treecrf.treebank import Sentence, Token, read_tokens

__all__ = ["Engine"]

# cost(n) = n + n^3 / CUBE, in words of short sentences; as measured on a CPU.
_CUBE_OF_SIBLINGS = 4_000
_CUBE = 12_000
# What a list of the best trees costs beside the tree alone: a call, and something for each tree.
_LIST = 30
_TREE_OF_LIST = 3
_CUT_AT_ONCE = 1 << 13  # characters of a text that is cut part by part
_READ_BESIDE = 100  # characters that a text counts for beside its own: short ones take time, too


class Engine:
    """A parser, used by one thread."""

    def __init__(self, parser: Parser) -> None:
        self.parser = parser
        self._cube = _CUBE if parser.scorer.sibling_scores is None else _CUBE_OF_SIBLINGS
        # Marks of lifted arcs are the parser's own affair.
        self.relations = TreeNamer(parser.vocabulary, parser.config).distinct

    def cost(self, task: Task) -> int:
        """Cost of a task, in words of short sentences."""
        return self.cost_of(len(task.sentence), counted=task.words, topk=task.topk)

    def cost_of(self, words: int, *, counted: int = 0, topk: int = 0) -> int:
        """The cost of a sentence of so many words, which count for more where they are long."""
        cost = max(words, counted) + words**3 // self._cube
        return 2 * cost + _LIST + topk * (_TREE_OF_LIST + words // 4) if topk else cost

    def segment(self, texts: Sequence[str]) -> list[list[Sentence]]:
        """The sentences of texts, without trees."""
        if not self.parser.has_segmenter:
            return [_split_lines(text) for text in texts]
        # A file may have more blank lines than anything else.
        filled = iter(self.parser.segmenter.segment_texts([t for t in texts if not _is_blank(t)]))
        return [[] if _is_blank(text) else next(filled) for text in texts]

    def cut(self, texts: Sequence[str]) -> Iterator[Iterable[Sentence | None]]:
        """The sentences of each text, a step at a time: none takes much longer than a batch."""
        if not self.parser.has_segmenter:
            yield from map(_split_lines, texts)
            return
        short: list[str] = []
        length = 0
        for text in texts:
            if short and length + len(text) > _CUT_AT_ONCE:
                yield from self.segment(short)
                short, length = [], 0
            if len(text) > _CUT_AT_ONCE:
                yield self._cut_long(text)
            else:
                short.append(text)
                length += len(text) + (0 if _is_blank(text) else _READ_BESIDE)
        yield from self.segment(short)

    def _cut_long(self, text: str) -> Iterator[Sentence | None]:
        segmenter = self.parser.segmenter
        assembly = segmenter.assembly()
        for block, scores in segmenter.score_stream([text]):
            yield from assembly.add(block, scores)
            yield None
        yield from assembly.finish()

    def parse(self, tasks: Sequence[Task]) -> list[Analysis]:
        """The result of each task; one without details has its sentence alone."""
        detailed = [task for task in tasks if task.details]
        plain = [task.sentence for task in tasks if task.parse and not task.details]
        analyses = iter(
            self.parser.analyse(
                [task.sentence for task in detailed],
                [task.constraints for task in detailed],
                topk=[task.topk for task in detailed],
            )
        )
        parsed = iter(self.parser.parse_tokens(plain, probs=False))
        return [
            next(analyses)
            if task.details
            else Analysis(next(parsed) if task.parse else task.sentence)
            for task in tasks
        ]


def _is_blank(text: str) -> bool:
    return not text or text.isspace()


def _split_lines(text: str) -> list[Sentence]:
    """The sentences of text as `read_tokens` has them, with the places of the words."""
    sentences = []
    end = 0
    for sentence in read_tokens(io.StringIO(text)):
        tokens = []
        for number, form in enumerate(sentence.forms, 1):
            start = text.index(form, end)
            end = start + len(form)
            tokens.append(
                Token(number, form, misc=f"TokenRange={start}:{end}", start=start, end=end)
            )
        sentences.append(Sentence.from_tokens(tokens, comments=sentence.comments))
    return sentences
