"""JAX arrays. Imported when the first one arrives."""
from __future__ import annotations

import collections

import jax
import jax.numpy as jnp
import numpy as np

from .base import LEGACY_STREAM
from .protocol_arrays import ProtocolFamily, view_of_capsule
from . import numpy_arrays


class JaxFamily(ProtocolFamily):
    """JAX has no current stream: its arrays are awaited on the legacy default stream, and JAX awaits the result in turn. Its allocator knows nothing of
    that stream, so that inputs are held until the result is ready."""

    kind = "jax.Array"

    def __init__(self):
        self._pending = collections.deque()

    def view(self, x, where, writable=False):
        if isinstance(x, np.ndarray):  # a result on the CPU
            return numpy_arrays.FAMILY.view(x, where, writable)
        if writable and isinstance(x, jax.Array):
            raise TypeError(f"{where}: must be writable, got a jax.Array, which is immutable: leave out= away")
        if isinstance(x, jax.core.Tracer):
            raise TypeError(f"{where}: must be an array with values, got a tracer of jax.jit or jax.grad: use jax.pure_callback")
        if isinstance(x, jax.Array):
            (device,) = x.devices()
            if device.platform == "cpu":
                host = np.asarray(x)
                view = numpy_arrays.FAMILY.view(host, where)
                view.keep = host
                return view
        return view_of_capsule(x.__dlpack__(stream=LEGACY_STREAM), where, writable)

    def compact(self, x):
        return jnp.array(x, copy=True)

    def stream(self, place, view):
        return LEGACY_STREAM, None

    def finish(self, result, like, views, context):
        if isinstance(result, np.ndarray):
            return jnp.asarray(result)
        array = jax.dlpack.from_dlpack(result)
        while self._pending and self._pending[0][0].is_ready():
            self._pending.popleft()
        self._pending.append((array, views))
        return array


FAMILY = JaxFamily()
