"""Inside, outside and decoding, per backend, on tensors."""

from typing import TYPE_CHECKING

from treecrf.lazy import lazy_names

if TYPE_CHECKING:
    from treecrf.ops.backend import BackendError, use_backend

__all__ = ["BackendError", "use_backend"]

__getattr__, __dir__ = lazy_names(__name__, {"backend": ("BackendError", "use_backend")})
