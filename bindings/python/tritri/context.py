"""Contexts and matrices: a device with its stream and workspace, and memory on it."""
from __future__ import annotations

import threading

import numpy as np

from . import _layout
from ._native import native
from ._words import (ALGORITHMS, COMPUTES, CPU, CUDA, DIAG_NAMES, DIAGS, DTYPE_NAMES, DTYPES, FILL_NAMES, FILLS, ITEM_BYTES, OPS, ORDERS, ROW, TRANSPOSING,
                     code, scalar)
from .arrays import family_of, numpy_arrays
from .arrays.base import HOST

_DLPACK_DTYPES = {"float32": (2, 32), "float64": (2, 64), "complex64": (5, 64), "complex128": (5, 128), "float16": (2, 16), "bfloat16": (4, 16)}


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


def _host_view(function: str, array, writable: bool = False):
    """A view of an array in host memory, and the array that owns it."""
    family = family_of(array, "array")
    view = family.view(array, "array" if not writable else "out", writable)
    if view.place != HOST:
        raise TypeError(f"{function}: array: must be in host memory, got one on CUDA device {view.place}: Context.wrap takes it as it is")
    if len(view.shape) < 2:
        raise ValueError(f"{function}: array: must have at least 2 dimensions, got {len(view.shape)}")
    return family, view


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

    def __init__(self, device: str = "auto", stream: int | None = None, threads: int = 0, workspace_bytes: int = 0):
        self._handle = None
        kind, index = parse_device(device)
        for name, value in (("stream", 0 if stream is None else stream), ("threads", threads), ("workspace_bytes", workspace_bytes)):
            if not isinstance(value, (int, np.integer)):
                raise TypeError(f"Context: {name}: must be an int, got {type(value).__name__}")
        if not -1 < threads <= 1024:
            raise ValueError(f"Context: threads: must be 0 (all) to 1024, got {threads}")
        self._lock = threading.RLock()
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

    def upload(self, array, fill: str = "full", diag: str = "nonunit") -> Matrix:
        """Copies the elements inside the fill of a host array to the device.

        Parameters
        ----------
        array : array_like, shape (..., m, n)
            NumPy, or any array in host memory, with any strides.
        fill : {"full", "lower", "upper"}
        diag : {"nonunit", "unit"}
            ``"unit"``: the stored diagonal is never read and counts as 1.

        Returns
        -------
        Matrix
        """
        family, view = _host_view("upload", array)
        layout = self._even_layout(view)
        if layout is None:
            array = family.compact(array)
            view = family.view(array, "array")
            layout = self._even_layout(view)
        desc = _layout.descriptor(view.dtype, code(FILLS, "upload", "fill", fill), code(DIAGS, "upload", "diag", diag), view.shape, *layout)
        with self._lock:
            handle = native.tritri_upload(self._use(self._home), desc, view.address)
        return Matrix(self, handle, view.shape[:-2])

    @staticmethod
    def _even_layout(view):
        """(lines, batch count, batch stride), or None if the array has to be copied."""
        lines = _layout.matrix_lines(view.shape, view.strides)
        if lines is None or view.conj:
            return None
        batch = _layout.even_batch(view.shape, view.strides)
        return None if batch is None else (lines, *batch)

    def matrix(self, shape, dtype="float64", fill: str = "full", order: str = "row") -> Matrix:
        """A new matrix for results; its contents are unspecified.

        Parameters
        ----------
        shape : tuple of int
            ``(..., m, n)``.
        dtype : str or dtype
        fill : {"full", "lower", "upper"}
        order : {"row", "column"}
        """
        shape = tuple(int(size) for size in shape)
        if len(shape) < 2:
            raise ValueError(f"matrix: shape: must have at least 2 dimensions, got {shape}")
        count = int(np.prod(shape[:-2], dtype=object))
        rows, cols = shape[-2:]
        code_of_order = code(ORDERS, "matrix", "order", order)
        number = dtype if dtype in DTYPE_NAMES else DTYPES.get(dtype) if isinstance(dtype, str) else None
        desc = _layout.descriptor(numpy_arrays.dtype_code(np.dtype(dtype), "dtype") if number is None else number, code(FILLS, "matrix", "fill", fill), 0, shape,
                                  (code_of_order, 0), count, rows * cols)
        with self._lock:
            handle = native.tritri_matrix_create(self._use(self._home), desc)
        return Matrix(self, handle, shape[:-2])

    def wrap(self, array, fill: str = "full", diag: str = "nonunit") -> Matrix:
        """A matrix over an array that is on this context's device already: no copy. It keeps the array alive, and results written to it show in the array.

        Parameters
        ----------
        array : array_like, shape (..., m, n)
            A unit stride in one of the last two dimensions. For results it must be writable.
        """
        family = family_of(array, "array")
        view = family.view(array, "array")
        if view.place != self._place:
            raise ValueError(f"wrap: array: must be on this context's device {self.device}, got one on {'the CPU' if view.place == HOST else f'cuda:{view.place}'}")
        layout = self._even_layout(view) if len(view.shape) >= 2 else None
        if layout is None:
            raise ValueError("wrap: array: must have a unit stride in its last two dimensions and evenly spaced leading ones, "
                             f"got shape {tuple(view.shape)} and strides {view.strides}")
        desc = _layout.descriptor(view.dtype, code(FILLS, "wrap", "fill", fill), code(DIAGS, "wrap", "diag", diag), view.shape, *layout)
        with self._lock:
            handle = native.tritri_matrix_wrap(self._use(self._home), desc, view.address)
        return Matrix(self, handle, view.shape[:-2], (array, view))

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
            _check_matrix("multiply", name, x)
        if out is None:
            if options[4] or options[5]:
                raise ValueError("multiply: beta: needs out, whose former values it scales, got out=None")
            m = a.shape[-1] if options[0] in TRANSPOSING else a.shape[-2]
            n = b.shape[-2] if options[1] in TRANSPOSING else b.shape[-1]
            out = self.matrix((*_layout.broadcast("multiply", a.shape[:-2], b.shape[:-2]), m, n), a._desc[0], out_fill)
        _check_matrix("multiply", "out", out)
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
            _check_matrix("verify", name, x)
        with self._lock:
            return native.tritri_verify(self._use(self._home), multiply_options("verify", a_op, b_op, alpha, 0, "default"), a._live(), b._live(), c._live(), probes)

    def explain(self, a: Matrix, b: Matrix, out: Matrix, *, a_op: str = "N", b_op: str = "N", alpha=1, beta=0, compute: str = "default",
                algorithm: str = "auto") -> str:
        """How this product would be computed, as one line of key=value pairs."""
        for name, x in (("a", a), ("b", b), ("out", out)):
            _check_matrix("explain", name, x)
        options = multiply_options("explain", a_op, b_op, alpha, beta, compute, algorithm)
        with self._lock:
            return native.tritri_plan_describe(self._live(), options, a._live(), b._live(), out._live())

    def workspace_size(self, a: Matrix, b: Matrix, out: Matrix, *, a_op: str = "N", b_op: str = "N", alpha=1, beta=0, compute: str = "default",
                       algorithm: str = "auto") -> int:
        """Bytes of workspace that this product needs on the device."""
        for name, x in (("a", a), ("b", b), ("out", out)):
            _check_matrix("workspace_size", name, x)
        options = multiply_options("workspace_size", a_op, b_op, alpha, beta, compute, algorithm)
        with self._lock:
            return native.tritri_workspace_size(self._live(), options, a._live(), b._live(), out._live())

    def synchronize(self) -> None:
        """Waits for everything that this context enqueued, and raises what went wrong in it."""
        with self._lock:
            native.tritri_context_synchronize(self._live())

    def close(self) -> None:
        """Releases the device. Matrices stay usable through other references to it; closing twice does nothing."""
        handle, self._handle = self._handle, None
        if handle is not None:
            with self._lock:
                native.tritri_context_destroy(handle)

    def __enter__(self) -> Context:
        self._live()
        return self

    def __exit__(self, *exception) -> None:
        self.close()

    def __del__(self, _destroy=native.tritri_context_destroy):
        handle, self._handle = self._handle, None
        if handle is not None:
            _destroy(handle)

    def __repr__(self) -> str:
        return f"<tritri.Context {'closed' if self.closed else self.device}>"


