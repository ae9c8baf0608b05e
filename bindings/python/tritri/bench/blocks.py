"""A triangular product as GEMMs over blocks that are not all zero: what one writes today where GEMM is fast and TRMM is not."""
from __future__ import annotations

import dataclasses

from .products import Product


@dataclasses.dataclass(frozen=True)
class Gemm:
    """C[rows, cols] (+)= op(A)[rows, k] op(B)[k, cols]; each a half-open range."""

    rows: tuple[int, int]
    cols: tuple[int, int]
    k: tuple[int, int]


FORMS = ("strips", "squares", "panels")


def gemms(product: Product, n: int, block: int, form: str) -> list[Gemm]:
    """The GEMMs of one way to cut the work.

    strips: one for each block of rows of C. squares: one for each block of C. Panels: one for each block of k, adding to a C that starts as zeros.
    """
    edges = [(i, min(i + block, n)) for i in range(0, n, block)]
    if form == "panels":
        return [Gemm(*_reach(product, n, k), k) for k in edges]
    if form == "strips":
        return [gemm for rows in edges for gemm in _of_block(product, n, rows, _columns(product, n, rows))]
    return [gemm for rows in edges for cols in edges for gemm in _of_block(product, n, rows, cols)]


def _reach(product: Product, n: int, k: tuple[int, int]) -> tuple[tuple[int, int], tuple[int, int]]:
    """The rows and the columns that a block of k contributes to."""
    rows = {"lower": (k[0], n), "upper": (0, k[1]), "full": (0, n)}[product.a.effective]
    cols = {"lower": (0, k[1]), "upper": (k[0], n), "full": (0, n)}[product.b.effective]
    return rows, cols


def _columns(product: Product, n: int, rows: tuple[int, int]) -> tuple[int, int]:
    """The columns of C within some rows that can differ from zero and are wanted."""
    begin, end = 0, n
    if "lower" in (product.structure, product.out):
        end = rows[1]
    if "upper" in (product.structure, product.out):
        begin = rows[0]
    return begin, end


def _of_block(product: Product, n: int, rows, cols) -> list[Gemm]:
    begin, end = 0, n
    if product.a.effective == "lower":
        end = min(end, rows[1])
    if product.a.effective == "upper":
        begin = max(begin, rows[0])
    if product.b.effective == "lower":
        begin = max(begin, cols[0])
    if product.b.effective == "upper":
        end = min(end, cols[1])
    unwanted = (product.out == "lower" and cols[0] >= rows[1]) or (product.out == "upper" and rows[0] >= cols[1])
    return [] if begin >= end or unwanted else [Gemm(rows, cols, (begin, end))]
