"""How precisely products are computed, and that it is put back."""

import subprocess
import sys
import threading

import pytest
import torch

from treecrf.parser.device import fast_products


def precision() -> str:
    return str(torch.backends.cuda.matmul.fp32_precision)


@pytest.mark.skipif(
    not hasattr(torch.backends.cuda.matmul, "fp32_precision"), reason="an older torch"
)
def test_the_last_thread_puts_it_back() -> None:
    before = precision()
    first_left, second_inside = threading.Event(), threading.Event()
    found = []

    def other() -> None:
        with fast_products():
            second_inside.set()
            first_left.wait(120)
            found.append(precision())

    thread = threading.Thread(target=other)
    with fast_products():
        thread.start()
        assert second_inside.wait(120)
        assert precision() == "tf32"
    first_left.set()
    thread.join()
    assert found == ["tf32"]
    assert precision() == before


@pytest.mark.slow
@pytest.mark.parametrize(
    "setting",
    [
        "torch.set_float32_matmul_precision('high')",
        "torch.backends.cuda.matmul.fp32_precision = 'tf32'",
        "torch.backends.cuda.matmul.allow_tf32 = True",
    ],
)
def test_programs_that_have_set_it_themselves(setting: str) -> None:
    program = (
        "import torch\n"
        "from treecrf.parser.device import fast_products\n"
        f"{setting}\n"
        "with fast_products():\n"
        "    pass\n"
        "assert torch.backends.cuda.matmul.fp32_precision == 'tf32'\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
