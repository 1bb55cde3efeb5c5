"""Export of a model to an ONNX graph, written only if its scores equal those of torch."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

import treecrf
from treecrf.integrations.onnx.network import scorer_graph
from treecrf.integrations.onnx.runtime import FORMAT, GRAPH, GraphScorer
from treecrf.parser.batching.batch import Batch, make_batch
from treecrf.parser.batching.encoding import encode
from treecrf.parser.bundled import is_packaged, model_folder
from treecrf.parser.errors import ParserError
from treecrf.parser.folder import model_digest
from treecrf.parser.network.scorer import Scorer
from treecrf.parser.vocab import Vocabulary
from treecrf.storage import replace_file
from treecrf.treebank import Sentence, Token

__all__ = ["TOLERANCE", "export_onnx", "largest_difference"]

TOLERANCE = 1e-4
_LENGTHS = (31, 17, 17, 9, 4, 2, 1)


def export_onnx(
    model: str | Path | None = None, *, graph: str | Path | None = None
) -> tuple[Path, float]:
    """Write the graph of a model; returns its path and the largest difference from torch's scores.

    Without `graph` it goes into the model folder, where `treecrf parse --runtime onnx` looks.
    """
    folder = model_folder(model)
    if graph is None and is_packaged(folder):
        raise ParserError("name a file for the graph of an installed model: --onnx FILE")
    path = folder / GRAPH if graph is None else Path(graph)
    parser = treecrf.load(folder, device="cpu", precision="float32")  # as the graph computes
    assert isinstance(parser.scorer, Scorer)
    properties = {"format": FORMAT, "digest": model_digest(folder), "treecrf": treecrf.__version__}
    data = scorer_graph(parser.scorer, properties).SerializeToString()
    sentences = random_sentences(parser.vocabulary, _LENGTHS)
    encoded = encode(sentences, parser.vocabulary, parser.config)
    batch = make_batch(encoded, np.arange(len(sentences)))
    difference = largest_difference(parser.scorer, GraphScorer(data, name=str(path)), batch)
    if not difference < TOLERANCE:
        problem = f"the scores of the graph differ from torch's by {difference:.1e}"
        raise ParserError(f"{problem}, which is more than {TOLERANCE:.0e}: nothing is written")
    replace_file(path, data)
    return path, difference


def random_sentences(vocabulary: Vocabulary, lengths: Sequence[int]) -> list[Sentence]:
    """Random sentences of known and unknown words."""
    random = np.random.default_rng(1)
    words = [*vocabulary.words[:1000], *vocabulary.vectors[:1000], "unheard-of", "?!", "straße"]
    tags = [*vocabulary.tags, "?"]

    def token(number: int) -> Token:
        word, tag = random.integers(len(words)), tags[random.integers(len(tags))]
        return Token(number, words[word], upos=tag, xpos=tag)

    return [Sentence.from_tokens(map(token, range(1, length + 1))) for length in lengths]


@torch.inference_mode()
def largest_difference(scorer: Scorer, graph: GraphScorer, batch: Batch) -> float:
    """Largest difference between the scores of the two for a batch, padding left out."""
    ours, theirs = scorer(batch), graph(batch)
    tokens = torch.arange(batch.grid[1])
    inside = tokens <= batch.lengths[:, None]
    arcs = inside[:, :, None] & inside[:, None]
    pairs = [(scorer.arcs(ours, batch)[arcs], graph.arcs(theirs, batch)[arcs])]
    triples = arcs[..., None] & inside[:, None, None]
    for one, other in (
        (scorer.siblings(ours, batch), graph.siblings(theirs, batch)),
        (scorer.grandparents(ours, batch), graph.grandparents(theirs, batch)),
    ):
        if one is not None and other is not None:
            pairs.append((one[triples], other[triples]))
    for shift in range(batch.grid[1]):  # each head in turn
        heads = (tokens + shift) % (batch.lengths[:, None] + 1)
        pairs.append((scorer.relations(ours, batch, heads), graph.relations(theirs, batch, heads)))
    classes = graph.columns(theirs)
    pairs += [(scores, classes[name]) for name, scores in scorer.columns(ours).items()]
    return max(float((one - other).abs().max()) for one, other in pairs)
