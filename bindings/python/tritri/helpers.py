"""Products that have names of their own, and packed triangles."""
from __future__ import annotations

import operator

import numpy as np

from .product import multiply


def _trapezoid_indices(function: str, rows: int, cols: int, fill: str):
    if fill not in ("lower", "upper"):
        raise ValueError(f"{function}: fill: must be 'lower' or 'upper', got {fill!r}")
    return (np.tril_indices if fill == "lower" else np.triu_indices)(rows, 0, cols)


def lauum(a, *, fill: str = "lower", out=None, context=None):
    """LAPACK's LAUUM: ``L^H L`` of a lower triangle, ``U U^H`` of an upper one, computed in that triangle only.

    Parameters
    ----------
    a : array_like, shape (..., n, n)
    fill : {"lower", "upper"}
    out : array_like, shape (..., n, n), optional
        May be `a` itself. Default: a new array, zeros outside the triangle.

    Returns
    -------
    array, shape (..., n, n)

    Examples
    --------
    >>> import numpy as np, tritri
    >>> tritri.lauum(np.array([[4.0, np.nan], [5.0, 6.0]]))
    array([[41.,  0.],
           [30., 36.]])
    """
    if fill not in ("lower", "upper"):
        raise ValueError(f"lauum: fill: must be 'lower' or 'upper', got {fill!r}")
    ops = {"a_op": "C"} if fill == "lower" else {"b_op": "C"}
    return multiply(a, a, a_fill=fill, b_fill=fill, out=out, out_fill=fill, context=context, **ops)


def cholesky_reconstruct(factor, *, fill: str = "lower", out_fill: str | None = None, out=None, context=None):
    """The matrix whose Cholesky factor this is: ``L L^H``, or ``U^H U`` of an upper factor.

    Parameters
    ----------
    factor : array_like, shape (..., n, n)
    fill : {"lower", "upper"}
    out_fill : {"lower", "upper", "full"}, optional
        Which part is computed. Default: the factor's own triangle.

    Returns
    -------
    array, shape (..., n, n)

    Examples
    --------
    >>> import numpy as np, tritri
    >>> tritri.cholesky_reconstruct(np.array([[2.0, 0.0], [1.0, 3.0]]), out_fill="full")
    array([[ 4.,  2.],
           [ 2., 10.]])
    """
    if fill not in ("lower", "upper"):
        raise ValueError(f"cholesky_reconstruct: fill: must be 'lower' or 'upper', got {fill!r}")
    ops = {"b_op": "C"} if fill == "lower" else {"a_op": "C"}
    return multiply(factor, factor, a_fill=fill, b_fill=fill, out=out, out_fill=out_fill or fill, context=context, **ops)


def lu_reconstruct(lu, pivots=None, *, out=None, context=None):
    """The matrix of an LU factorisation: unit lower times upper, both kept in one array as LAPACK's GETRF and ``scipy.linalg.lu_factor`` do.

    Parameters
    ----------
    lu : array_like, shape (..., n, n)
    pivots : array_like of int, shape (n,), optional
        Row i was interchanged with row ``pivots[i]``, as scipy gives them; a single NumPy matrix only. Default: no interchanges.

    Returns
    -------
    array, shape (..., n, n)

    Examples
    --------
    >>> import numpy as np, tritri
    >>> tritri.lu_reconstruct(np.array([[4.0, 3.0], [0.5, 2.0]]))
    array([[4. , 3. ],
           [2. , 3.5]])
    """
    if pivots is None:
        return multiply(lu, lu, a_fill="lower", a_diag="unit", b_fill="upper", out=out, context=context)
    if not isinstance(lu, np.ndarray) or lu.ndim != 2:
        raise ValueError(f"lu_reconstruct: pivots: must be None but for a single NumPy matrix, got {type(lu).__name__} of shape {tuple(getattr(lu, 'shape', ()))}")
    pivots = np.asarray(pivots)
    if pivots.dtype.kind not in "iu" or pivots.shape != (min(lu.shape),):
        raise ValueError(f"lu_reconstruct: pivots: must be {min(lu.shape)} integers, got {pivots.dtype} of shape {pivots.shape}")
    if pivots.size and not 0 <= pivots.min() <= pivots.max() < len(lu):
        raise ValueError(f"lu_reconstruct: pivots: must be rows, 0 to {len(lu) - 1}, got {pivots.min() if pivots.min() < 0 else pivots.max()}")
    result = multiply(lu, lu, a_fill="lower", a_diag="unit", b_fill="upper", out=out, context=context)
    for i, pivot in reversed(list(enumerate(pivots.tolist()))):
        if pivot != i:
            result[[i, pivot]] = result[[pivot, i]]
    return result


def pack(a, fill: str = "lower") -> np.ndarray:
    """The elements inside a triangle, row after row without gaps.

    Parameters
    ----------
    a : numpy.ndarray, shape (..., m, n)
    fill : {"lower", "upper"}

    Returns
    -------
    numpy.ndarray, shape (..., elements of the trapezoid)

    Examples
    --------
    >>> import numpy as np, tritri
    >>> tritri.pack(np.array([[4.0, np.nan], [5.0, 6.0]]))
    array([4., 5., 6.])
    """
    a = np.asarray(a)
    if a.ndim < 2:
        raise ValueError(f"pack: a: must have at least 2 dimensions, got shape {a.shape}")
    rows, cols = _trapezoid_indices("pack", *a.shape[-2:], fill)
    return np.take(a.reshape(*a.shape[:-2], a.shape[-2] * a.shape[-1]), rows * a.shape[-1] + cols, axis=-1)


def unpack(packed, shape, fill: str = "lower") -> np.ndarray:
    """The matrix that `pack` packed, zeros outside the triangle.

    Parameters
    ----------
    packed : numpy.ndarray, shape (..., elements of the trapezoid)
    shape : tuple of int or int
        ``(m, n)``, or n for a square.
    fill : {"lower", "upper"}

    Returns
    -------
    numpy.ndarray, shape (..., m, n)

    Examples
    --------
    >>> import tritri
    >>> tritri.unpack([4.0, 5.0, 6.0], 2)
    array([[4., 0.],
           [5., 6.]])
    """
    packed = np.asarray(packed)
    try:
        m, n = (shape, shape) if isinstance(shape, (int, np.integer)) else map(operator.index, shape)
    except (TypeError, ValueError):
        raise ValueError(f"unpack: shape: must be (m, n), or n for a square, got {shape!r}") from None
    if m < 0 or n < 0:
        raise ValueError(f"unpack: shape: must have no negative size, got {shape!r}")
    rows, cols = _trapezoid_indices("unpack", m, n, fill)
    if packed.ndim < 1 or packed.shape[-1] != len(rows):
        raise ValueError(f"unpack: packed: must have {len(rows)} elements in its last dimension for a {fill} {m} x {n} matrix, got shape {packed.shape}")
    result = np.zeros((*packed.shape[:-1], m, n), packed.dtype)
    result[..., rows, cols] = packed
    return result
