"""Products of triangular matrices: every operand says which elements it holds, and no others are read or computed with.

>>> import numpy as np, tritri
>>> lower = np.array([[4.0, np.nan], [5.0, 6.0]])
>>> tritri.multiply(lower, lower)
array([[16.,  0.],
       [50., 36.]])
"""
from __future__ import annotations

from ._native import native as _native
from .context import Context, devices
from .errors import TritriError
from .helpers import cholesky_reconstruct, lauum, lu_reconstruct, pack, unpack
from .matrix import Matrix
from .product import multiply

__version__ = _native.tritri_version_string()
__all__ = ["Context", "Matrix", "TritriError", "cholesky_reconstruct", "devices", "lauum", "lu_reconstruct", "multiply", "pack", "unpack"]


def __getattr__(name: str):
    if name == "torch":  # imports PyTorch, so only when asked for
        import importlib
        return importlib.import_module(".torch", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
