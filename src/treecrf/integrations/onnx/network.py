"""Scorer as one ONNX graph over padded sentences of any number and length."""

from typing import TYPE_CHECKING

from torch import Tensor, nn

from treecrf.integrations.onnx.encoders import add_bert, add_bilstm, add_char_lstm
from treecrf.integrations.onnx.graph import Graph, Value
from treecrf.nn.affine import BiaffineSiblings
from treecrf.nn.transformer.bert import BertEncoder
from treecrf.parser.errors import ParserError
from treecrf.parser.network.readers import PieceReader, WordReader
from treecrf.parser.network.scorer import Scorer

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["scorer_graph"]


def scorer_graph(scorer: Scorer, properties: dict[str, str]) -> "ModelProto":
    """Make the graph of a scorer, for the inputs of `graph_inputs`; `properties` are its metadata.

    Its outputs are `arc_scores [batch, dependent, head]`, `label_scores [batch, dependent, head,
    relation]` and, if the model has them, `sibling_scores [batch, dependent, head, sibling]`,
    `grandparent_scores [batch, dependent, head, grandparent]` and, for each column that it
    predicts, `upos_scores [batch, token, class]` and so on. Cells of padding are arbitrary.
    """
    graph = Graph()
    lengths = graph.input("lengths", ["batch"])
    tokens = graph.cast(graph.add("Add", lengths, graph.integers(1)), "int32")  # with the root's
    reader = scorer.reader
    if isinstance(reader, WordReader):
        states = _add_words(graph, reader, tokens)
    else:
        states = _add_pieces(graph, reader, tokens)
    roles = _add_roles(graph, scorer, states)
    heads = graph.transpose(roles["arc_head"], 0, 2, 1)
    weight = scorer.arc_scores.weight
    weighted = graph.linear(roles["arc_dependent"], weight[:-1], weight[-1])
    arcs = graph.add("MatMul", weighted, heads)
    graph.output("arc_scores", arcs, ["batch", "token", "token"])
    width = graph.size(arcs, 1)
    relations = _add_relations(graph, scorer.label_scores.weight, roles, width)
    count = scorer.label_scores.weight.shape[0]
    graph.output("label_scores", relations, ["batch", "token", "token", count])
    if scorer.sibling_scores is not None:
        if isinstance(scorer.sibling_scores, BiaffineSiblings):
            raise ParserError("sibling_form = biaffine cannot be made an ONNX graph")
        weight = scorer.sibling_scores.weight
        triple = [roles[name] for name in scorer.pair_roles]
        siblings = _add_triples(graph, weight, triple, width)
        graph.output("sibling_scores", siblings, ["batch", "token", "token", "token"])
    if scorer.grandparent_scores is not None:
        names = ("grand_dependent", "grand_head", "grandparent")
        weight, triple = scorer.grandparent_scores.weight, [roles[name] for name in names]
        grandparents = _add_triples(graph, weight, triple, width)
        graph.output("grandparent_scores", grandparents, ["batch", "token", "token", "token"])
    _add_columns(graph, scorer, roles)
    return graph.finish(properties)


def _add_columns(graph: Graph, scorer: Scorer, roles: dict[str, Value]) -> None:
    """Scores `[batch, token, class]` of each column, as outputs."""
    scores: dict[str, Value] = {}
    sizes: dict[str, int] = {}
    for name, layer in scorer.column_scores.items():
        assert isinstance(layer, nn.Linear)
        scores[name] = graph.linear(roles[name], layer.weight.t(), layer.bias)
        sizes[name] = layer.out_features
    for name, layer in scorer.lemma_tags.items():
        assert isinstance(layer, nn.Linear)
        tags = graph.add("Softmax", scores[name], attributes={"axis": 2})
        by_tag = graph.linear(tags, layer.weight.t(), None)
        scores["lemma"] = graph.add("Add", scores["lemma"], by_tag)
    for name, classes in scores.items():
        graph.output(f"{name}_scores", classes, ["batch", "token", sizes[name]])


def _add_words(graph: Graph, reader: WordReader, tokens: Value) -> Value:
    grid = ["batch", "token"]
    words = graph.gather(reader.words.trained.weight, graph.input("words", grid))
    projection, vectors = reader.words.projection, reader.words.vectors
    if vectors is not None:
        rows = graph.cast(graph.gather(vectors, graph.input("vectors", grid)), "float")
        if projection is not None:
            rows = graph.linear(rows, projection.weight.t(), None)
        words = graph.add("Add", words, rows)
    inputs = [words]
    if reader.characters is not None:
        counts = graph.cast(graph.input("character_counts", ["form"]), "int32")
        characters = graph.input("characters", ["form", "character"])
        forms = add_char_lstm(graph, reader.characters, characters, counts)
        inputs.append(graph.add("Gather", forms, graph.input("forms", grid)))
    if reader.tags is not None:
        inputs.append(graph.gather(reader.tags.weight, graph.input("tags", grid)))
    read = graph.add("Concat", *inputs, attributes={"axis": 2})
    return add_bilstm(graph, reader.bilstm, read, tokens)


