"""`treecrf doctor` tells what there is, and notices kernels that compute something else."""

import os
import subprocess
import sys
from importlib.metadata import version

import pytest
import torch
from typer.testing import CliRunner

from tests.cli.running import treecrf
from treecrf.cli.app import app
from treecrf.extras import installed_packages
from treecrf.ops.projective import cpu
from treecrf.struct.selftest import check_kernels

FAMILIES = [
    "ProjectiveTreeCRF",
    "SiblingTreeCRF",
    "GrandparentTreeCRF",
    "GrandSiblingTreeCRF",
    "NonProjectiveTreeCRF",
]


def test_the_report_has_versions_backends_and_checks() -> None:
    lines = treecrf("doctor").stdout.splitlines()
    assert lines[0] == lines[-2] == "```"
    assert lines[-1].startswith("all kernels compute what they should")
    report = dict(line.split(maxsplit=1) for line in lines[1:-2])
    assert report["numpy"] == version("numpy")
    assert report["torch"] == version("torch")
    assert report["cpu"].endswith("numba computes")
    for family in FAMILIES:
        assert "as the reference (within" in report[family]


def test_a_wrong_kernel_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "log_partition", lambda *_, **__: torch.zeros(5))
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 1
    wrong = [line for line in result.stdout.splitlines() if line.startswith(FAMILIES[0])]
    assert all("differs from the reference by" in line for line in wrong)
    assert result.stdout.splitlines()[-1].startswith("some kernels do not compute")


@pytest.mark.gpu
def test_the_kernels_of_a_gpu_are_checked_in_the_same_way() -> None:
    checks = list(check_kernels(torch.device("cuda")))
    assert [(check.name, check.backend, check.problem) for check in checks] == [
        (family, "triton", None) for family in FAMILIES
    ]


def test_packages_are_those_that_a_user_can_install() -> None:
    packages = installed_packages()
    assert packages["numpy"] == (version("numpy"), None)
    assert packages["uvicorn"] == (version("uvicorn"), "serve")
    assert packages["matplotlib"] == (version("matplotlib"), "experiments")
    assert not {"pytest", "mkdocs-material", "treecrf"} & set(packages)


def test_the_shell_completes_commands() -> None:
    words = {"COMP_WORDS": "treecrf sc", "COMP_CWORD": "1", "_TREECRF_COMPLETE": "complete_bash"}
    command = [sys.executable, "-m", "treecrf"]
    run = subprocess.run(command, env=os.environ | words, capture_output=True, text=True)
    assert run.stdout.split() == ["score"]
