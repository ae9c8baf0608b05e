"""Matrices in files: NumPy's .npy, and Matrix Market's .mtx through scipy."""
from __future__ import annotations

import pathlib

import click
import numpy as np

from ..arrays import numpy_arrays


def _scipy_io(path: pathlib.Path):
    try:
        import scipy.io
    except ImportError:
        raise click.ClickException(f"{path}: Matrix Market files need scipy, which is not installed: pip install scipy, or use .npy") from None
    return scipy.io


def read(name: str, dtype: str | None = None) -> np.ndarray:
    """A matrix from a file, in the dtype asked for or its own. Matrix Market's integers become float64."""
    path = pathlib.Path(name)
    if path.suffix not in (".npy", ".mtx"):
        raise click.ClickException(f"{path}: must end in .npy or .mtx, got {path.suffix or 'no ending'!r}")
    if not path.is_file():
        raise click.ClickException(f"{path}: must be a file, which it is not")
    try:
        if path.suffix == ".npy":
            matrix = np.load(path, allow_pickle=False)
        else:
            matrix = _scipy_io(path).mmread(path)
            matrix = matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix)
            if matrix.dtype.kind in "iu":
                matrix = matrix.astype(np.float64)
    except (ValueError, OSError, EOFError) as wrong:
        raise click.ClickException(f"{path}: cannot be read: {wrong}") from None
    if matrix.ndim < 2:
        raise click.ClickException(f"{path}: must hold a matrix, got {matrix.ndim} dimensions")
    if dtype is not None:
        return matrix.astype(dtype)
    try:
        numpy_arrays.dtype_code(matrix.dtype, "matrix")
    except TypeError:
        raise click.ClickException(f"{path}: must hold float32, float64, complex64, complex128 or float16, got {matrix.dtype}: "
                                   "pass --dtype float64") from None
    return matrix


def check_writable(name: str) -> None:
    """Before any work: whether `write` could write there."""
    path = pathlib.Path(name)
    if path.suffix not in (".npy", ".mtx"):
        raise click.ClickException(f"{path}: must end in .npy or .mtx, got {path.suffix or 'no ending'!r}")
    if not path.parent.is_dir():
        raise click.ClickException(f"{path}: must be in a folder that exists, which {path.parent} is not")
    if path.suffix == ".mtx":
        _scipy_io(path)


def write(name: str, matrix: np.ndarray) -> None:
    path = pathlib.Path(name)
    if path.suffix == ".npy":
        np.save(path, matrix)
    elif matrix.ndim != 2:
        raise click.ClickException(f"{path}: Matrix Market holds one matrix, got {matrix.ndim} dimensions: use .npy")
    else:
        _scipy_io(path).mmwrite(path, matrix.astype(np.float32) if matrix.dtype == np.float16 else matrix)
