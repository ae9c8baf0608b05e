"""The few cuBLAS routines that are peers, called as they are. BLAS counts by columns, where our rows are columns: it is asked for C^T = op(B)^T op(A)^T."""
from __future__ import annotations

import ctypes

from .blocks import Gemm
from .contenders import Absent
from .host import triangle_for_trmm
from .products import ITEM, Mode, Product

_TYPES = {"float32": 0, "float64": 1, "float16": 2, "complex64": 4, "complex128": 5, "bfloat16": 14}     # cudaDataType
_COMPUTES = {"float32": 68, "float64": 70, "complex64": 68, "complex128": 70, "float16": 68, "bfloat16": 68}  # CUBLAS_COMPUTE_32F, _64F
_FAST_TF32 = 77
_LETTERS = {"float32": "S", "float64": "D", "complex64": "C", "complex128": "Z"}
_DEFAULT_ALGORITHM = -1
_OPS = {"N": 0, "T": 1}

WORKSPACE_BYTES = 64 << 20  # what NVIDIA asks for on Hopper is half of this


def scalars() -> dict:
    """0 and 1 for each dtype, as complex numbers of the type of its arithmetic, whose first half is the real one."""
    kinds = {dtype: ctypes.c_double if dtype in ("float64", "complex128") else ctypes.c_float for dtype in _TYPES}
    return {dtype: {value: (kind * 2)(value, 0) for value in (0, 1)} for dtype, kind in kinds.items()}


class Cublas:
    """A handle on a stream."""

    def __init__(self, stream: int, workspace: int):
        try:
            self._library = ctypes.CDLL("libcublas.so.13")
        except OSError as missing:
            raise Absent(f"cuBLAS was not found: {missing}") from None
        self._handle = ctypes.c_void_p()
        self._check("cublasCreate_v2", ctypes.byref(self._handle), handle=False)
        self._check("cublasSetStream_v2", ctypes.c_void_p(stream))
        self._check("cublasSetWorkspace_v2", ctypes.c_void_p(workspace), ctypes.c_size_t(WORKSPACE_BYTES))
        self._scalars = scalars()

    def _check(self, name: str, *arguments, handle: bool = True) -> None:
        status = getattr(self._library, name)(*((self._handle, *arguments) if handle else arguments))
        if status != 0:
            raise RuntimeError(f"{name}: status {status}")

    def version(self) -> int:
        number = ctypes.c_int()
        self._check("cublasGetVersion_v2", ctypes.byref(number))
        return number.value

    def close(self) -> None:
        self._check("cublasDestroy_v2")

    def gemm(self, mode: Mode, product: Product, n: int, a: int, b: int, c: int, piece: Gemm | None = None, adds: bool = False, batch: int = 1):
        """The call that computes C, or one piece of it, from n x n matrices at these addresses."""
        (r0, r1), (c0, c1), (k0, k1) = (piece.rows, piece.cols, piece.k) if piece else ((0, n),) * 3
        item, dtype = ITEM[mode.dtype], mode.dtype
        a += item * (r0 * n + k0 if product.a.op == "N" else k0 * n + r0)
        b += item * (k0 * n + c0 if product.b.op == "N" else c0 * n + k0)
        c += item * (r0 * n + c0)
        alpha, beta = self._scalars[dtype][1], self._scalars[dtype][int(adds)]
        kind, compute = _TYPES[dtype], _FAST_TF32 if mode.compute == "tf32" else _COMPUTES[dtype]
        sizes = (_OPS[product.b.op], _OPS[product.a.op], ctypes.c_int(c1 - c0), ctypes.c_int(r1 - r0), ctypes.c_int(k1 - k0))
        pointers, line = [ctypes.c_void_p(x) for x in (a, b, c)], ctypes.c_int(n)
        if batch == 1:
            arguments = (*sizes, alpha, pointers[1], kind, line, pointers[0], kind, line, beta, pointers[2], kind, line, compute, _DEFAULT_ALGORITHM)
            return lambda: self._check("cublasGemmEx", *arguments)
        stride = ctypes.c_longlong(n * n)
        arguments = (*sizes, alpha, pointers[1], kind, line, stride, pointers[0], kind, line, stride, beta, pointers[2], kind, line, stride, ctypes.c_int(batch), compute,
                     _DEFAULT_ALGORITHM)
        return lambda: self._check("cublasGemmStridedBatchedEx", *arguments)

    def trmm(self, dtype: str, product: Product, n: int, a: int, b: int, c: int):
        """The call of cuBLAS's TRMM, which works out of place."""
        if dtype not in _LETTERS:
            raise Absent(f"cuBLAS has no TRMM of {dtype}")
        triangle, _, on_right = triangle_for_trmm(product)
        x, y = (a, b) if on_right else (b, a)
        size = ctypes.c_int(n)
        arguments = (int(on_right), int(triangle.fill == "lower"), _OPS[triangle.op], int(triangle.unit), size, size, self._scalars[dtype][1], ctypes.c_void_p(x), size,
                     ctypes.c_void_p(y), size, ctypes.c_void_p(c), size)
        name = f"cublas{_LETTERS[dtype]}trmm_v2"
        return lambda: self._check(name, *arguments)
