"""Encoders as parts of an ONNX graph: LSTMs over padded tokens, and BERT."""

import math

import numpy as np
import torch
from torch import Tensor, nn

from treecrf.integrations.onnx.graph import Graph, Value
from treecrf.nn.bilstm import BiLSTM
from treecrf.nn.embedding import CharLSTM
from treecrf.nn.layer_mix import LayerMix
from treecrf.nn.transformer.bert import BertEncoder, BertLayer

__all__ = ["add_bert", "add_bilstm", "add_char_lstm"]


def add_char_lstm(graph: Graph, module: CharLSTM, characters: Value, lengths: Value) -> Value:
    """Vectors `[form, feature]` of forms, given `characters [form, character]`, padded."""
    embedded = graph.gather(module.embedding.weight, graph.transpose(characters, 1, 0))
    _, last = _add_lstm(graph, module.lstm, embedded, lengths)
    return graph.reshape(graph.transpose(last, 1, 0, 2), 0, -1)


def add_bilstm(graph: Graph, module: BiLSTM, tokens: Value, lengths: Value) -> Value:
    """Outputs of a BiLSTM for tokens `[batch, token, feature]`, padded beyond `lengths`."""
    steps = graph.transpose(tokens, 1, 0, 2)
    for layer in module.layers:
        assert isinstance(layer, nn.LSTM)
        states, _ = _add_lstm(graph, layer, steps, lengths)  # [token, direction, batch, feature]
        steps = graph.reshape(graph.transpose(states, 0, 2, 1, 3), 0, 0, -1)
    return graph.transpose(steps, 1, 0, 2)


def _add_lstm(graph: Graph, layer: nn.LSTM, steps: Value, lengths: Value) -> tuple[Value, Value]:
    """States `[step, direction, batch, feature]` and the last of each direction."""
    weights = dict(layer.named_parameters())
    by_direction = [
        [_gates(weights[f"{name}_l0{end}"]) for end in ("", "_reverse")]
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    ]
    inputs, recurrent, *biases = (torch.stack(pair) for pair in by_direction)
    given = map(graph.weight, (inputs, recurrent, torch.cat(biases, 1)))
    attributes = {"direction": "bidirectional", "hidden_size": layer.hidden_size}
    states, last, _ = graph.add_many(
        "LSTM", steps, *given, lengths, outputs=3, attributes=attributes
    )
    return states, last


def _gates(weight: Tensor) -> Tensor:
    """Reorder gates: torch has input, forget, cell, output; ONNX input, output, forget, cell."""
    first, forget, cell, output = weight.detach().chunk(4)
    return torch.cat((first, output, forget, cell))


def add_bert(
    graph: Graph, module: BertEncoder, mix: LayerMix, pieces: Value, lengths: Value
) -> Value:
    """Mixed states `[window, piece, feature]` of pieces, padded beyond `lengths`."""
    width, zero = graph.size(pieces, 1), graph.integers(0)
    positions = graph.add("Slice", graph.weight(module.positions.weight), zero, width, zero)
    embedded = graph.add("Add", graph.gather(module.pieces.weight, pieces), positions)
    states = [_norm(graph, module.norm, embedded)]
    counts = graph.add("Unsqueeze", lengths, graph.integers(1, 2, 3))
    seen = graph.before(counts, width)  # [window, 1, 1, piece]
    mask = graph.add("Where", seen, graph.number(0.0), graph.number(-math.inf))
    for layer in module.layers:
        assert isinstance(layer, BertLayer)
        states.append(_add_bert_layer(graph, layer, states[-1], mask))
    mixed = states[-len(mix.weights) :]
    shares = (mix.scale * mix.shares(len(mixed))).tolist()
    numbers = map(graph.number, shares)
    parts = [graph.add("Mul", *pair) for pair in zip(mixed, numbers, strict=True)]
    return parts[0] if len(parts) == 1 else graph.add("Sum", *parts)


def _add_bert_layer(graph: Graph, layer: BertLayer, states: Value, mask: Value) -> Value:
    projected = _linear(graph, layer.queries_keys_values, states)
    parts = graph.transpose(graph.reshape(projected, 0, 0, 3, layer.heads, -1), 2, 0, 3, 1, 4)
    query, key, value = (
        graph.add("Gather", parts, graph.weight(np.array(place)), attributes={"axis": 0})
        for place in range(3)
    )  # each [window, head, piece, feature]
    features = layer.attended.in_features // layer.heads
    scores = graph.add("MatMul", query, graph.transpose(key, 0, 1, 3, 2))
    scores = graph.add("Mul", scores, graph.number(1 / math.sqrt(features)))
    shares = graph.add("Softmax", graph.add("Add", scores, mask), attributes={"axis": -1})
    attended = graph.transpose(graph.add("MatMul", shares, value), 0, 2, 1, 3)
    attended = _linear(graph, layer.attended, graph.reshape(attended, 0, 0, -1))
    states = _norm(graph, layer.attention_norm, graph.add("Add", states, attended))
    expanded = graph.add("Gelu", _linear(graph, layer.expand, states))
    contracted = _linear(graph, layer.contract, expanded)
    return _norm(graph, layer.norm, graph.add("Add", states, contracted))


def _linear(graph: Graph, layer: nn.Linear, value: Value) -> Value:
    return graph.linear(value, layer.weight.t(), layer.bias)


def _norm(graph: Graph, layer: nn.LayerNorm, value: Value) -> Value:
    weight, bias = graph.weight(layer.weight), graph.weight(layer.bias)
    attributes = {"axis": -1, "epsilon": layer.eps}
    return graph.add("LayerNormalization", value, weight, bias, attributes=attributes)
