"""Matrices: memory on a context's device, and what it holds."""
from __future__ import annotations

import numpy as np

from . import _layout
from ._native import native
from ._words import DIAG_NAMES, DTYPE_NAMES, FILL_NAMES, ITEM_BYTES, PACKED, ROW
from .arrays import family_of, numpy_arrays
from .arrays.base import HOST

_DLPACK_DTYPES = {"float32": (2, 32), "float64": (2, 64), "complex64": (5, 64), "complex128": (5, 128), "float16": (2, 16), "bfloat16": (4, 16)}


def even_layout(function: str, view) -> tuple | None:
    """(lines, batch count, batch stride) of an array, or None if the library has no descriptor for it."""
    if 0 in view.shape[:-2]:
        raise ValueError(f"{function}: array: leading dimensions must be at least 1, got shape {tuple(view.shape)}")
    lines = _layout.matrix_lines(view.shape, view.strides)
    if lines is None or view.conj:
        return None
    batch = _layout.even_batch(view.shape, view.strides)
    return None if batch is None else (lines, *batch)


def host_matrix(function: str, array) -> tuple:
    """The view and the layout of an array in host memory, copied if the library has no descriptor for it. The view keeps the memory alive."""
    where = f"{function}: array"
    family = family_of(array, where)
    view = family.view(array, where)
    if view.place != HOST:
        raise TypeError(f"{function}: array: must be in host memory, got one on CUDA device {view.place}: Context.wrap takes it as it is")
    if len(view.shape) < 2:
        raise ValueError(f"{function}: array: must have at least 2 dimensions, got {len(view.shape)}")
    layout = even_layout(function, view)
    if layout is None:
        view = family.view(family.compact(array), where)
        layout = even_layout(function, view)
    return view, layout


def packed_memory(function: str, array, shape, fill: int, writable: bool = False):
    """The view of an array of packed trapezoids of this shape, shape (..., elements), row-major without gaps; copied if it is not."""
    where = f"{function}: {'out' if writable else 'array'}"
    family = family_of(array, where)
    view = family.view(array, where, writable)
    elements = _layout.packed_elements(*shape, fill)
    if view.place != HOST:
        raise TypeError(f"{where}: must be in host memory, got one on CUDA device {view.place}")
    if not view.shape or view.shape[-1] != elements or 0 in view.shape[:-1]:
        raise ValueError(f"{where}: must have shape (..., {elements}) for packed {FILL_NAMES[fill]} {shape[0]} x {shape[1]} matrices, got {tuple(view.shape)}")
    if view.conj or not _layout.is_tight(view.shape, view.strides):
        if writable:
            raise ValueError(f"{where}: must lie without gaps in row order, got strides {view.strides}")
        view = family.view(family.compact(array), where)
    return view


