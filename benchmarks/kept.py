"""Code that we keep by hand, timed beside libraries for the same; CONTRIBUTING.md has figures.

Both sides must give the same before anything is timed. They take turns on one thread, and the
processor time of the best round counts. Lengths are those of the sentences in `--file`, or of
generated ones; weights are random.
"""

import argparse
import json
import logging
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial
from itertools import chain, islice
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from benchmarks.kept_facts import exporter, ranks, ray_data
from benchmarks.onnx import in_turns
from benchmarks.report import add_json, print_facts, print_table, write_json
from benchmarks.timing import machine
from treecrf.demo import generate_treebank
from treecrf.nn.int8.linear import has_byte_products
from treecrf.nn.onednn.convert import use_packed_products
from treecrf.nn.onednn.linear import PackedLinear, has_packed_products
from treecrf.nn.onednn.lstm import PackedLSTM
from treecrf.nn.transformer.bert import BertEncoder, BertShape, bert_weights
from treecrf.nn.transformer.wordpieces import WordPieces
from treecrf.parser import load_config
from treecrf.parser.batching.distinct import pack
from treecrf.parser.bundled import model_folder
from treecrf.parser.folder import ENCODER
from treecrf.parser.network.pretrained import read_vocabulary
from treecrf.parser.network.scorer import role_sizes
from treecrf.treebank import Sentence, read_conllu

_CODE = {
    "transformers": "from transformers import BertModel, BertTokenizerFast",
    "ours": "import treecrf.nn.transformer.bert, treecrf.nn.transformer.wordpieces",
}


def main() -> None:
    options = _arguments()
    torch.set_num_threads(1)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    logging.disable()  # of other packages
    facts = machine(torch.device("cpu"))
    print_facts(facts)
    found = {}
    for name in options.what:
        table = _WHAT[name](options, _sentences(options))
        found[name] = [dict(zip(table[0], row, strict=True)) for row in table[1:]]
        print(f"\n{name}: {_WHAT[name].__doc__}\n")
        print_table(table[0], table[1:])
    if options.json:
        write_json(options.json, {"machine": facts, **found})


@torch.inference_mode()
def bert(options: argparse.Namespace, sentences: list[Sentence]) -> list[list[str]]:
    """CPU seconds of BERT in the shape of the English model's, a piece a word."""
    from transformers import BertConfig, BertModel

    config = json.loads((model_folder(None) / ENCODER / "config.json").read_bytes())
    config |= {"num_hidden_layers": options.layers}
    library = BertModel(BertConfig(**config), add_pooling_layer=False).eval()
    encoder = BertEncoder(BertShape.from_transformers(config), dropout=0.0).eval()
    encoder.load_state_dict(bert_weights(library.state_dict()))
    sides = {"transformers": partial(_read_library, library), "ours": partial(_read, encoder)}
    if has_packed_products():
        sides["ours, packed"] = partial(_read, packed := deepcopy(encoder))
        use_packed_products(packed)
    if has_byte_products():
        sides["ours, int8"] = partial(_read_bytes, rounded := deepcopy(encoder))
        rounded.use_bytes()
    lengths = [len(sentence) + 2 for sentence in sentences]  # with the start and the end
    table = [["", *sides]]
    for what, size, order in (
        ("batches of 32, of like lengths", 32, sorted(lengths)),
        ("batches of 32, as they come", 32, lengths),
        ("a sentence at a time", 1, lengths),
    ):
        parts = [torch.tensor(order[start : start + size]) for start in range(0, len(order), size)]
        batches = [(torch.randint(1, 1000, (len(part), max(part))), part) for part in parts]
        expected = sides["transformers"](*batches[-1])
        for side, read in sides.items():
            wrong = float((read(*batches[-1]) - expected).abs().mean())
            _check(wrong < (0.1 if "int8" in side else 1e-4), f"{side}: {what} differ by {wrong}")
        tasks = {side: partial(_call_all, read, batches) for side, read in sides.items()}
        table.append([what, *_compare(tasks, options.rounds)])
    loading = [_loading_seconds(code) for code in _CODE.values()]
    return [*table, ["loading the code", *_ratios(loading), *[""] * (len(sides) - 2)]]


def _read_library(module: nn.Module, pieces: Tensor, lengths: Tensor) -> Tensor:
    inside = torch.arange(pieces.shape[1]) < lengths[:, None]
    output = module(pieces, attention_mask=inside.long(), output_hidden_states=True)
    last: Tensor = output.hidden_states[-1]
    return last[inside]


def _read(module: BertEncoder, pieces: Tensor, lengths: Tensor) -> Tensor:
    states, rows = module.read_packed(pieces, lengths)
    return states[-1][rows[torch.arange(pieces.shape[1]) < lengths[:, None]]]


def _read_bytes(module: BertEncoder, pieces: Tensor, lengths: Tensor) -> Tensor:
    shares = np.eye(1 + len(module.layers), dtype=np.float32)[-1]
    return torch.from_numpy(module.read_mixed(pieces, lengths, shares=shares))


