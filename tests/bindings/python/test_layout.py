"""Shapes and strides into descriptors: pure arithmetic, checked by walking over every element."""
import itertools

import numpy as np
import pytest
from tritri import _layout
from tritri._words import COLUMN, ROW


@pytest.mark.parametrize("rows, cols, strides, want", [
    (3, 4, (4, 1), (ROW, 4)), (3, 4, (9, 1), (ROW, 9)), (3, 4, (1, 3), (COLUMN, 3)), (3, 4, (1, 7), (COLUMN, 7)),
    (1, 4, (99, 1), (ROW, 0)), (1, 4, (99, 5), (COLUMN, 5)), (4, 1, (5, 99), (ROW, 5)), (1, 1, (-3, -7), (ROW, 0)), (0, 4, (0, 0), (ROW, 0)), (4, 0, (0, 0), (ROW, 0)),
    (3, 4, (3, 1), None), (3, 4, (0, 1), None), (3, 4, (-4, 1), None), (3, 4, (4, -1), None), (3, 4, (8, 2), None), (3, 4, (1, 2), None), (4, 1, (-1, 1), None),
    (1, 4, (1, -1), None),
])
def test_lines(rows, cols, strides, want):
    got = _layout.lines(rows, cols, *strides)
    assert got == want
    if got is not None and rows and cols:
        order, ld = got
        length = cols if order == ROW else rows
        for i, j in itertools.product(range(rows), range(cols)):
            line, position = (i, j) if order == ROW else (j, i)
            assert line * (ld or length) + position == i * strides[0] * (rows > 1) + j * strides[1] * (cols > 1)


@pytest.mark.parametrize("batch, a, b, c", [
    ((), (), (), ()), ((4,), (12,), (0,), (20,)), ((2, 3), (36, 12), (0, 12), (60, 20)), ((2, 3), (36, 12), (36, 12), (60, 20)), ((2, 3), (12, 24), (36, 12), (60, 20)),
    ((2, 1, 3), (36, 0, 12), (36, 5, 12), (60, 7, 20)), ((3,), (-12,), (12,), (20,)), ((3,), (12,), (12,), (4,)), ((2, 2, 2), (8, 4, 2), (80, 40, 20), (80, 40, 20)),
])
def test_walk_meets_every_matrix_once(batch, a, b, c):
    operands = [(batch + (4, 5), strides + (5, 1)) for strides in (a, b, c)]
    count, inner, offsets = _layout.walk(batch, operands, 20)
    met = sorted(tuple(start + i * step for start, step in zip(offset, inner)) for offset in offsets for i in range(count))
    want = sorted(tuple(sum(i * s for i, s, size in zip(index, strides, batch) if size > 1) for strides in (a, b, c))
                  for index in itertools.product(*map(range, batch)))
    assert met == want
    assert count == 1 or (inner[2] >= 20 and min(inner) >= 0)


def test_walk_leaves_an_even_batch_to_the_library():
    operands = [((2, 3, 4, 4), (48, 16, 4, 1))] * 3
    assert _layout.walk((2, 3), operands, 16) == (6, (16, 16, 16), [(0, 0, 0)])


@pytest.mark.parametrize("shape, strides, want", [((4, 4), (4, 1), (1, 0)), ((3, 4, 4), (16, 4, 1), (3, 16)), ((2, 3, 4, 4), (48, 16, 4, 1), (6, 16)),
                                                  ((2, 3, 4, 4), (16, 32, 4, 1), None), ((1, 3, 4, 4), (999, 16, 4, 1), (3, 16)), ((3, 1, 4, 4), (16, 999, 4, 1), (3, 16))])
def test_even_batch(shape, strides, want):
    assert _layout.even_batch(shape, strides) == want


@pytest.mark.parametrize("a, b", [((), ()), ((3,), ()), ((1, 3), (2, 1)), ((5, 1, 3), (2, 3)), ((0,), (1,))])
def test_broadcast_is_numpy_s(a, b):
    assert _layout.broadcast("f", a, b) == np.broadcast_shapes(a, b)


@pytest.mark.parametrize("shape, strides, want", [((2, 3), (3, 1), True), ((2, 3), (4, 1), False), ((1, 3), (99, 1), True), ((3, 1), (1, -7), True), ((3,), (-1,), False),
                                                  ((3,), (0,), False), ((0, 3), (0, 0), True), ((0,), (8,), True), ((), (), True), ((3,), None, False)])
def test_is_tight(shape, strides, want):
    assert _layout.is_tight(shape, strides) is want


@pytest.mark.parametrize("shape, strides, want", [((2, 3), (3, 1), False), ((2, 3), (2, 1), True), ((2, 3), (-3, -1), False), ((2, 3), (0, 1), True), ((1, 3), (0, 1), False),
                                                  ((0, 3), (0, 0), False), ((2, 0, 3), (0, 0, 0), False)])
def test_overlaps(shape, strides, want):
    assert _layout.overlaps(shape, strides) is want
