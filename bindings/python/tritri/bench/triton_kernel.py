"""A plain Triton kernel for triangular products: the usual tiled GEMM with the range of k restricted by the fills. Imported where Triton is installed."""
from __future__ import annotations

import torch
import triton
import triton.language as tl

from .contenders import Absent
from .products import Mode, Product

_CODES = {"full": 0, "lower": 1, "upper": 2}
_PRECISIONS = {"default": "tf32x3", "pedantic": "ieee", "tf32": "tf32"}


@triton.jit(do_not_specialize=["a_fill", "b_fill", "c_fill"])
def _multiply(a, b, c, n, a_fill, b_fill, c_fill, TILE: tl.constexpr, STEP: tl.constexpr, EVEN: tl.constexpr, PRECISION: tl.constexpr, SUM: tl.constexpr):
    tiles = tl.cdiv(n, TILE)
    row = (tiles - 1 - tl.program_id(0) // tiles) * TILE  # the bottom rows of lower * lower have the longest sums
    col = (tl.program_id(0) % tiles) * TILE
    wanted = n > 0
    if c_fill == 1:
        wanted = col < row + TILE
    if c_fill == 2:
        wanted = row < col + TILE
    if wanted:
        begin, end = n * 0, n + 0  # of the type that they have in every branch
        if a_fill == 1:
            end = min(end, row + TILE)
        if a_fill == 2:
            begin = max(begin, row)
        if b_fill == 1:
            begin = max(begin, col)
        if b_fill == 2:
            end = min(end, col + TILE)
        rows, cols, steps = row + tl.arange(0, TILE), col + tl.arange(0, TILE), tl.arange(0, STEP)
        sums = tl.zeros((TILE, TILE), dtype=SUM)
        for k in range(begin, end, STEP):
            if EVEN:
                left = tl.load(a + rows[:, None].to(tl.int64) * n + (k + steps)[None, :])
                right = tl.load(b + (k + steps)[:, None].to(tl.int64) * n + cols[None, :])
            else:
                left = tl.load(a + rows[:, None].to(tl.int64) * n + (k + steps)[None, :], mask=(rows[:, None] < n) & ((k + steps)[None, :] < n), other=0)
                right = tl.load(b + (k + steps)[:, None].to(tl.int64) * n + cols[None, :], mask=((k + steps)[:, None] < n) & (cols[None, :] < n), other=0)
            sums = tl.dot(left, right, sums, input_precision=PRECISION, out_dtype=SUM)
        where = c + rows[:, None].to(tl.int64) * n + cols[None, :]
        if EVEN:
            tl.store(where, sums.to(c.dtype.element_ty))
        else:
            tl.store(where, sums.to(c.dtype.element_ty), mask=(rows[:, None] < n) & (cols[None, :] < n))


def check(product: Product, mode: Mode, batch: int) -> None:
    """Absent says what the kernel does not do."""
    if mode.dtype.startswith("complex"):
        raise Absent("Triton has no complex numbers")
    if batch > 1 or "T" in (product.a.op, product.b.op):
        raise Absent("this benchmark's Triton kernel has no batches and no transposition")


def call(product: Product, mode: Mode, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor):
    """The call that computes C from n x n tensors with zeros outside their fills."""
    n = a.shape[-1]
    # 128 x 128 tiles from where they fill a large card; the step in k moves 128 bytes of a row, 64 of float64.
    tile = 128 if n >= 1024 else 64
    step = {"float16": 64, "bfloat16": 64, "float32": 32, "float64": 16}[mode.dtype]
    grid, fills = (triton.cdiv(n, tile) ** 2,), [_CODES[x] for x in (product.a.fill, product.b.fill, product.out)]
    options = {"TILE": tile, "STEP": step, "EVEN": n % tile == 0, "PRECISION": _PRECISIONS[mode.compute], "SUM": tl.float64 if mode.dtype == "float64" else tl.float32,
               "num_warps": 8 if tile == 128 else 4, "num_stages": 3}

    def multiply():
        _multiply[grid](a, b, c, n, *fills, **options)
        return c

    return multiply
