"""What an extra brings and is not there is one line that names the extra."""

import subprocess
import sys
from pathlib import Path

import pytest

import treecrf
from treecrf.extras import MissingExtraError, needs_extra

# Run before the rest of a program, it makes these packages as if they were not installed.
HIDE = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {hidden!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hidden())
"""


def run(code: str, *hidden: str) -> subprocess.CompletedProcess[str]:
    program = HIDE.format(hidden=hidden) + code
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)


@pytest.mark.parametrize(
    ("hidden", "arguments", "said"),
    [
        ("onnx", "export --model MODEL", "ONNX needs onnx: pip install 'treecrf[onnx]'"),
        (
            "onnxruntime",
            "parse --text a --model MODEL --runtime onnx",
            "ONNX needs onnxruntime: pip install 'treecrf[onnx]'",
        ),
        (
            "uvicorn",
            "serve --model a=MODEL",
            "a service needs uvicorn: pip install 'treecrf[serve]'",
        ),
    ],
)
def test_a_command_names_the_extra(
    model: Path,
    hidden: str,
    arguments: str,
    said: str,
) -> None:
    words = [word.replace("MODEL", str(model)) for word in arguments.split()]
    code = f"sys.argv[1:] = {words!r}\nfrom treecrf.__main__ import main\nmain()"
    result = run(code, hidden)
    assert (result.returncode, result.stdout, result.stderr) == (2, "", said + "\n")


@pytest.mark.parametrize(
    ("hidden", "code", "said"),
    [
        (
            ["spacy"],
            "import treecrf.integrations.spacy",
            "treecrf in spaCy needs spacy: pip install 'treecrf[spacy]'",
        ),
        (
            ["pandas"],
            "import treecrf; treecrf.to_frame([], library='pandas')",
            "this data frame needs pandas: pip install 'treecrf[pandas]'",
        ),
        (
            ["polars"],
            "import treecrf; treecrf.to_frame([], library='polars')",
            "this data frame needs polars: pip install 'treecrf[polars]'",
        ),
    ],
)
def test_the_library_names_the_extra(hidden: list[str], code: str, said: str) -> None:
    result = run(code, *hidden)
    assert result.stderr.splitlines()[-1] == f"treecrf.extras.MissingExtraError: {said}"


def test_a_frame_is_made_by_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"polars"}
    monkeypatch.setattr("treecrf.integrations.frames.find_spec", lambda name: name in there or None)
    assert type(treecrf.to_frame([])).__module__.startswith("polars")
    there.clear()
    with pytest.raises(
        MissingExtraError, match=r"pandas or polars: pip install 'treecrf\[pandas\]'"
    ):
        treecrf.to_frame([])


def test_a_bug_of_ours_is_no_missing_extra() -> None:
    with pytest.raises(ModuleNotFoundError) as caught, needs_extra("serve", "this"):
        import treecrf.nothing  # noqa: F401
    assert not isinstance(caught.value, MissingExtraError)


def test_what_goes_wrong_in_a_package_is_no_missing_extra() -> None:
    """transformers raises such an error, without a name, where a package of its own is broken."""
    with pytest.raises(ModuleNotFoundError, match="broken") as caught, needs_extra("serve", "this"):
        raise ModuleNotFoundError("broken")
    assert not isinstance(caught.value, MissingExtraError)
