"""A second opinion changes the scores of unsure sentence ends, and no others."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from tests.segment.texts import untrained
from treecrf.segment import Segmenter, SegmentError
from treecrf.segment.assembly import ScoredBlock
from treecrf.segment.blocks import cut_blocks
from treecrf.segment.multiwords import Splitter
from treecrf.segment.sentence_ends import EndScorer, find_stretches, rescore

NO_JOINS = untrained(joins=False).joins
SPLITTER = Splitter(splits={"ab": ("a", "b")}, rules={"suffix": {}, "prefix": {}})


def scored(text: str, ends: dict[str, float]) -> ScoredBlock:
    """A text whose tokens end before spaces, with these log odds after words, else none."""
    [block] = cut_blocks([text], size=len(text), context=4)
    scores = np.full((len(text), 3), -9.0, np.float32)
    for word, odds in ends.items():
        scores[text.index(word) + len(word) - 1, 1] = odds
    return block, scores


def stretches(block: ScoredBlock) -> list[tuple[str, list[int]]]:
    found = find_stretches(block, splitter=SPLITTER, joins=NO_JOINS)
    return [(" ".join(stretch.words), stretch.after) for stretch in found]


def longer_words(texts: Sequence[Sequence[str]]) -> list[Tensor]:
    """States that are the lengths of words."""
    return [torch.tensor([[float(len(word))] for word in words]) for words in texts]


def growth() -> EndScorer:
    """Log odds: 5 where the next word is longer by one, and half those of the characters."""
    scorer = EndScorer(1, 2)
    scorer.hidden.weight.data = torch.tensor([[-1.0, 1.0], [1.0, -1.0]])
    scorer.output.weight.data = torch.tensor([[5.0, -5.0]])
    scorer.hidden.bias.data.zero_()
    scorer.output.bias.data.zero_()
    scorer.share.data.fill_(0.5)
    return scorer


def test_stretches_lie_between_sure_ends() -> None:
    block = scored("one two. three four five. six seven eight", {"two.": 5, "four": 1, "seven": -2})
    assert stretches(block) == [("three four five. six seven eight", [2, 5])]
    block = scored("one two. three four five.\n\nsix seven", {"two.": 5, "four": 1, "seven": -2})
    assert stretches(block) == [("three four five.", [2])]
    assert stretches(scored("one two. three", {"two.": 5})) == []
    assert stretches(scored("one", {"one": 0})) == []


def test_line_breaks_are_not_asked_about() -> None:
    assert stretches(scored("one two\nthree four", {"two": 1})) == []
    assert stretches(scored("one two\nthree four", {"one": 1})) == [("one two three four", [1])]


def test_words_are_those_of_multiword_tokens() -> None:
    block, scores = scored("ab cd ab e", {"cd": 1})
    scores[1, 2] = 5
    assert stretches((block, scores)) == [("a b cd ab e", [3])]


def test_long_text_is_read_in_parts() -> None:
    text = " ".join(f"w{number}" for number in range(1000))
    found = stretches(scored(text, {f"w{number}": 0.5 for number in range(100, 1000, 7)}))
    assert sum(len(after) for _, after in found) > 100
    assert max(len(words.split()) for words, _ in found) <= 128
    assert " ".join(words for words, _ in found) in text


def test_the_score_is_of_both() -> None:
    first = scored("aa bbb cc. ddd ee ffff", {"aa": -1, "bbb": 1, "cc.": 8, "ee": 2.5})
    second = scored("a bb", {"a": 0.5})
    before = first[1].copy()
    read = longer_words
    rescore([first, second], growth(), read=read, splitter=SPLITTER, joins=NO_JOINS)
    changed = {5: 0.5, 1: 4.5, 16: 11.25}  # bbb before a word as long; aa, ee before longer ones
    assert np.flatnonzero(first[1][:, 1] != before[:, 1]).tolist() == sorted(changed)
    for place, odds in changed.items():
        assert first[1][place, 1] == pytest.approx(odds)
    assert second[1][0, 1] == pytest.approx(5.25)


def test_a_segmenter_asks_if_it_has_an_encoder() -> None:
    segmenter = untrained(joins=False, bias=(-1000.0, 0.0, -1000.0))
    segmenter.network.output.weight.data.zero_()
    text = "aaa bb cccc c bb a"
    assert len(segmenter.segment(text)) == 1  # log odds of 0
    segmenter.end_scorer = growth()
    assert len(segmenter.segment(text)) == 1
    segmenter.read_words = longer_words
    found = [" ".join(sentence.forms) for sentence in segmenter.segment(text)]
    assert found == ["aaa bb", "cccc c", "bb a"]
    several = segmenter.segment_texts([text, "bb a", text])
    assert [len(sentences) for sentences in several] == [3, 1, 3]


def test_saving(tmp_path: Path) -> None:
    segmenter = untrained()
    segmenter.end_scorer = growth()
    segmenter.save(tmp_path)
    loaded = Segmenter.load(tmp_path)
    assert loaded.end_scorer is not None
    assert loaded.read_words is None
    state = torch.tensor([[1.0]]), torch.tensor([[3.0]])
    assert loaded.end_scorer(*state, odds=torch.tensor([4.0])).tolist() == [12.0]
    path = tmp_path / "segmenter.safetensors"
    weights = {name: tensor for name, tensor in load_file(path).items() if "hidden" not in name}
    save_file(weights, path, {"format": "treecrf segmenter 1"})
    with pytest.raises(SegmentError, match="damaged: these are not the weights"):
        Segmenter.load(tmp_path)


@pytest.mark.parametrize("sizes", ["[0, 3]", "[3]", '"a"', "[3, 1e9]", "[99999, 9]"])
def test_wrong_sizes(tmp_path: Path, sizes: str) -> None:
    untrained().save(tmp_path)
    path = tmp_path / "segmenter.json"
    path.write_text(path.read_text().replace('"sentence_ends": null', f'"sentence_ends": {sizes}'))
    with pytest.raises(SegmentError, match="damaged, or not a segmenter"):
        Segmenter.load(tmp_path)
