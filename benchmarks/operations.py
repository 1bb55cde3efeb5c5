"""Counts of torch operations, whose launches bound small batches on a GPU."""

from collections import Counter
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode

from benchmarks.stages import Stages

# Besides views these ask for nothing but memory, if for that.
_FREE = {
    "aten::_unsafe_view",
    "aten::empty",
    "aten::empty_like",
    "aten::empty_strided",
    "aten::new_empty",
}


class Operations(TorchDispatchMode):
    """Count torch operations by open stage inside the `with` block, backward passes included.

    A layer of an LSTM is one operation of cuDNN; on a CPU it is many for each step of time. The
    kernels of this package are none, so of a fused LSTM what stands around them is counted.
    """

    def __init__(self, stages: Stages) -> None:
        super().__init__()
        self.stages = stages
        self.counts: Counter[str] = Counter()

    def __torch_dispatch__(
        self, operation: Any, types: Any, arguments: Any = (), options: Any = None
    ) -> Any:
        """Count and run the operation."""
        stage = self.stages.current
        if stage is not None and not operation.is_view and operation._schema.name not in _FREE:
            self.counts[stage] += 1
        return operation(*arguments, **(options or {}))