class Matrix:
    """Memory on a context's device, and what it holds. Made by `Context.upload`, `Context.matrix`, `Context.wrap` and `Context.multiply`.

    It speaks ``__dlpack__``, and on a CUDA device ``__cuda_array_interface__``, so that other libraries see its memory without a copy. What lies
    outside its fill is unspecified there.
    """

    def __init__(self, context: Context, handle, batch_shape, keep=None):
        self._handle = handle
        self._context = context
        self._keep = keep
        self._desc = native.tritri_matrix_desc_get(handle)
        self._batch_shape = tuple(batch_shape)

    def _live(self):
        if self._handle is None:
            raise ValueError("Matrix: must be open, got a closed one")
        return self._handle

    @property
    def shape(self) -> tuple[int, ...]:
        return (*self._batch_shape, self._desc[5], self._desc[6])

    @property
    def dtype(self) -> str:
        return DTYPE_NAMES[self._desc[0]]

    @property
    def fill(self) -> str:
        return FILL_NAMES[self._desc[1]]

    @property
    def diag(self) -> str:
        return DIAG_NAMES[self._desc[2]]

    @property
    def context(self) -> Context:
        return self._context

    @property
    def closed(self) -> bool:
        return self._handle is None

    @property
    def strides(self) -> tuple[int, ...]:
        """In elements, as the matrix lies in the device's memory."""
        order, ld, batch_stride = self._desc[3], self._desc[7], self._desc[9]
        strides = [ld, 1] if order == ROW else [1, ld]
        step = batch_stride
        for size in reversed(self._batch_shape):
            strides.insert(0, step)
            step *= size
        return tuple(strides)

    def update(self, array) -> None:
        """Refills the matrix from a host array of the same shape and dtype; allocates nothing on the device."""
        family, view = _host_view("update", array)
        layout = Context._even_layout(view)
        if layout is None:
            array = family.compact(array)
            view = family.view(array, "array")
            layout = Context._even_layout(view)
        desc = _layout.descriptor(view.dtype, self._desc[1], self._desc[2], view.shape, *layout)
        with self._context._lock:
            native.tritri_upload_into(self._context._use(self._context._home), self._live(), desc, view.address)

    def download(self, out: np.ndarray | None = None) -> np.ndarray:
        """Copies the elements inside the fill to host memory, once the work on them is done.

        Parameters
        ----------
        out : numpy.ndarray, shape of the matrix, optional
            Written inside the fill only. Default: a new array, zeros outside the fill and ones on a unit diagonal.

        Returns
        -------
        numpy.ndarray
        """
        if out is None:
            result = np.zeros(self.shape, numpy_arrays.numpy_dtype(self._desc[0]))
            self._fetch(result)
            if self.diag == "unit":
                diagonal = np.arange(min(self.shape[-2:]))
                result[..., diagonal, diagonal] = 1
            return result
        if not isinstance(out, np.ndarray):
            raise TypeError(f"download: out: must be a numpy.ndarray, got {type(out).__name__}")
        if out.shape != self.shape:
            raise ValueError(f"download: out: must have the matrix's shape {self.shape}, got {out.shape}")
        if out.dtype != numpy_arrays.numpy_dtype(self._desc[0]):
            raise TypeError(f"download: out: must have the matrix's dtype {self.dtype}, got {out.dtype}")
        if not out.flags.writeable:
            raise ValueError("download: out: must be writable, got a read-only array")
        if Context._even_layout(numpy_arrays.FAMILY.view(out, "out")) is None:
            numpy_arrays.FAMILY.store(out, self.download(), self.fill)
        else:
            self._fetch(out)
        return out

    def _fetch(self, array: np.ndarray) -> None:
        view = numpy_arrays.FAMILY.view(array, "out", True)
        desc = _layout.descriptor(view.dtype, self._desc[1], self._desc[2], view.shape, *Context._even_layout(view))
        with self._context._lock:
            native.tritri_download(self._context._use(self._context._home), self._live(), desc, view.address)

    def close(self) -> None:
        """Frees the memory, or lets go of the wrapped array; closing twice does nothing."""
        handle, self._handle = self._handle, None
        if handle is not None:
            with self._context._lock:
                native.tritri_matrix_destroy(handle)
        self._keep = None

    def __enter__(self) -> Matrix:
        self._live()
        return self

    def __exit__(self, *exception) -> None:
        self.close()

    def __del__(self, _destroy=native.tritri_matrix_destroy):
        handle, self._handle = self._handle, None
        if handle is not None:
            with self._context._lock:  # another thread may be inside a call of this context
                _destroy(handle)

    def __dlpack_device__(self) -> tuple[int, int]:
        place = self._context._place
        return (1, 0) if place == HOST else (2, place)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """A capsule over the matrix's memory, which the stream's later work sees finished."""
        if copy:
            raise BufferError("Matrix.__dlpack__: copy: must be False or None, got True")
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"Matrix.__dlpack__: dl_device: must be the matrix's own {self.__dlpack_device__()}, got {tuple(dl_device)}")
        context = self._context
        with context._lock:
            address = native.tritri_matrix_data(self._live())
            if context._place != HOST and stream != -1:
                context._use(stream or 1)  # orders that stream's work after ours
                context._use(context._home)
        return native.dlpack_make(self, address, self.shape, self.strides, *_DLPACK_DTYPES[self.dtype], *self.__dlpack_device__())

    @property
    def __cuda_array_interface__(self) -> dict:
        if self._context._place == HOST or self.dtype == "bfloat16":
            raise AttributeError("Matrix: __cuda_array_interface__ needs a CUDA device, and has no bfloat16")
        self._context.synchronize()
        size = ITEM_BYTES[self._desc[0]]
        return {"version": 3, "shape": self.shape, "typestr": np.dtype(self.dtype).str, "data": (native.tritri_matrix_data(self._live()), False),
                "strides": tuple(step * size for step in self.strides), "stream": None}

    def __repr__(self) -> str:
        if self.closed:
            return "<tritri.Matrix closed>"
        return f"<tritri.Matrix {' x '.join(map(str, self.shape))} {self.dtype} {self.fill} on {self._context.device}>"