def wordpieces(options: argparse.Namespace, sentences: list[Sentence]) -> list[list[str]]:
    """CPU seconds of cutting all words, none of which is known at first."""
    from tokenizers.implementations import BertWordPieceTokenizer

    folder = model_folder(None) / ENCODER
    library = BertWordPieceTokenizer(str(folder / "vocab.txt"))
    vocabulary, texts = read_vocabulary(folder), [sentence.forms for sentence in sentences]

    def ours() -> list[int]:
        pieces = WordPieces(vocabulary, lowercase=True, limit=100)
        return [*chain.from_iterable(map(pieces.cut, chain.from_iterable(texts)))]

    def theirs() -> list[int]:
        found = library.encode_batch(texts, is_pretokenized=True, add_special_tokens=False)
        return [*chain.from_iterable(text.ids for text in found)]

    _check(ours() == theirs(), "the wordpieces differ")
    tasks = {"tokenizers": theirs, "ours": ours}
    words = f"{sum(map(len, texts)):,} words"
    return [["", *tasks], [words, *_compare(tasks, options.rounds)]]


@torch.inference_mode()
def packed(options: argparse.Namespace, sentences: list[Sentence]) -> list[list[str]]:
    """CPU seconds of layers of the preset `default`, and of the English model's transformer."""
    _check(has_packed_products(), "this CPU has no AVX-512, so weights are not packed here")
    config = load_config(options.config)
    units, roles = 2 * config.lstm_size, sum(role_sizes(config).values())
    lstm = nn.LSTM(units, config.lstm_size, bidirectional=True)
    packed_lstm = PackedLSTM(lstm)
    table = [["", "torch.nn", "ours"]]

    def add(what: str, theirs: Callable[[], Tensor], ours: Callable[[], Tensor]) -> None:
        _check(torch.allclose(theirs(), ours(), atol=1e-4), f"{what} differs")
        tasks = {"torch.nn": partial(_ten_times, theirs), "ours": partial(_ten_times, ours)}
        table.append([what, *_compare(tasks, options.rounds)])

    for rows in (18, 700):
        for inputs, outputs in ((units, roles), (384, 1536)):
            layer, given = nn.Linear(inputs, outputs), torch.randn(rows, inputs)
            what = f"linear, {inputs} to {outputs}, {rows} rows"
            add(what, partial(layer, given), partial(PackedLinear(layer), given))
    for count in (1, 32):
        lengths = sorted((len(sentence) + 1 for sentence in sentences[:count]), reverse=True)
        sizes = torch.from_numpy(pack(np.array(lengths))[2])
        given = PackedSequence(torch.randn(sum(lengths), units), sizes)
        what = f"LSTM, {units} to {units}, {count} sentences, {sum(lengths):,} rows"
        add(what, partial(_outputs, lstm, given), partial(_outputs, packed_lstm, given))
    return table


def _outputs(lstm: nn.LSTM, given: PackedSequence) -> Tensor:
    outputs: Tensor = lstm(given)[0].data
    return outputs


def _call_all(call: Callable[..., object], batches: Sequence[tuple[Tensor, Tensor]]) -> None:
    for batch in batches:
        call(*batch)


def _ten_times(call: Callable[[], object]) -> None:
    for _ in range(10):
        call()


def _loading_seconds(code: str) -> float:
    """CPU seconds of a process that does nothing else, the second time."""
    seconds = []
    for _ in range(2):
        subprocess.run([sys.executable, "-c", f"import torch; {code}"], check=True)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(used.ru_utime + used.ru_stime)
    return seconds[1] - seconds[0]


def _compare(tasks: dict[str, Callable[[], object]], rounds: int) -> list[str]:
    return _ratios(list(in_turns(tasks, rounds=rounds).values()))


def _ratios(seconds: list[float]) -> list[str]:
    """The first; each other one, and how many times as fast it is."""
    first, *others = seconds
    return [f"{first:.3f}", *(f"{taken:.3f} ({first / taken:.2f}x)" for taken in others)]


def _check(holds: bool, problem: str) -> None:
    if not holds:
        sys.exit(f"{problem}, so nothing is timed")


def _sentences(options: argparse.Namespace) -> list[Sentence]:
    if options.file:
        return list(islice(read_conllu(options.file), options.sentences))
    return list(generate_treebank(options.sentences, seed=3))


_WHAT = {
    "bert": bert,
    "wordpieces": wordpieces,
    "packed": packed,
    "ranks": ranks,
    "exporter": exporter,
    "ray_data": ray_data,
}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.kept", description=__doc__)
    parser.add_argument("what", nargs="*", choices=[*_WHAT, []], help="by default, all of it")
    parser.add_argument("--file", type=Path, help="a treebank; else sentences are generated")
    parser.add_argument("--sentences", type=int, default=320)
    parser.add_argument("--layers", type=int, default=12, help="of BERT")
    parser.add_argument("--config", default="default", help="preset of the other networks")
    parser.add_argument("--rounds", type=int, default=5)
    add_json(parser)
    options = parser.parse_args()
    options.what = options.what or list(_WHAT)
    return options


if __name__ == "__main__":
    main()
