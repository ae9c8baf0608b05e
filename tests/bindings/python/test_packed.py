"""Packed triangles on the device: in from packed and from other arrays, out as either, and products of every mix."""
import itertools

import numpy as np
import pytest
from oracle import DTYPES, assert_close, inside, poison, product, random

import tritri

TRIANGLES = ("lower", "upper")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("fill", TRIANGLES)
@pytest.mark.parametrize("shape", [(5, 5), (6, 3), (3, 6), (2, 4, 4), (2, 3, 4, 4), (1, 1), (0, 0), (3, 0, 4), (2, 3, 4, 0)])
def test_round_trips(context, rng, dtype, fill, shape):
    array = random(rng, shape, dtype)
    packed = tritri.pack(array, fill)
    whole = np.where(inside(shape, fill), array, 0)
    with context.upload(packed, fill=fill, packed=shape[-2:]) as matrix:
        assert matrix.packed and matrix.shape == shape and " packed " in repr(matrix)
        assert np.array_equal(matrix.download(packed=True), packed)
        assert np.array_equal(matrix.download(), whole)
        out = np.zeros(packed.shape, dtype)
        assert matrix.download(out, packed=True) is out and np.array_equal(out, packed)
    strided = context.upload(poison(array, fill), fill=fill)
    assert not strided.packed and np.array_equal(strided.download(packed=True), packed)


@pytest.mark.parametrize("fill", TRIANGLES)
@pytest.mark.parametrize("packed_target, packed_source", list(itertools.product([False, True], repeat=2)))
def test_updates_of_every_mix(context, rng, fill, packed_target, packed_source):
    array = random(rng, (3, 5, 5), "float64")
    matrix = context.matrix((3, 5, 5), "float64", fill, packed=packed_target)
    matrix.update(tritri.pack(array, fill) if packed_source else poison(array, fill), packed=packed_source)
    assert np.array_equal(matrix.download(), np.where(inside(array.shape, fill), array, 0))


@pytest.mark.parametrize("a_fill, b_fill, out_fill", list(itertools.product(TRIANGLES, repeat=3)))
@pytest.mark.parametrize("order", ["row", "column"])
def test_products(context, rng, a_fill, b_fill, out_fill, order):
    a, b = random(rng, (4, 6, 6), "complex128"), random(rng, (6, 6), "complex128")
    x, y = context.upload(tritri.pack(a, a_fill), fill=a_fill, packed=6), context.upload(b, fill=b_fill)
    z = context.matrix((4, 6, 6), "complex128", out_fill, order, packed=True)
    context.multiply(x, y, b_op="C", out=z)
    want = product(a, b, a_fill=a_fill, b_fill=b_fill, b_op="C", out_fill=out_fill)
    assert_close(z.download(), want)
    assert_close(context.multiply(x, y, b_op="C", out_fill=out_fill).download(), want)
    assert context.verify(x, y, z, b_op="C") < 1e-14


def test_a_unit_diagonal(context, rng):
    a = random(rng, (5, 5), "float64")
    packed = tritri.pack(poison(a, "lower", "unit"))
    with context.upload(packed, fill="lower", diag="unit", packed=5) as matrix:
        assert_close(context.multiply(matrix, matrix).download(), product(a, a, a_diag="unit", b_diag="unit"))
        assert np.array_equal(matrix.download(packed=True), tritri.pack(np.where(np.eye(5), 1, a)))


def test_packed_arrays_with_gaps_are_copied(context, rng):
    a = random(rng, (3, 4, 4), "float32")
    wide = np.repeat(tritri.pack(a), 2, axis=-1)[:, ::2]
    assert np.array_equal(context.upload(wide, fill="lower", packed=4).download(packed=True), wide)


def test_other_libraries_see_the_elements(cpu, rng):
    a = random(rng, (3, 4, 4), "float64")
    matrix = cpu.upload(tritri.pack(a), fill="lower", packed=4)
    assert np.array_equal(np.from_dlpack(matrix), tritri.pack(a))
    with pytest.raises(ValueError, match="Matrix: strides: need storage with a leading dimension, got a packed matrix"):
        matrix.strides


REFUSED = [
    (lambda c: c.upload(np.zeros(6), packed=3), ValueError, "upload: fill: must be 'lower' or 'upper' for packed matrices, got 'full'"),
    (lambda c: c.upload(np.zeros(5), fill="lower", packed=3), ValueError, "upload: array: must have shape (..., 6) for packed lower 3 x 3 matrices, got (5,)"),
    (lambda c: c.upload(np.zeros((0, 6)), fill="lower", packed=3), ValueError, "got (0, 6)"),
    (lambda c: c.upload(np.zeros(6, int), fill="lower", packed=3), TypeError, "upload: array: dtype must be float32"),
    (lambda c: c.upload(np.zeros(6), fill="lower", packed=(3, 3, 3)), ValueError, "upload: packed: must be (rows, columns) or the size of a square, got (3, 3, 3)"),
    (lambda c: c.upload(np.zeros(6), fill="lower", packed=-3), ValueError, "upload: packed: must be (rows, columns)"),
    (lambda c: c.upload(np.zeros(6), fill="lower", packed=True + 0.5), TypeError, "upload: shape: must be an int or a tuple of ints"),
    (lambda c: c.matrix((3, 3), packed=True), ValueError, "matrix: fill: must be 'lower' or 'upper' for packed matrices, got 'full'"),
    (lambda c: c.matrix((3, 3), fill="lower").download(np.zeros(5), packed=True), ValueError, "download: out: must have shape (..., 6)"),
    (lambda c: c.matrix((3, 3), fill="lower").download(np.zeros(12)[::2], packed=True), ValueError, "download: out: must lie without gaps in row order, got strides (2,)"),
    (lambda c: c.matrix((3, 3), fill="lower").download(np.broadcast_to(0.0, 6), packed=True), ValueError, "download: out: must be writable"),
    (lambda c: c.matrix((3, 3), fill="lower").update(np.zeros(6, "f4"), packed=True), ValueError, "dtype must be the matrix's float64, got float32"),
    (lambda c: c.matrix((2, 3, 3), fill="lower").update(np.zeros((3, 6)), packed=True), ValueError, "update: array: must have the matrix's leading dimensions (2,), got (3,)"),
    (lambda c: c.matrix((3, 3)).update(np.zeros(6), packed=True), ValueError, "update: packed: needs a matrix with fill 'lower' or 'upper', got 'full'"),
    (lambda c: c.matrix((3, 3)).download(packed=True), ValueError, "download: packed: needs a matrix with fill 'lower' or 'upper', got 'full'"),
]


@pytest.mark.parametrize("call, error, sentence", REFUSED)
def test_what_is_refused(context, call, error, sentence):
    with pytest.raises(error) as wrong:
        call(context)
    assert sentence in str(wrong.value)
