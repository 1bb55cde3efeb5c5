"""Memory of the charts with grandparents, checked before they are made."""

import torch

from treecrf.memory import available_on, gibibytes


def check_memory(words: int, *, count: int, bytes_a_cell: int, device: torch.device) -> None:
    """Raise an error with the number of bytes if the charts of a batch would not fit.

    There are (words + 1)^3 cells for each of `count` sentences, with `bytes_a_cell` for all charts
    together.
    """
    needed = count * (words + 1) ** 3 * bytes_a_cell
    if needed < 1 << 28:  # asking the system would cost more than small charts
        return
    if needed > (free := available_on(device)):
        raise MemoryError(
            f"charts with grandparents need {gibibytes(needed)} for {count} sentences of up to "
            f"{words} words, and {gibibytes(free)} are free on {device.type}: pass fewer or "
            "shorter sentences, or score no grandparents (ProjectiveTreeCRF, SiblingTreeCRF)"
        )
