"""Contexts: a device with its stream and workspace."""
from __future__ import annotations

import math
import operator
import os
import threading
import weakref

import numpy as np

from . import _layout
from ._native import native
from ._words import ALGORITHMS, COMPUTES, CPU, CUDA, DIAGS, DTYPE_NAMES, DTYPES, FILLS, OPS, ORDERS, TRANSPOSING, code, scalar
from .arrays import family_of, numpy_arrays
from .arrays.base import HOST
from .matrix import Matrix, check_matrix, even_layout, host_matrix, packed_memory


_contexts = weakref.WeakSet()


def _take_new_locks() -> None:
    """In the child of a fork, where the thread that was inside a call is gone and would never give its lock back."""
    for context in _contexts:
        context._lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_take_new_locks)


def parse_device(device: str) -> tuple[int, int]:
    """(kind, index) of "auto", "cpu", "cuda" or "cuda:N"."""
    name, colon, index = device.partition(":") if isinstance(device, str) else ("", "", "")
    if name == "cuda" and (not colon or index.isascii() and index.isdigit() and len(index) < 5):
        return CUDA, int(index or 0)
    if not colon and name in ("auto", "cpu"):
        return (CPU if name == "cpu" else native.TRITRI_DEVICE_AUTO), 0
    raise ValueError(f"Context: device: must be 'auto', 'cpu', 'cuda' or 'cuda:N', got {device!r}")


def multiply_options(function, a_op, b_op, alpha, beta, compute, algorithm="auto") -> tuple:
    """The tuple that stands for tritri_multiply_options."""
    return (code(OPS, function, "a_op", a_op), code(OPS, function, "b_op", b_op), *scalar(function, "alpha", alpha), *scalar(function, "beta", beta),
            code(COMPUTES, function, "compute", compute), code(ALGORITHMS, function, "algorithm", algorithm))