def _add_pieces(graph: Graph, reader: PieceReader, tokens: Value) -> Value:
    if not isinstance(reader.transformer, BertEncoder):
        known = "only encoders in the shape of BERT, and BiLSTMs, can be made ONNX graphs"
        raise ParserError(f"{known}; this model has another encoder")
    pieces = graph.input("windows", ["window", "piece"])
    counts = graph.input("window_lengths", ["window"])
    states = add_bert(graph, reader.transformer, reader.mix, pieces, counts)
    # Mean over the pieces of each token, as a product with their shares.
    places = graph.input("token_pieces", ["batch", "token", "of_token"])
    given = graph.input("token_piece_counts", ["batch", "token"])
    flat = graph.reshape(states, -1, reader.transformer.pieces.embedding_dim)
    gathered = graph.add("Gather", flat, places)  # [batch, token, of_token, feature]
    counted = graph.add("Unsqueeze", given, graph.integers(2, 3))
    # [batch, token, 1, of_token]
    inside = graph.cast(graph.before(counted, graph.size(places, 2)), "float")
    at_least = graph.add("Max", counted, graph.integers(1))
    shares = graph.add("Div", inside, graph.cast(at_least, "float"))
    read = graph.add("Squeeze", graph.add("MatMul", shares, gathered), graph.integers(2))
    if reader.tags is not None:
        tags = graph.gather(reader.tags.weight, graph.input("tags", ["batch", "token"]))
        read = graph.add("Concat", read, tags, attributes={"axis": 2})
    if reader.spellings is not None:
        rows = graph.input("spellings", ["batch", "token", "feature"])
        spelling = graph.gather(reader.spellings.weight, rows)
        spelling = graph.add("ReduceSum", spelling, graph.integers(2), attributes={"keepdims": 0})
        read = graph.add("Concat", read, spelling, attributes={"axis": 2})
    return read if reader.bilstm is None else add_bilstm(graph, reader.bilstm, read, tokens)


def _add_roles(graph: Graph, scorer: Scorer, states: Value) -> dict[str, Value]:
    """Vectors `[batch, token, feature]` of tokens in each role."""
    layer, sizes = scorer.roles.linear, scorer.roles.sizes
    hidden = graph.linear(states, layer.weight.t(), layer.bias)
    hidden = graph.add("LeakyRelu", hidden, attributes={"alpha": 0.1})
    parts = graph.add_many(
        "Split", hidden, graph.integers(*sizes.values()), outputs=len(sizes), attributes={"axis": 2}
    )
    return dict(zip(sizes, parts, strict=True))


def _add_relations(graph: Graph, weight: Tensor, roles: dict[str, Value], width: Value) -> Value:
    """[m_j; 1]ᵀ W_r [h_i; 1] of every arc: a product over heads, plus the part without heads."""
    relations, size, _ = weight.shape
    by_dependent = weight.transpose(0, 1)  # [dependent, relation, head]
    of_heads = by_dependent[..., :-1].reshape(size, -1)
    dependents = roles["relation_dependent"]
    weighted = graph.linear(dependents, of_heads[:-1], of_heads[-1])
    weighted = graph.reshape(weighted, 0, -1, size - 1)  # [batch, dependent relation, head feature]
    scores = graph.add("MatMul", weighted, graph.transpose(roles["relation_head"], 0, 2, 1))
    scores = graph.reshape(scores, 0, width, relations, -1)  # [batch, dependent, relation, head]
    alone = graph.linear(dependents, by_dependent[:-1, :, -1], by_dependent[-1, :, -1])
    alone = graph.add("Unsqueeze", alone, graph.integers(3))
    return graph.transpose(graph.add("Add", scores, alone), 0, 1, 3, 2)


def _add_triples(graph: Graph, weight: Tensor, roles: list[Value], width: Value) -> Value:
    """[s_k; 1]ᵀ (h_iᵀ W) [m_j; 1] of every triple of dependent m, head h and the other, s."""
    size = weight.shape[1]
    form = graph.linear(roles[1], weight.flatten(1), None)
    form = graph.reshape(form, 0, 0, size, size)  # [batch, head, other, dependent]
    others, dependents = (
        graph.add("Pad", role, graph.integers(0, 0, 0, 0, 0, 1), graph.number(1.0))
        for role in (roles[2], roles[0])
    )  # each with a 1 at the end
    others = graph.add("Unsqueeze", others, graph.integers(1))
    pairs = graph.add("MatMul", others, form)  # [batch, head, other, dependent feature]
    pairs = graph.transpose(graph.reshape(pairs, 0, -1, size), 0, 2, 1)
    scores = graph.add("MatMul", dependents, pairs)
    return graph.reshape(scores, 0, 0, width, width)
