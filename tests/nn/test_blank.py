"""Modules without numbers: they take what is loaded, and make torch load nothing."""

import subprocess
import sys

import torch
from torch import nn

from treecrf.nn.blank import blank_weights


def test_blank_modules_take_the_weights_of_others() -> None:
    modules = nn.ModuleDict({"a": nn.Embedding(3, 2), "b": nn.LSTM(2, 2), "c": nn.Linear(2, 2)})
    state = torch.random.get_rng_state()
    with blank_weights():
        blank = nn.ModuleDict({"a": nn.Embedding(3, 2), "b": nn.LSTM(2, 2), "c": nn.Linear(2, 2)})
        nn.init.orthogonal_(blank["c"].weight)  # type: ignore[arg-type]
    assert all(parameter.is_meta for parameter in blank.parameters())
    assert torch.equal(torch.random.get_rng_state(), state)
    blank.load_state_dict(modules.state_dict(), assign=True)
    for ours, theirs in zip(blank.parameters(), modules.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=0)
    assert nn.Linear(2, 2).weight.device == torch.device("cpu")


def test_blank_modules_do_without_the_compiler() -> None:
    code = (
        "import sys\n"
        "from torch import nn\n"
        "from treecrf.nn.blank import blank_weights\n"
        "with blank_weights():\n"
        "    nn.Embedding(3, 2), nn.LSTM(2, 2), nn.Linear(2, 2)\n"
        "assert 'torch._dynamo' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