class Context:
    """A device, its stream and its workspace.

    All slow start-up happens here. A context may be used from any Python thread: its calls take turns. Different contexts run in parallel.

    Parameters
    ----------
    device : str
        ``"auto"`` (the environment variable ``TRITRI_DEVICE``, else the first CUDA device, else the CPU), ``"cpu"``, ``"cuda"`` or ``"cuda:N"``.
    stream : int, optional
        The handle of a CUDA stream to work on, such as ``torch.cuda.current_stream().cuda_stream``; it must outlive the context. Default: an own stream.
    threads : int
        CPU threads; 0 takes as many as this process may use.
    workspace_bytes : int
        Device memory set aside for products; 0 lets the library choose.

    Raises
    ------
    ValueError
        For an argument that breaks its rule.
    TritriError
        If the device is not there.

    Examples
    --------
    >>> import numpy as np, tritri
    >>> with tritri.Context("cpu") as context:
    ...     a = context.upload(np.array([[4.0, 0.0], [5.0, 6.0]]), fill="lower")
    ...     context.multiply(a, a, out_fill="lower").download()
    array([[16.,  0.],
           [50., 36.]])
    """

    _handle = None   # also where __init__ did not come to it
    _parting = None  # the handle of a closed context whose host arrays live on
    _host_blocks = 0

    def __init__(self, device: str = "auto", stream: int | None = None, threads: int = 0, workspace_bytes: int = 0):
        kind, index = parse_device(device)
        for name, value in (("stream", 0 if stream is None else stream), ("threads", threads), ("workspace_bytes", workspace_bytes)):
            if not isinstance(value, (int, np.integer)):
                raise TypeError(f"Context: {name}: must be an int, got {type(value).__name__}")
        for name, value in (("stream", stream or 0), ("workspace_bytes", workspace_bytes)):
            if not 0 <= value < 2 ** 63:
                raise ValueError(f"Context: {name}: must be at least 0 and below 2^63, got {value}")
        if not -1 < threads <= 1024:
            raise ValueError(f"Context: threads: must be 0 (all) to 1024, got {threads}")
        self._lock = threading.RLock()
        _contexts.add(self)
        self._home = stream or None
        self._stream = self._home      # where the next work goes
        self._stream_owner = None
        self._handle = native.tritri_context_create((kind, index, self._home, int(threads), int(workspace_bytes)))
        info = native.tritri_context_device_info(self._handle)
        self._place = HOST if info["kind"] == CPU else info["index"]

    def _live(self):
        if self._handle is None:
            raise ValueError("Context: must be open, got a closed one")
        return self._handle

    def _use(self, stream: int | None, owner=None):
        """The handle, with work going to this stream. The lock is held."""
        handle = self._live()
        if stream != self._stream:
            native.tritri_context_set_stream(handle, stream)
            self._stream, self._stream_owner = stream, owner
        return handle

    @property
    def device(self) -> str:
        """``"cpu"`` or ``"cuda:N"``: what ``"auto"`` came to."""
        return "cpu" if self._place == HOST else f"cuda:{self._place}"

    @property
    def device_info(self) -> dict:
        """What the library knows about the device: name, details, memory and versions."""
        with self._lock:
            return _readable(native.tritri_context_device_info(self._live()))

    @property
    def closed(self) -> bool:
        return self._handle is None

    def upload(self, array, fill: str = "full", diag: str = "nonunit", packed=None) -> Matrix:
        """Copies the elements inside the fill of a host array to the device.

        Parameters
        ----------
        array : array_like, shape (..., m, n)
            NumPy, or any array in host memory, with any strides.
        fill : {"full", "lower", "upper"}
        diag : {"nonunit", "unit"}
            ``"unit"``: the stored diagonal is never read and counts as 1.
        packed : tuple of int or int, optional
            ``(m, n)``, or n for a square: the array holds packed triangles of that shape, as `tritri.pack` makes them, shape (..., elements of the triangle). They stay
            packed on the device.

        Returns
        -------
        Matrix
        """
        fill, diag = code(FILLS, "upload", "fill", fill), code(DIAGS, "upload", "diag", diag)
        if packed is None:
            view, layout = host_matrix("upload", array)
            desc, batch = _layout.descriptor(view.dtype, fill, diag, view.shape, *layout), view.shape[:-2]
        else:
            shape = _packed_shape("upload", packed, fill)
            view = packed_memory("upload", array, shape, fill)
            batch = view.shape[:-1]
            desc = _layout.packed_descriptor(view.dtype, fill, diag, shape, ORDERS["row"], batch)
        with self._lock:
            handle = native.tritri_upload(self._use(self._home), desc, view.address)
        return Matrix(self, handle, batch)

    def matrix(self, shape, dtype="float64", fill: str = "full", order: str = "row", packed: bool = False) -> Matrix:
        """A new matrix for results; its contents are unspecified.

        Parameters
        ----------
        shape : tuple of int
            ``(..., m, n)``.
        dtype : str or dtype
        fill : {"full", "lower", "upper"}
        order : {"row", "column"}
        packed : bool
            Store the triangle only, without gaps.
        """
        shape = _sizes("matrix", shape)
        if len(shape) < 2:
            raise ValueError(f"matrix: shape: must have at least 2 dimensions, got {shape}")
        if any(size < 1 for size in shape[:-2]) or any(size >= 2 ** 63 for size in shape):
            raise ValueError(f"matrix: shape: leading dimensions must be at least 1, and all of them below 2^63, got {shape}")
        dtype = _dtype_code("matrix", dtype)
        fill, order = code(FILLS, "matrix", "fill", fill), code(ORDERS, "matrix", "order", order)
        if packed:
            desc = _layout.packed_descriptor(dtype, fill, DIAGS["nonunit"], _packed_shape("matrix", shape[-2:], fill), order, shape[:-2])
        else:
            desc = _layout.descriptor(dtype, fill, DIAGS["nonunit"], shape, (order, 0), math.prod(shape[:-2]), shape[-2] * shape[-1])
        desc = (*desc[:8], *(min(number, 2 ** 63 - 1) for number in desc[8:]))  # past that the library says what is wrong
        with self._lock:
            handle = native.tritri_matrix_create(self._use(self._home), desc)
        return Matrix(self, handle, shape[:-2])

    def host_array(self, shape, dtype="float64") -> np.ndarray:
        """A new NumPy array from which and to which transfers run fastest: in pinned memory on a CUDA context. Its contents are unspecified.

        The memory is freed with the last array that looks at it, also after the context was closed. Pinned memory is taken from all programs: keep the array
        and use it again.

        Parameters
        ----------
        shape : tuple of int or int
        dtype : str or dtype

        Examples
        --------
        >>> import numpy as np, tritri
        >>> with tritri.Context("cpu") as context:
        ...     host = context.host_array((2, 2))
        ...     host[...] = [[4, 0], [5, 6]]
        ...     a = context.upload(host, fill="lower")
        ...     context.multiply(a, a).download(out=host)
        array([[16.,  0.],
               [50., 36.]])
        """
        shape = _sizes("host_array", shape)
        if any(size < 0 for size in shape):
            raise ValueError(f"host_array: shape: must have no negative size, got {shape}")
        dtype = numpy_arrays.numpy_dtype(_dtype_code("host_array", dtype))
        count = math.prod(shape) * dtype.itemsize
        if count >= 2 ** 63:
            raise MemoryError(f"host_array: shape: must fit in memory, got {shape}")
        return np.asarray(_HostBlock(self, count)).view(dtype).reshape(shape)

    def wrap(self, array, fill: str = "full", diag: str = "nonunit") -> Matrix:
        """A matrix over an array that is on this context's device already: no copy. It keeps the array alive, and results written to it show in the array.

        Parameters
        ----------
        array : array_like, shape (..., m, n)
            A unit stride in one of the last two dimensions. A read-only array makes a matrix that takes no results.
        """
        family = family_of(array, "wrap: array")
        view = family.view(array, "wrap: array")
        try:
            family.view(array, "wrap: array", True)
            read_only = False
        except (TypeError, ValueError):  # immutable, or read-only
            read_only = True
        if view.place != self._place:
            raise ValueError(f"wrap: array: must be on this context's device {self.device}, got one on {'the CPU' if view.place == HOST else f'cuda:{view.place}'}")
        layout = even_layout("wrap", view) if len(view.shape) >= 2 else None
        if layout is None:
            raise ValueError("wrap: array: must have a unit stride in its last two dimensions and evenly spaced leading ones, "
                             f"got shape {tuple(view.shape)} and strides {view.strides}")
        desc = _layout.descriptor(view.dtype, code(FILLS, "wrap", "fill", fill), code(DIAGS, "wrap", "diag", diag), view.shape, *layout)
        with self._lock:
            handle = native.tritri_matrix_wrap(self._use(self._home), desc, view.address)
        return Matrix(self, handle, view.shape[:-2], (array, view), read_only)

    def multiply(self, a: Matrix, b: Matrix, *, a_op: str = "N", b_op: str = "N", alpha=1, beta=0, out: Matrix | None = None, out_fill: str = "full",
                 compute: str = "default", algorithm: str = "auto") -> Matrix:
        """``out := alpha * op(a) @ op(b) + beta * out`` on the device.

        On a CUDA context the work is only enqueued: `Matrix.download` and `synchronize` wait for it.

        Parameters
        ----------
        a, b : Matrix, shapes (..., m, k) and (..., k, n) after op
            Matrices of this context; what they hold was said when they were made.
        a_op, b_op : {"N", "T", "C", "R"}
            As is, transpose, conjugate transpose, conjugate.
        alpha, beta : number
        out : Matrix, shape (..., m, n), optional
            Default: a new matrix with fill `out_fill`.
        out_fill : {"full", "lower", "upper"}
        compute : {"default", "pedantic", "tf32"}
        algorithm : {"auto", "kernel", "cublas"}

        Returns
        -------
        Matrix
            `out`, or the new matrix.

        Raises
        ------
        ValueError
            For shapes, fills or options that break a rule, and for closed contexts and matrices.
        TypeError
            For anything that is not a Matrix.
        """
        options = multiply_options("multiply", a_op, b_op, alpha, beta, compute, algorithm)
        for name, x in (("a", a), ("b", b)):
            check_matrix("multiply", name, x)
        if out is None:
            if options[4] or options[5]:
                raise ValueError("multiply: beta: needs out, whose former values it scales, got out=None")
            m = a.shape[-1] if options[0] in TRANSPOSING else a.shape[-2]
            n = b.shape[-2] if options[1] in TRANSPOSING else b.shape[-1]
            out = self.matrix((*_layout.broadcast("multiply", a.shape[:-2], b.shape[:-2]), m, n), a._desc[0], out_fill)
        check_matrix("multiply", "out", out)
        out._check_writable("multiply: out")
        with self._lock:
            native.tritri_multiply(self._use(self._home), options, a._live(), b._live(), out._live())
        return out

    def verify(self, a: Matrix, b: Matrix, c: Matrix, *, a_op: str = "N", b_op: str = "N", alpha=1, probes: int = 8) -> float:
        """Checks ``c == alpha * op(a) @ op(b)`` within c's fill by random probes, O(n^2) each.

        Returns
        -------
        float
            The largest relative residual: a small multiple of the dtype's epsilon if all is well, inf where c has a NaN or Inf of its own.
        """
        for name, x in (("a", a), ("b", b), ("c", c)):
            check_matrix("verify", name, x)
        if not isinstance(probes, (int, np.integer)):
            raise TypeError(f"verify: probes: must be an int, got {type(probes).__name__}")
        if not 1 <= probes <= 1024:
            raise ValueError(f"verify: probes: must be 1 to 1024, got {probes}")
        with self._lock:
            return native.tritri_verify(self._use(self._home), multiply_options("verify", a_op, b_op, alpha, 0, "default"), a._live(), b._live(), c._live(), int(probes))

    def explain(self, a: Matrix, b: Matrix, out: Matrix, *, a_op: str = "N", b_op: str = "N", alpha=1, beta=0, compute: str = "default",
                algorithm: str = "auto") -> str:
        """How this product would be computed, as one line of key=value pairs."""
        for name, x in (("a", a), ("b", b), ("out", out)):
            check_matrix("explain", name, x)
        options = multiply_options("explain", a_op, b_op, alpha, beta, compute, algorithm)
        with self._lock:
            return native.tritri_plan_describe(self._live(), options, a._live(), b._live(), out._live())

    def workspace_size(self, a: Matrix, b: Matrix, out: Matrix, *, a_op: str = "N", b_op: str = "N", alpha=1, beta=0, compute: str = "default",
                       algorithm: str = "auto") -> int:
        """Bytes of workspace that this product needs on the device."""
        for name, x in (("a", a), ("b", b), ("out", out)):
            check_matrix("workspace_size", name, x)
        options = multiply_options("workspace_size", a_op, b_op, alpha, beta, compute, algorithm)
        with self._lock:
            return native.tritri_workspace_size(self._live(), options, a._live(), b._live(), out._live())

    def synchronize(self) -> None:
        """Waits for everything that this context enqueued, and raises what went wrong in it."""
        with self._lock:
            native.tritri_context_synchronize(self._live())

    def close(self) -> None:
        """Releases the device. Matrices stay usable through other references to it; closing twice does nothing."""
        if self._handle is not None:
            with self._lock:
                self._let_go(native.tritri_context_destroy)

    def _let_go(self, destroy) -> None:
        """Destroys the handle, or leaves that to the last host array, whose memory the context frees."""
        handle, self._handle = self._handle or self._parting, None
        if self._host_blocks:
            self._parting = handle
        elif handle is not None:
            self._parting = None
            destroy(handle)

    def __reduce_ex__(self, protocol):
        raise TypeError("Context: must not be copied or pickled, since it owns a device's handle: make another Context")

    def __enter__(self) -> Context:
        self._live()
        return self

    def __exit__(self, *exception) -> None:
        self.close()

    def __del__(self, _destroy=native.tritri_context_destroy):
        self._let_go(_destroy)

    def __repr__(self) -> str:
        return f"<tritri.Context {'closed' if self.closed else self.device}>"