class Matrix:
    """Memory on a context's device, and what it holds. Made by `Context.upload`, `Context.matrix`, `Context.wrap` and `Context.multiply`.

    It speaks ``__dlpack__``, and on a CUDA device ``__cuda_array_interface__``, so that other libraries see its memory without a copy. What lies
    outside its fill is unspecified there.
    """

    _handle = None  # also where __init__ did not come to it

    def __init__(self, context, handle, batch_shape, keep=None, read_only=False):
        self._handle = handle
        self._read_only = read_only
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
    def packed(self) -> bool:
        """Whether only the triangle is stored, row after row (column after column in column order) without gaps."""
        return self._desc[4] == PACKED

    @property
    def context(self):
        """The `Context` that it lives on."""
        return self._context

    @property
    def closed(self) -> bool:
        return self._handle is None

    @property
    def strides(self) -> tuple[int, ...]:
        """In elements, as the matrix lies in the device's memory. Packed matrices have none."""
        if self.packed:
            raise ValueError("Matrix: strides: need storage with a leading dimension, got a packed matrix")
        order, ld, batch_stride = self._desc[3], self._desc[7], self._desc[9]
        strides = [ld, 1] if order == ROW else [1, ld]
        step = batch_stride
        for size in reversed(self._batch_shape):
            strides.insert(0, step)
            step *= size
        return tuple(strides)

    def _check_writable(self, where: str) -> None:
        if self._read_only:
            raise ValueError(f"{where}: must be writable, got a matrix over a read-only array")

    def _packed_view(self, function: str, array, writable: bool = False) -> tuple:
        """The array of packed triangles, a new one for None, its view and its descriptor."""
        fill = self._desc[1]
        if self.fill == "full":
            raise ValueError(f"{function}: packed: needs a matrix with fill 'lower' or 'upper', got 'full'")
        if array is None:
            shape = (*self._batch_shape, _layout.packed_elements(*self._desc[5:7], fill))
            array = np.empty(shape, numpy_arrays.numpy_dtype(self._desc[0]))
        view = packed_memory(function, array, self._desc[5:7], fill, writable)
        if tuple(view.shape[:-1]) != self._batch_shape:
            raise ValueError(f"{function}: {'out' if writable else 'array'}: must have the matrix's leading dimensions {self._batch_shape}, got {tuple(view.shape[:-1])}")
        return array, view, _layout.packed_descriptor(view.dtype, fill, self._desc[2], self._desc[5:7], ROW, self._batch_shape)

    def update(self, array, packed: bool = False) -> None:
        """Refills the matrix from a host array of the same shape and dtype; allocates nothing on the device. `packed`: from packed triangles, as `tritri.pack`
        makes them. Either goes into packed and other matrices alike, and moves the elements inside the fill only."""
        self._check_writable("update: matrix")
        if packed:
            _, view, desc = self._packed_view("update", array)
        else:
            view, layout = host_matrix("update", array)
            desc = _layout.descriptor(view.dtype, self._desc[1], self._desc[2], view.shape, *layout)
        with self._context._lock:
            native.tritri_upload_into(self._context._use(self._context._home), self._live(), desc, view.address)

    def download(self, out: np.ndarray | None = None, packed: bool = False) -> np.ndarray:
        """Copies the elements inside the fill to host memory, once the work on them is done.

        Parameters
        ----------
        out : numpy.ndarray, shape of the matrix, optional
            Written inside the fill only. Default: a new array, zeros outside the fill and ones on a unit diagonal.
        packed : bool
            Give packed triangles, as `tritri.pack` makes them, shape (..., elements of the triangle).

        Returns
        -------
        numpy.ndarray
        """
        if packed:
            array, view, desc = self._packed_view("download", out, True)
            with self._context._lock:
                native.tritri_download(self._context._use(self._context._home), self._live(), desc, view.address)
            if out is None and self.diag == "unit":
                rows, cols = (np.tril_indices if self.fill == "lower" else np.triu_indices)(self.shape[-2], 0, self.shape[-1])
                array[..., rows == cols] = 1
            return array
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
        if even_layout("download", numpy_arrays.FAMILY.view(out, "download: out")) is None:
            numpy_arrays.FAMILY.store(out, self.download(), self.fill)
        else:
            self._fetch(out)
        return out

    def _fetch(self, array: np.ndarray) -> None:
        view = numpy_arrays.FAMILY.view(array, "download: out", True)
        desc = _layout.descriptor(view.dtype, self._desc[1], self._desc[2], view.shape, *even_layout("download", view))
        with self._context._lock:
            native.tritri_download(self._context._use(self._context._home), self._live(), desc, view.address)

    def close(self) -> None:
        """Frees the memory, or lets go of the wrapped array; closing twice does nothing."""
        handle, self._handle = self._handle, None
        if handle is not None:
            with self._context._lock:
                native.tritri_matrix_destroy(handle)
        self._keep = None

    def __reduce_ex__(self, protocol):
        raise TypeError("Matrix: must not be copied or pickled, since it owns memory on a device: download it")

    def __array__(self, *arguments, **options):
        raise TypeError("Matrix: must be asked for its elements by download(), got an implicit conversion to a NumPy array")

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

    def _memory(self) -> tuple:
        """Shape and strides of the memory for other libraries: packed triangles are rows of elements."""
        if not self.packed:
            return self.shape, self.strides
        shape = (*self._batch_shape, _layout.packed_elements(*self._desc[5:7], self._desc[1]))
        return shape, _layout.tight_strides(shape)

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
        shape, strides = self._memory()
        return native.dlpack_make(self, address, shape, strides, *_DLPACK_DTYPES[self.dtype], *self.__dlpack_device__())

    @property
    def __cuda_array_interface__(self) -> dict:
        if self._context._place == HOST or self.dtype == "bfloat16":
            raise AttributeError("Matrix: __cuda_array_interface__ needs a CUDA device, and has no bfloat16")
        self._context.synchronize()
        size = ITEM_BYTES[self._desc[0]]
        shape, strides = self._memory()
        return {"version": 3, "shape": shape, "typestr": np.dtype(self.dtype).str, "data": (native.tritri_matrix_data(self._live()), False),
                "strides": tuple(step * size for step in strides), "stream": None}

    def __repr__(self) -> str:
        if self.closed:
            return "<tritri.Matrix closed>"
        return f"<tritri.Matrix {' x '.join(map(str, self.shape))} {self.dtype} {self.fill}{' packed' if self.packed else ''} on {self._context.device}>"


def check_matrix(function: str, name: str, x) -> None:
    if not isinstance(x, Matrix):
        raise TypeError(f"{function}: {name}: must be a tritri.Matrix, got {type(x).__name__}: Context.upload makes one of an array")
