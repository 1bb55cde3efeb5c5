"""Inside, outside and decoding, per backend, on tensors."""

from treecrf.ops.backend import BackendError, use_backend

__all__ = ["BackendError", "use_backend"]