class _HostBlock:
    """Memory of tritri_host_allocate for arrays, which keep this alive."""

    def __init__(self, context: Context, count: int):
        with context._lock:
            address = native.tritri_host_allocate(context._live(), count)
            context._host_blocks += 1
        self._context, self._address = context, address
        self.__array_interface__ = {"version": 3, "shape": (count,), "typestr": "|u1", "data": (address, False)}

    def __del__(self, _free=native.tritri_host_free, _destroy=native.tritri_context_destroy):
        if not hasattr(self, "_address"):  # there was no memory
            return
        context = self._context
        with context._lock:
            _free(context._handle or context._parting, self._address)
            context._host_blocks -= 1
            if context._handle is None:
                context._let_go(_destroy)


def _packed_shape(function: str, shape, fill: int) -> tuple[int, int]:
    sizes = _sizes(function, shape)
    sizes = sizes * 2 if len(sizes) == 1 else sizes
    if len(sizes) != 2 or min(sizes) < 0:
        raise ValueError(f"{function}: packed: must be (rows, columns) or the size of a square, got {shape!r}")
    if fill == FILLS["full"]:
        raise ValueError(f"{function}: fill: must be 'lower' or 'upper' for packed matrices, got 'full'")
    return sizes


def _sizes(function: str, shape) -> tuple[int, ...]:
    try:
        return tuple(map(operator.index, shape if isinstance(shape, (tuple, list)) else (shape,)))
    except TypeError:
        raise TypeError(f"{function}: shape: must be an int or a tuple of ints, got {shape!r}") from None


def _dtype_code(function: str, dtype) -> int:
    """The tritri_dtype of a dtype, its name, or one that it is already."""
    if isinstance(dtype, int) and dtype in DTYPE_NAMES:
        return dtype
    try:
        return DTYPES[dtype] if isinstance(dtype, str) and dtype in DTYPES else numpy_arrays.dtype_code(np.dtype(dtype), function)
    except TypeError:
        raise TypeError(f"{function}: dtype: must be float32, float64, complex64, complex128, float16 or bfloat16, got {dtype!r}") from None


def _readable(info: dict) -> dict:
    info["kind"] = "cpu" if info["kind"] == CPU else "cuda"
    return info


def devices() -> list[dict]:
    """Every device that the library can use, the CPU first, each as in `Context.device_info`. Starts the CUDA driver if there is one."""
    return [_readable(native.tritri_device_info_get(kind, index)) for kind in (CPU, CUDA) for index in range(native.tritri_device_count(kind))]
