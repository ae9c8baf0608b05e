"""NumPy arrays: host memory, any strides."""
from __future__ import annotations

import numpy as np

from .._words import DTYPES
from .base import HOST, Family, View, argument_of, refuse_dtype

CODES = {np.dtype(name): code for name, code in DTYPES.items() if name != "bfloat16"}


def dtype_code(dtype: np.dtype, where: str) -> int:
    code = CODES.get(dtype)
    if code is not None:
        return code
    if dtype.name == "bfloat16":  # ml_dtypes registers it; NumPy itself has none
        CODES[dtype] = DTYPES["bfloat16"]
        return CODES[dtype]
    if dtype.newbyteorder("=") in CODES:
        refuse_dtype(where, f"{dtype.newbyteorder('=')} in the other byte order", f"pass {argument_of(where)}.astype({argument_of(where)}.dtype.newbyteorder('='))")
    if dtype.hasobject:
        refuse_dtype(where, "object", f"pass {argument_of(where)}.astype(numpy.float64)")
    if dtype.kind in "biu":
        refuse_dtype(where, str(dtype), f"pass {argument_of(where)}.astype(numpy.float64)")
    refuse_dtype(where, str(dtype), f"convert it with {argument_of(where)}.astype(...)")


def numpy_dtype(code: int) -> np.dtype:
    """The NumPy dtype of a tritri_dtype."""
    if code == DTYPES["bfloat16"]:
        try:
            import ml_dtypes
        except ImportError:
            raise TypeError("tritri: dtype: bfloat16 in NumPy needs the package ml_dtypes, which is not installed") from None
        return np.dtype(ml_dtypes.bfloat16)
    return next(dtype for dtype, known in CODES.items() if known == code)


def element_strides(x: np.ndarray) -> tuple[int, ...] | None:
    size = x.itemsize
    if not x.flags.aligned or any(step % size for step in x.strides):
        return None
    return tuple(step // size for step in x.strides)


def fill_mask(rows: int, cols: int, fill: str) -> np.ndarray:
    every = np.ones((rows, cols), bool)
    return every if fill == "full" else np.tril(every) if fill == "lower" else np.triu(every)


class NumpyFamily(Family):
    kind = "numpy.ndarray"
    plain = True

    def view(self, x, where, writable=False):
        if writable and not x.flags.writeable:
            raise ValueError(f"{where}: must be writable, got a read-only array")
        return View(x.__array_interface__["data"][0], x.shape, element_strides(x), dtype_code(x.dtype, where), HOST, False, x)

    def compact(self, x):
        return np.array(x, order="C", copy=True, subok=False)

    def empty(self, like, shape, dtype, zero, context):
        return np.zeros(shape, like.dtype) if zero else np.empty(shape, like.dtype)

    def store(self, out, values, fill):
        np.copyto(out, values, where=fill_mask(*values.shape[-2:], fill))


FAMILY = NumpyFamily()


def reject_masked(x, where: str) -> None:
    """Masked arrays would lose their mask without a word."""
    if type(x) is not np.ndarray and isinstance(x, np.ma.MaskedArray):
        raise TypeError(f"{where}: must not be a masked array, got one: pass {argument_of(where)}.filled(0) or {argument_of(where)}.data")
