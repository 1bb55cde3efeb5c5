"""Inside, outside and decoding per backend; knows tensors, not sentences."""

from treecrf.ops.backend import BackendError, use_backend

__all__ = ["BackendError", "use_backend"]
