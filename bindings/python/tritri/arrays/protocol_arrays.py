"""Arrays of any other library, through __cuda_array_interface__ or __dlpack__.

https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html, https://dmlc.github.io/dlpack/latest/python_spec.html
"""
from __future__ import annotations

import numpy as np

from .._layout import tight_strides
from .._native import native
from .._words import DTYPES
from . import numpy_arrays
from .base import HOST, LEGACY_STREAM, Family, View, refuse_dtype

DLPACK_HOST, DLPACK_CUDA, DLPACK_CUDA_HOST, DLPACK_CUDA_MANAGED = 1, 2, 3, 13
# (type code, bits) of DLPack
DLPACK_DTYPES = {(2, 32): "float32", (2, 64): "float64", (5, 64): "complex64", (5, 128): "complex128", (2, 16): "float16", (4, 16): "bfloat16"}


def view_of_capsule(capsule, where: str, writable: bool) -> View:
    address, shape, strides, (code, bits, lanes), (kind, index), read_only = native.dlpack_read(capsule)
    if writable and read_only:
        raise ValueError(f"{where}: must be writable, got a read-only array")
    dtype = DLPACK_DTYPES.get((code, bits)) if lanes == 1 else None
    if dtype is None:
        refuse_dtype(where, f"DLPack type {code} of {bits} bits", "convert it with its own library")
    place = index if kind in (DLPACK_CUDA, DLPACK_CUDA_MANAGED) else HOST
    return View(address, shape, strides or tight_strides(shape), DTYPES[dtype], place, False, capsule)


def view_of_interface(interface: dict, device: int, where: str, writable: bool) -> View:
    address, read_only = interface["data"]
    if writable and read_only:
        raise ValueError(f"{where}: must be writable, got a read-only array")
    dtype = np.dtype(interface["typestr"])
    shape, strides = tuple(interface["shape"]), interface.get("strides")
    if strides is None:
        strides = tight_strides(shape)
    else:
        strides = None if any(step % dtype.itemsize for step in strides) else tuple(step // dtype.itemsize for step in strides)
    return View(address, shape, strides, numpy_arrays.dtype_code(dtype, where), device, False, interface)


class ProtocolFamily(Family):
    """The result comes back through the library's own from_dlpack, where its arrays tell (`__array_namespace__`), else as a `tritri.Matrix`."""

    kind = "an array with __dlpack__ or __cuda_array_interface__"

    def view(self, x, where, writable=False):
        device = x.__dlpack_device__() if hasattr(x, "__dlpack_device__") else None
        if device is not None and device[0] in (DLPACK_HOST, DLPACK_CUDA_HOST):
            return view_of_capsule(x.__dlpack__(), where, writable)
        if device is not None and device[0] in (DLPACK_CUDA, DLPACK_CUDA_MANAGED):
            return view_of_capsule(x.__dlpack__(stream=LEGACY_STREAM), where, writable)
        if device is not None:
            raise TypeError(f"{where}: must be on the CPU or a CUDA device, got DLPack device {tuple(map(int, device))}")
        return view_of_interface(x.__cuda_array_interface__, 0, where, writable)

    def compact(self, x):
        raise TypeError(f"multiply: {self.kind}: must have a unit stride in its last two dimensions, got other strides: pass a contiguous copy")

    def empty(self, like, shape, dtype, zero, context):
        if self.view(like, "multiply: a").place == HOST:
            result_dtype = numpy_arrays.numpy_dtype(dtype)
            return np.zeros(shape, result_dtype) if zero else np.empty(shape, result_dtype)
        matrix = context.matrix(shape, dtype)
        if zero:
            matrix.update(np.zeros(shape, numpy_arrays.numpy_dtype(dtype)))
        return matrix

    def store(self, out, values, fill):
        raise TypeError("multiply: out: must have a unit stride in its last two dimensions, got other strides")

    def stream(self, place, view):
        interface_stream = view.keep.get("stream") if isinstance(view.keep, dict) else None
        return interface_stream or LEGACY_STREAM, None

    def finish(self, result, like, views, context):
        if views[2].place != HOST:
            context.synchronize()  # nothing is known about how this library reuses memory
        if result is like or type(result) is type(like):
            return result
        namespace = getattr(like, "__array_namespace__", None)
        from_dlpack = getattr(namespace() if namespace else None, "from_dlpack", None)
        return from_dlpack(result) if from_dlpack else result


FAMILY = ProtocolFamily()
