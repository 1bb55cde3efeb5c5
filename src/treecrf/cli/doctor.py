"""`treecrf doctor`: what is installed, what computes where, and whether it computes rightly."""

import platform

import typer

from treecrf.cli.console import say

__all__ = ["doctor"]


def doctor() -> None:
    """Show what is installed, and check the kernels.

    What it prints is a block for a bug report. The exit code is 1 if a kernel is wrong.

    \b
    Example:
      treecrf doctor
    """
    import treecrf
    from treecrf.extras import installed_packages

    say("```")
    _line("treecrf", treecrf.__version__)
    _line("python", f"{platform.python_version()} on {platform.platform()}")
    for name, (version, extra) in installed_packages().items():
        suffix = "" if extra is None else f" (extra {extra})"
        _line(name, version or "not installed" + suffix)
    import torch  # which takes seconds, and may be what is wrong

    from treecrf.ops.backend import backend_for
    from treecrf.struct.selftest import check_kernels

    devices = [torch.device("cpu")]
    if torch.cuda.is_available():
        devices += [torch.device("cuda", number) for number in range(torch.cuda.device_count())]
    for device in devices:
        named = f"{torch.get_num_threads()} threads"
        if device.type == "cuda":
            named = torch.cuda.get_device_name(device)
        _line(str(device), f"{named}: {backend_for(device)} computes")
    failed = 0
    for device in devices:
        for check in check_kernels(device):
            failed += check.problem is not None
            outcome = check.problem or f"as the reference (within {check.difference:.0e})"
            _line(check.name, f"{check.backend} on {device}: {outcome}")
    say("```")
    if failed:
        say("some kernels do not compute what they should: please report the block above")
        raise typer.Exit(1)
    say("all kernels compute what they should; the block above is for a bug report")


def _line(name: str, text: str) -> None:
    say(f"{name:22}{text}")
