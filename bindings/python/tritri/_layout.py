"""Shapes and strides, in elements, as the library's descriptors say them. Pure arithmetic: no array library here."""
from __future__ import annotations

import itertools
import math

from ._words import COLUMN, FILLS, PACKED, ROW, STRIDED


def lines(rows: int, cols: int, row_stride: int, col_stride: int) -> tuple[int, int] | None:
    """(order, ld) of a matrix with these strides, or None if no leading dimension describes it."""
    if rows == 0 or cols == 0:
        return ROW, 0
    if col_stride == 1 or cols == 1:
        if rows == 1:
            return ROW, 0
        if row_stride >= cols:
            return ROW, row_stride
    if row_stride == 1 or rows == 1:
        if cols == 1:
            return COLUMN, 0
        if col_stride >= rows:
            return COLUMN, col_stride
    return None


def matrix_lines(shape, strides) -> tuple[int, int] | None:
    """(order, ld) of the last two axes; None also where strides are None: not whole elements, or not aligned."""
    return None if strides is None else lines(shape[-2], shape[-1], strides[-2], strides[-1])


def tight_strides(shape) -> tuple[int, ...]:
    """Strides of an array without gaps."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def is_tight(shape, strides) -> bool:
    """Whether an array has no gaps and lies in row order. Strides of axes that nobody steps along do not count."""
    return 0 in shape or (strides is not None and all(size == 1 or step == tight for size, step, tight in zip(shape, strides, tight_strides(shape))))


def descriptor(dtype: int, fill: int, diag: int, shape, order_ld: tuple[int, int], count: int = 1, batch_stride: int = 0) -> tuple:
    """The tuple that stands for a tritri_matrix_desc."""
    return dtype, fill, diag, order_ld[0], STRIDED, shape[-2], shape[-1], order_ld[1], count, batch_stride


def packed_elements(rows: int, cols: int, fill: int) -> int:
    """Elements of a packed trapezoid."""
    diagonal = min(rows, cols)
    rest = rows - cols if fill == FILLS["lower"] else cols - rows
    return diagonal * (diagonal + 1) // 2 + diagonal * max(0, rest)


def packed_descriptor(dtype: int, fill: int, diag: int, shape, order: int, batch) -> tuple:
    """The tuple of packed matrices, one behind the other."""
    count = math.prod(batch)
    return dtype, fill, diag, order, PACKED, *shape, 0, count, packed_elements(*shape, fill) if count > 1 else 0


def extent(rows: int, cols: int, order_ld: tuple[int, int]) -> int:
    """Elements from a matrix's first to one past its last."""
    count, length = (rows, cols) if order_ld[0] == ROW else (cols, rows)
    return (count - 1) * max(order_ld[1], length) + length if count and length else 0


def overlaps(shape, strides) -> bool:
    """Whether two elements of an array lie in one place. Of a layout that only counting could clear, only so much is counted."""
    if 0 in shape:  # NumPy gives an array without elements strides of 0
        return False
    axes = sorted((abs(step), size) for size, step in zip(shape, strides) if size > 1)
    reach = 0
    for step, size in axes:
        if step <= reach:
            break
        reach += (size - 1) * step
    else:
        return False
    places = math.prod(size for _, size in axes)
    if axes[0][0] == 0 or places > 2 ** 20:
        return True
    return len({sum(place) for place in itertools.product(*(range(0, size * step, step) for step, size in axes))}) < places


def broadcast(function: str, a, b):
    """The batch shape of a product, by NumPy's rules."""
    if a == b:
        return tuple(a)
    result = []
    for x, y in itertools.zip_longest(reversed(a), reversed(b), fillvalue=1):
        if x != y and x != 1 and y != 1:
            raise ValueError(f"{function}: b: leading dimensions must broadcast with a's {tuple(a)}, got {tuple(b)}")
        result.append(y if x == 1 else x)
    return tuple(reversed(result))


def _batch_strides(batch, shape, strides):
    """Strides of an operand over the product's batch axes, 0 where it is broadcast."""
    own = len(shape) - 2
    missing = len(batch) - own
    return [0] * missing + [0 if shape[i] == 1 else strides[i] for i in range(own)]


def walk(batch, operands, result_extent: int):
    """How to go through a batch with the library's single batch axis.

    `operands` are (shape, strides) of A, B and C. Gives the count and the three strides of the inner axis, and the three offsets of
    each outer step. Axes that lie evenly in all three operands are one axis.
    """
    columns = [_batch_strides(batch, shape, strides) for shape, strides in operands]
    axes = []  # (size, (stride in A, in B, in C)), outermost first
    for size, *steps in zip(batch, *columns):
        if size == 1:
            continue
        if axes and all(outer == size * inner for outer, inner in zip(axes[-1][1], steps)):
            axes[-1] = (axes[-1][0] * size, tuple(steps))
        else:
            axes.append((size, tuple(steps)))
    count, inner = 1, (0, 0, 0)
    if axes and axes[-1][1][2] >= result_extent and min(axes[-1][1]) >= 0:
        count, inner = axes.pop()
    offsets = [tuple(sum(i * steps[operand] for i, (_, steps) in zip(index, axes)) for operand in range(3))
               for index in itertools.product(*(range(size) for size, _ in axes))]
    return count, inner, offsets


def even_batch(shape, strides) -> tuple[int, int] | None:
    """(count, stride) of the leading axes as one axis, or None if they do not lie evenly."""
    count, stride = 1, 0
    for size, step in zip(reversed(shape[:-2]), reversed(strides[:-2])):
        if size == 1:
            continue
        if count == 1:
            stride = step
        elif step != stride * count:
            return None
        count *= size
    return count, stride
