"""Products of some rows in more than the type's own precision. Written for NumPy and PyTorch alike: `xp` is the library of the arrays."""
from __future__ import annotations

import dataclasses


@dataclasses.dataclass
class Rows:
    """Rows of a product: exactly `high` + `low`, and `scale`, the same rows of |A| |B|."""

    high: object
    low: object
    scale: object

    def difference(self, computed):
        """What `computed`, of the same shape, is off by."""
        return (computed - self.high) - self.low


def exact_rows(xp, a, b, narrow: bool) -> Rows:
    """`a` (rows x k) times `b` (k x n), both float64 or complex128.

    `narrow`: the numbers came from a type of at most 24 bits, so that float64 arithmetic is exact enough as it is. Otherwise `a` and `b` are cut after 18 bits
    below their largest element in a row or column; the products of the leading parts then have no rounding error at all for k up to 2^17 (36 bits and the
    sum's growth fit into 53), and those of the rest are 2^17 times smaller than the result.
    """
    scale = xp.abs(a) @ xp.abs(b)
    if narrow:
        high = a @ b
        return Rows(high, xp.zeros_like(high), scale)
    if "complex" in str(a.dtype):
        real = exact_rows(xp, xp.concatenate((a.real, -a.imag), 1), xp.concatenate((b.real, b.imag), 0), False)
        imag = exact_rows(xp, xp.concatenate((a.real, a.imag), 1), xp.concatenate((b.imag, b.real), 0), False)
        return Rows(real.high + 1j * imag.high, real.low + 1j * imag.low, scale)
    a_lead, b_lead = _leading(xp, a, 1), _leading(xp, b, 0)
    return Rows(a_lead @ b_lead, a_lead @ (b - b_lead) + (a - a_lead) @ b, scale)


def _leading(xp, x, axis: int):
    # Adding and subtracting a number whose last bit is worth the 18th of the largest element rounds to that bit.
    pivot = xp.amax(xp.abs(x), axis=axis, keepdims=True) * 2.0 ** 35
    return (x + pivot) - pivot


def norm(xp, x) -> float:
    """The square root of the sum of squares of the magnitudes."""
    magnitude = xp.abs(x)
    largest = float(magnitude.max()) if len(magnitude) else 0.0
    return largest * float(((magnitude / largest) ** 2).sum()) ** 0.5 if largest else 0.0
