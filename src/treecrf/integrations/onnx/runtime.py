"""Parsers whose scores an ONNX graph computes, on the CPU."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from treecrf.extras import needs_extra
from treecrf.ops.projective.trilinear import Factors
from treecrf.parser.api import Parser
from treecrf.parser.batching.batch import Batch, PieceInputs, WordInputs
from treecrf.parser.bundled import BUNDLED, DEFAULT, is_packaged, model_folder
from treecrf.parser.errors import ParserError
from treecrf.parser.estimates import FACTORED_CELLS
from treecrf.parser.folder import load_settings, model_digest
from treecrf.parser.network.scorer import Roles
from treecrf.parser.vocab import COLUMNS

with needs_extra("onnx", "ONNX"):
    import onnxruntime

__all__ = ["FORMAT", "GRAPH", "GraphScorer", "graph_inputs", "load_onnx"]

GRAPH = "model.onnx"  # default file in a model folder
FORMAT = "treecrf onnx 1"

Array = npt.NDArray[np.int64]


def load_onnx(
    path: str | Path | None = None, *, graph: str | Path | None = None, device: str = "auto"
) -> Parser:
    """Load the parser in a model folder with its graph instead of its weights.

    Without a folder it is the bundled English model, for which `graph` must be given.
    """
    folder = model_folder(path)
    file = folder / GRAPH if graph is None else Path(graph)
    if device not in ("auto", "cpu"):
        raise ParserError(f"a graph is computed on the CPU, not on {device}: leave the device out")
    config, vocabulary, _ = load_settings(folder)
    if not file.is_file():
        raise ParserError(_missing(folder, graph))
    scorer = GraphScorer(file.read_bytes(), name=str(file))
    if scorer.digest != model_digest(folder):
        raise ParserError(f"{file}: this graph is not of the model {folder}: export it again")
    return Parser(config, vocabulary, {}, network=scorer, device="cpu", folder=folder)


def _missing(folder: Path, graph: str | Path | None) -> str:
    model = folder.name if folder.is_relative_to(BUNDLED) else folder
    command = "treecrf export" if model == DEFAULT else f"treecrf export --model {model}"
    if graph is not None:
        return f"{graph}: no such file: {command} --onnx {graph} writes it"
    if is_packaged(folder):
        return f"name a graph with --onnx FILE: {command} --onnx FILE writes it"
    return f"{folder / GRAPH}: no such file: {command} writes it"


class GraphScorer:
    """Scores by a graph, with the interface of `Scorer`."""

    def __init__(self, graph: bytes, *, name: str) -> None:
        options = onnxruntime.SessionOptions()
        # One core a batch: the parser computes several batches in parallel.
        options.intra_op_num_threads = 1
        cpu = ["CPUExecutionProvider"]
        try:
            self.session: Any = onnxruntime.InferenceSession(graph, options, providers=cpu)
        except Exception as error:  # several unrelated classes
            reason = str(error).splitlines()[0]
            raise ParserError(f"{name}: not a graph that can be run: {reason}") from None
        known = self.session.get_modelmeta().custom_metadata_map
        if known.get("format") != FORMAT:
            raise ParserError(f"{name}: not a graph of this version of treecrf ({FORMAT})")
        self.digest: str = known.get("digest", "")
        self.inputs = [item.name for item in self.session.get_inputs()]
        self.outputs = [item.name for item in self.session.get_outputs()]
        names = {column: f"{column}_scores" for column in COLUMNS}
        if "tag_scores" in self.outputs:  # a graph of an older version
            names["upos"] = "tag_scores"
        self._columns = {column: name for column, name in names.items() if name in self.outputs}

    @property
    def sibling_scores(self) -> bool | None:
        """True if the graph has sibling scores, else None, as in `Scorer`."""
        return "sibling_scores" in self.outputs or None

    @property
    def grandparent_scores(self) -> bool | None:
        """True if the graph has grandparent scores, else None, as in `Scorer`."""
        return "grandparent_scores" in self.outputs or None

    def __call__(self, batch: Batch) -> Roles:
        if (self.sibling_scores or self.grandparent_scores) and batch.grid[1] ** 3 > FACTORED_CELLS:
            raise _too_long(batch)
        inputs = graph_inputs(batch)
        found = self.session.run(self.outputs, {name: inputs[name] for name in self.inputs})
        roles = dict(zip(self.outputs, map(torch.from_numpy, found), strict=True))
        for name in self._columns.values():
            roles[name] = roles[name].flatten(0, 1)[batch.cells]
        return roles

    def arcs(self, roles: Roles, batch: Batch) -> Tensor:
        """Arc scores `[batch, dependent, head]`."""
        return roles["arc_scores"]

    def siblings(self, roles: Roles, batch: Batch) -> Tensor | None:
        """Sibling scores `[batch, dependent, head, sibling]` of the second order."""
        return roles.get("sibling_scores")

    def grandparents(self, roles: Roles, batch: Batch) -> Tensor | None:
        """Grandparent scores `[batch, dependent, head, grandparent]` of the third order."""
        return roles.get("grandparent_scores")

    def sibling_factors(self, roles: Roles, batch: Batch) -> Factors:
        """Raise an error: graphs have no factored scores, so such a batch is refused."""
        raise _too_long(batch)

    def relations(self, roles: Roles, batch: Batch, heads: Tensor) -> Tensor:
        """Relation scores `[token, relation]` of packed tokens under these heads `[batch, N]`."""
        scores = roles["label_scores"]
        place = heads.clamp(min=0)[:, :, None, None].expand(-1, -1, 1, scores.shape[3])
        return scores.gather(2, place).flatten(0, 2)[batch.cells]

    def columns(self, roles: Roles) -> dict[str, Tensor]:
        """Scores `[token, class]` of packed tokens in each predicted column."""
        return {column: roles[name] for column, name in self._columns.items()}


def _too_long(batch: Batch) -> ParserError:
    problem = f"a sentence of {batch.grid[1] - 1} words is too long for a graph of the second order"
    return ParserError(f"{problem}: parse it with torch (without --runtime onnx)")


def graph_inputs(batch: Batch) -> dict[str, Array]:
    """Inputs by name for the graph of a model: sentences of a batch, padded with zeros."""
    inputs: dict[str, Array] = {"lengths": batch.lengths.numpy()}
    if batch.tags is not None:
        inputs["tags"] = _padded(batch, batch.tags)
    if batch.spellings is not None:
        inputs["spellings"] = batch.unpack(batch.spellings).numpy()
    if batch.words is not None:
        inputs |= _word_inputs(batch, batch.words)
    if batch.pieces is not None:
        inputs |= _piece_inputs(batch, batch.pieces)
    return inputs


def _word_inputs(batch: Batch, read: WordInputs) -> dict[str, Array]:
    sizes = read.character_sizes.numpy()
    inside = np.arange(sizes[0]) < sizes[:, None]  # [character, form], as they are packed
    characters = np.zeros(inside.shape, np.int64)
    characters[inside] = read.characters.numpy()
    inputs = {
        "words": _padded(batch, read.words),
        "forms": _padded(batch, read.forms),
        "characters": np.ascontiguousarray(characters.T),
        "character_counts": inside.sum(0),
    }
    if read.vectors is not None:
        inputs["vectors"] = _padded(batch, read.vectors)
    return inputs


def _piece_inputs(batch: Batch, read: PieceInputs) -> dict[str, Array]:
    sentences, width = batch.grid
    place = batch.cells.numpy()[read.token.numpy()]  # of the token of each state, in the grid
    order = np.argsort(place, kind="stable")
    counts = np.bincount(place, minlength=sentences * width)
    within = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    pieces = np.zeros((sentences * width, int(counts.max())), np.int64)
    pieces[place[order], within] = read.cells.numpy()[order]
    return {
        "windows": read.windows.numpy(),
        "window_lengths": read.lengths.numpy(),
        "token_pieces": pieces.reshape(sentences, width, -1),
        "token_piece_counts": counts.reshape(sentences, width),
    }


def _padded(batch: Batch, tokens: Tensor) -> npt.NDArray[Any]:
    return batch.unpack(tokens.unsqueeze(1)).squeeze(2).numpy()
