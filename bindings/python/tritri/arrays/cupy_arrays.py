"""CuPy arrays. Imported when the first one arrives."""
from __future__ import annotations

import cupy

from .base import LEGACY_STREAM, Family, View
from .numpy_arrays import dtype_code


class CupyFamily(Family):
    kind = "cupy.ndarray"

    def view(self, x, where, writable=False):
        size = x.itemsize
        strides = None if any(step % size for step in x.strides) else tuple(step // size for step in x.strides)
        return View(x.data.ptr, x.shape, strides, dtype_code(x.dtype, where), x.data.device_id, False, x)

    def compact(self, x):
        with cupy.cuda.Device(x.data.device_id):
            return cupy.array(x, order="C", copy=True)

    def empty(self, like, shape, dtype, zero, context):
        with cupy.cuda.Device(like.data.device_id):
            return (cupy.zeros if zero else cupy.empty)(shape, like.dtype)

    def store(self, out, values, fill):
        with cupy.cuda.Device(out.data.device_id):
            every = cupy.ones(values.shape[-2:], dtype=bool)
            mask = every if fill == "full" else cupy.tril(every) if fill == "lower" else cupy.triu(every)
            out[...] = cupy.where(mask, values, out)

    def stream(self, place, view):
        with cupy.cuda.Device(place):
            current = cupy.cuda.get_current_stream()
        return current.ptr or LEGACY_STREAM, current


FAMILY = CupyFamily()