def _check_matrix(function: str, name: str, x) -> None:
    if not isinstance(x, Matrix):
        raise TypeError(f"{function}: {name}: must be a tritri.Matrix, got {type(x).__name__}: Context.upload makes one of an array")


def _readable(info: dict) -> dict:
    info["kind"] = "cpu" if info["kind"] == CPU else "cuda"
    return info


def devices() -> list[dict]:
    """Every device that the library can use, the CPU first, each as in `Context.device_info`. Starts the CUDA driver if there is one."""
    return [_readable(native.tritri_device_info_get(kind, index)) for kind in (CPU, CUDA) for index in range(native.tritri_device_count(kind))]


class _Defaults(threading.local):
    """The contexts behind `tritri.multiply`: on the CPU one for each thread, so that threads run in parallel."""

    def __init__(self):
        self.cpu = None


_defaults = _Defaults()
_cuda: dict[int, Context] = {}  # shared by all threads: each holds a workspace on its card
_cuda_lock = threading.Lock()
_best: int | None = None        # the place that "auto" came to


def default_context(place: int | None) -> Context:
    """The context that a product uses when the caller gives none. `place` None: the best device."""
    global _best
    if place is None:
        place = _best
    if place is None:
        context = Context("auto")
        _best = place = context._place
        if place == HOST:
            _defaults.cpu = context
        else:
            with _cuda_lock:
                _cuda.setdefault(place, context)
    if place == HOST:
        if _defaults.cpu is None:
            _defaults.cpu = Context("cpu")
        return _defaults.cpu
    context = _cuda.get(place)
    if context is None:
        with _cuda_lock:
            context = _cuda.get(place)
            if context is None:
                context = _cuda[place] = Context(f"cuda:{place}")
    return context
