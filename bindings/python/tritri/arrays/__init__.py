"""Which array library an argument belongs to. Libraries other than NumPy are imported only when one of their arrays is here already."""
from __future__ import annotations

from importlib import import_module

import numpy as np

from . import numpy_arrays
from .base import Family, argument_of

_LIBRARIES = {"torch": "torch_arrays", "cupy": "cupy_arrays", "jax": "jax_arrays", "jaxlib": "jax_arrays"}
_known: dict[type, Family] = {np.ndarray: numpy_arrays.FAMILY}


def family_of(x, where: str) -> Family:
    """The family of one argument, or a TypeError that says what to pass."""
    family = _known.get(type(x))
    if family is None:
        numpy_arrays.reject_masked(x, where)
        family = _find(x, where)
        _known[type(x)] = family
    return family


def _find(x, where: str) -> Family:
    if isinstance(x, np.ndarray):
        return numpy_arrays.FAMILY
    for base in type(x).__mro__:
        library = _LIBRARIES.get(base.__module__.partition(".")[0])
        if library:
            return import_module("." + library, __name__).FAMILY
    if hasattr(x, "__cuda_array_interface__") or hasattr(x, "__dlpack__"):
        return import_module(".protocol_arrays", __name__).FAMILY
    raise TypeError(f"{where}: must be an array (NumPy, or with __dlpack__ or __cuda_array_interface__), got {type(x).__name__}: "
                    f"pass numpy.asarray({argument_of(where)}, dtype=float)")


def common_family(a, b, out) -> Family:
    """The one family that all arguments belong to."""
    kind = type(a)
    if type(b) is kind and (out is None or type(out) is kind) and kind in _known:
        return _known[kind]
    family = family_of(a, "multiply: a")
    for x, where in ((b, "multiply: b"), (out, "multiply: out")):
        if x is not None or x is b:
            other = family_of(x, where)
            if other is not family:
                raise TypeError(f"{where}: must be the same kind of array as a, {family.kind}, got {type(x).__name__}: convert one of them")
    return family
