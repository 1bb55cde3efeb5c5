"""`treecrf serve` says what is wrong with its options before it listens."""

import socket
from pathlib import Path

from tests.cli.running import problem
from treecrf.serve.server import load_models


def test_a_model_has_a_name_and_a_folder(tmp_path: Path) -> None:
    for given in ("=folder", "name=", "/", ""):
        expected = f"--model takes DIR or NAME=DIR, such as en=models/english, not {given!r}"
        assert problem("serve", "--model", given) == expected
    twice = problem("serve", "--model", "a=b", "--model", "a=c")
    assert twice == "two models are called 'a'; give one of them another name"
    assert str(tmp_path) in problem("serve", "--model", f"a={tmp_path}")
    assert str(tmp_path) in problem("serve", "--model", str(tmp_path))


def test_a_model_is_called_what_its_folder_is(model: Path) -> None:
    assert list(load_models([f"{model}/"], device="cpu")) == [model.name]


def test_an_address_that_is_taken_is_named(model: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = problem("serve", "--model", f"a={model}", "--port", port)
    assert said.startswith(f"127.0.0.1:{port}: Address already in use; choose another")


def test_an_empty_address_is_refused(model: Path) -> None:
    for host in ("", " "):
        said = problem("serve", "--model", f"a={model}", "--host", host)
        assert said.startswith("--host is empty; give an address such as 127.0.0.1, or 0.0.0.0")


def test_an_address_that_is_none_is_named(model: Path) -> None:
    for host in ("nowhere.invalid", "a..b"):
        said = problem("serve", "--model", f"a={model}", "--host", host, "--port", 0)
        assert said.startswith(f"{host}:0: ")
        assert said.endswith("; choose another with --host and --port")
