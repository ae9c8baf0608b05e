"""What is multiplied: products of matrices with fills, and the types and modes in which they are computed."""
from __future__ import annotations

import dataclasses
import re

import numpy as np

FLIPPED = {"lower": "upper", "upper": "lower", "full": "full"}


@dataclasses.dataclass(frozen=True)
class Operand:
    """One side of a product: what the stored matrix holds, and whether it is transposed."""

    fill: str
    op: str = "N"
    unit: bool = False

    @property
    def effective(self) -> str:
        """The fill after op."""
        return FLIPPED[self.fill] if self.op == "T" else self.fill

    @property
    def diag(self) -> str:
        return "unit" if self.unit else "nonunit"


@dataclasses.dataclass(frozen=True)
class Product:
    """``C := op(A) op(B)``; the name says it all, such as "lowerT*lower=lower"."""

    name: str
    a: Operand
    b: Operand
    out: str

    @property
    def structure(self) -> str:
        """Which triangle of C can differ from zero, or "full"."""
        return self.a.effective if self.a.effective == self.b.effective else "full"

    @property
    def cut(self) -> str:
        """The triangle that C is cut to by whoever computes all of it."""
        return self.structure if self.out == "full" else self.out

    @property
    def has_triangles(self) -> bool:
        return (self.a.fill, self.b.fill, self.cut) != ("full", "full", "full")

    @property
    def has_unit(self) -> bool:
        return self.a.unit or self.b.unit

    def useful_flops(self, n: int, dtype: str) -> float:
        """Operations on elements inside the fills: a multiply and an add for each k that matters to each element of C."""
        k = np.arange(n, dtype=np.float64)
        zero, end = np.zeros(n), np.full(n, float(n))
        # Column k of op(A) has the rows [r0, r1), row k of op(B) the columns [c0, c1).
        r0, r1 = {"lower": (k, end), "upper": (zero, k + 1), "full": (zero, end)}[self.a.effective]
        c0, c1 = {"lower": (zero, k + 1), "upper": (k, end), "full": (zero, end)}[self.b.effective]
        if self.out == "full":
            pairs = (r1 - r0) * (c1 - c0)
        elif self.out == "lower":
            pairs = _pairs_below(r1, c0, c1) - _pairs_below(r0, c0, c1)
        else:
            pairs = _pairs_below(c1, r0, r1) - _pairs_below(c0, r0, r1)
        return float(pairs.sum()) * (8 if dtype.startswith("complex") else 2)

    def least_bytes(self, n: int, dtype: str) -> float:
        """Every element inside a fill moved once."""
        triangle = n * (n + 1) / 2
        return ITEM[dtype] * sum(n * n if fill == "full" else triangle for fill in (self.a.fill, self.b.fill, self.out))


def _pairs_below(rows, c0, c1):
    """How many pairs (i, j) with i < rows, c0 <= j < c1 and j <= i there are."""
    length, width = np.maximum(rows - c0, 0), c1 - c0
    short = np.minimum(length, width)
    return short * (short + 1) / 2 + (length - short) * width


_NAME = re.compile(r"(unit-)?(lower|upper|full)(T?)\*(unit-)?(lower|upper|full)(T?)(?:=(lower|upper|full))?")


def parse(name: str) -> Product:
    """The product of a name; ValueError says how names are made."""
    match = _NAME.fullmatch(name)
    if not match or (match[1] and match[2] == "full") or (match[4] and match[5] == "full"):
        raise ValueError(f"must be such as lower*lower, unit-lower*upper or lowerT*lower=lower (of lower, upper and full), got {name!r}")
    return Product(name, Operand(match[2], match[3] or "N", bool(match[1])), Operand(match[5], match[6] or "N", bool(match[4])), match[7] or "full")


# The family that one routine covers: triangular products, LAUUM, LU and Cholesky rebuilt, TRMM, GEMMTR.
SEVEN = ("lower*lower", "upper*upper", "lowerT*lower=lower", "unit-lower*upper", "lower*lowerT=lower", "lower*full", "full*full=lower")

ITEM = {"float32": 4, "float64": 8, "complex64": 8, "complex128": 16, "float16": 2, "bfloat16": 2}
ROUNDOFF = {"float32": 2.0 ** -24, "float64": 2.0 ** -53, "complex64": 2.0 ** -24, "complex128": 2.0 ** -53, "float16": 2.0 ** -11, "bfloat16": 2.0 ** -8}


@dataclasses.dataclass(frozen=True)
class Mode:
    """An element type and how it is computed."""

    dtype: str
    compute: str = "default"

    @property
    def name(self) -> str:
        return self.dtype if self.compute == "default" else f"{self.dtype}-{self.compute}"

    def bound(self, k: int) -> float:
        """What |computed - exact| / (|A| |B|) stays below in every element of a sum over k."""
        if self.dtype in ("complex64", "complex128"):
            return 2 * 2 ** 0.5 * k * ROUNDOFF[self.dtype]  # 2 k real products in each part
        if self.dtype in ("float16", "bfloat16"):
            return ROUNDOFF[self.dtype] + 2 * k * ROUNDOFF["float32"]  # float32 sums of a tensor core truncate, then one rounding
        if self.compute == "tf32":
            return 2.0 ** -10 + 2 * k * ROUNDOFF["float32"]  # both inputs rounded to 11 bits
        return k * ROUNDOFF[self.dtype]


# The words for `Mode.bound` in tables: u is half the distance from 1 to the next number of the type.
BOUND_WORDS = {"float32": "k u", "float32-pedantic": "k u", "float32-tf32": "2^-10 + 2 k u", "float64": "k u", "complex64": "2.8 k u", "complex128": "2.8 k u",
               "float16": "2^-11 + 2 k u32", "bfloat16": "2^-8 + 2 k u32"}
MODES = {mode.name: mode for mode in (Mode("float32"), Mode("float32", "pedantic"), Mode("float32", "tf32"), Mode("float64"), Mode("complex64"), Mode("complex128"),
                                      Mode("float16"), Mode("bfloat16"))}
