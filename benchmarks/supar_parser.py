"""SuPar's second-order parser, trained and timed in a process of its own for `benchmarks.parser`.

What to do comes as JSON on standard input. SuPar's own functions load, train, parse and write; what
is left out of its training is the evaluation after each epoch.
"""

import json
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from supar import CRF2oDependencyParser
from supar.utils import Dataset
from torch.optim import Adam
from torch.optim.lr_scheduler import ExponentialLR

TRAINING_BUCKETS = 32


class Until:
    """Batches of a loader until a deadline, with the sentences and seconds that they took."""

    def __init__(self, loader: Any, deadline: float) -> None:
        self.loader = loader
        self.deadline = deadline
        self.sentences = 0
        self.seconds = 0.0

    def __len__(self) -> int:
        return len(self.loader)

    def __iter__(self) -> Iterator[Any]:
        start = time.perf_counter()
        for batch in self.loader:
            yield batch
            self.sentences += len(batch.sentences)
            if time.perf_counter() > self.deadline:
                break
        _finish()
        self.seconds = time.perf_counter() - start


def main() -> None:
    order = json.load(sys.stdin)
    torch.set_num_threads(order["threads"])
    torch.manual_seed(order["config"]["seed"])
    training = None
    if order["model"]:
        # Its models are pickles, which torch loads from those who ask for it by this variable.
        os.environ["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] = "1"
        parser = CRF2oDependencyParser.load(order["model"])
    else:
        model = str(Path(order["parsed"]).with_suffix(".model"))
        parser = CRF2oDependencyParser.build(model, **settings(order))
        logging.getLogger("supar").setLevel(logging.WARNING)
        training = train(parser, order)
    trees: list[float] = []
    parser._predict = timed(parser._predict, trees)
    whole: list[float] = []
    predict = timed(parser.predict, whole)
    for _ in range(order["rounds"] + 1):
        predict(order["data"], pred=order["parsed"], mbr=True, tree=True, proj=True, verbose=False)
    figures = {
        "training": training,
        "file_to_file": min(whole[1:]),
        "trees_alone": min(trees[1:]),
    }
    Path(order["figures"]).write_text(json.dumps(figures))


def settings(order: dict[str, Any]) -> dict[str, Any]:
    """Translate the settings of our model to SuPar's names."""
    config = order["config"]
    return {
        "train": order["data"],
        "build": True,
        "encoder": "lstm",
        "feat": ["char"],
        "embed": None,
        "unk": "unk",
        "n_embed": config["word_size"],
        "n_pretrained": config["word_size"],
        "n_char_embed": config["char_embedding_size"],
        "n_char_hidden": config["char_size"],
        "n_feat_embed": config["char_size"],
        "n_lstm_hidden": config["lstm_size"],
        "n_lstm_layers": config["lstm_layers"],
        "n_arc_mlp": config["arc_size"],
        "n_rel_mlp": config["label_size"],
        "n_sib_mlp": config["sibling_size"],
        "embed_dropout": config["embedding_dropout"],
        "encoder_dropout": config["encoder_dropout"],
        "mlp_dropout": config["mlp_dropout"],
        "min_freq": config["min_freq"],
        "fix_len": config["max_chars"],
        "clip": config["clip"],
        "update_steps": 1,
        "mbr": True,
        "tree": False,
        "proj": True,
        "partial": False,
        "punct": True,
        "verbose": False,
    }


def train(parser: Any, order: dict[str, Any]) -> float:
    """Sentences a second of the epochs after the first, or of the first if there is no other."""
    config = order["config"]
    parser.transform.train()
    data = Dataset(parser.transform, order["data"], proj=True)
    data.build(config["batch_tokens"], TRAINING_BUCKETS, True)
    betas = (config["beta1"], config["beta2"])
    parser.optimizer = Adam(
        parser.model.parameters(), config["learning_rate"], betas, config["epsilon"]
    )
    decay = config["decay"] ** (1 / config["decay_steps"])
    parser.scheduler = ExponentialLR(parser.optimizer, decay)
    speeds: list[float] = []
    deadline = time.perf_counter() + order["seconds"]
    while len(speeds) < order["epochs"] and time.perf_counter() < deadline:
        batches = Until(data.loader, deadline)
        parser._train(batches)
        speeds.append(batches.sentences / batches.seconds)
    return max(speeds[1:] or speeds)


def timed(call: Callable[..., Any], seconds: list[float]) -> Callable[..., Any]:
    """Wrap a call to record its time."""

    def run(*arguments: Any, **options: Any) -> Any:
        _finish()
        start = time.perf_counter()
        result = call(*arguments, **options)
        _finish()
        seconds.append(time.perf_counter() - start)
        return result

    return run


def _finish() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


if __name__ == "__main__":
    main()
