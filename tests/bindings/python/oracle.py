"""What a product must be, in long double, and arrays whose forbidden elements are NaN."""
import numpy as np

DTYPES = ("float32", "float64", "complex64", "complex128")
FILLS = ("lower", "upper", "full")
OPS = ("N", "T", "C", "R")


def inside(shape, fill):
    i, j = np.indices(shape[-2:])
    return {"full": i >= 0, "lower": i >= j, "upper": i <= j}[fill]


def random(rng, shape, dtype):
    x = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    return x.astype(dtype)


def poison(x, fill="full", diag="nonunit"):
    """A copy of x with NaN wherever it must not be read."""
    x = np.where(inside(x.shape, fill), x, np.array(np.nan, x.dtype))
    if diag == "unit":
        k = np.arange(min(x.shape[-2:]))
        x[..., k, k] = np.nan
    return x


def operand(x, fill="lower", op="N", diag="nonunit"):
    """What op(x) means, zeros written out."""
    wide = np.where(inside(x.shape, fill), x.astype(np.clongdouble), 0)
    if diag == "unit":
        k = np.arange(min(x.shape[-2:]))
        wide[..., k, k] = 1
    if op in "TC":
        wide = np.swapaxes(wide, -1, -2)
    return wide.conj() if op in "CR" else wide


def product(a, b, *, a_fill="lower", b_fill="lower", a_op="N", b_op="N", a_diag="nonunit", b_diag="nonunit", alpha=1, beta=0, out=None, out_fill="full"):
    """The whole result; outside out_fill it is what `out` held, or zero."""
    result = alpha * (operand(a, a_fill, a_op, a_diag) @ operand(b, b_fill, b_op, b_diag))
    if beta != 0:
        result = result + beta * out.astype(np.clongdouble)
    outside = np.zeros_like(result) if out is None else out.astype(np.clongdouble)
    result = np.where(inside(result.shape, out_fill), result, outside)
    return result if np.iscomplexobj(a) else result.real


def tolerance(dtype, k=1):
    name = str(dtype)
    eps = {"float16": 1e-3, "bfloat16": 8e-3}.get(name) or float(np.finfo(dtype).eps)
    return 8 * eps * max(1, k)


def assert_close(got, want, k=None):
    got = np.asarray(got)
    want = np.asarray(want)
    assert got.shape == want.shape
    k = k or max(got.shape[-1:] + (1,))
    wide = got.astype(np.clongdouble) if got.dtype.kind == "c" else got.astype(np.longdouble)
    nan = np.isnan(want)
    assert np.array_equal(np.isnan(wide), nan)
    error = np.abs(np.where(nan, 0, wide) - np.where(nan, 0, want))
    scale = max(1.0, float(np.max(np.abs(np.where(nan, 0, want)), initial=0)))
    assert float(np.max(error, initial=0)) <= tolerance(got.dtype, k) * scale
