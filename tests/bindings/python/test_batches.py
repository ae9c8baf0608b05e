"""Leading dimensions broadcast by NumPy's rules."""
import numpy as np
import pytest
from oracle import assert_close, product, random

import tritri

SHAPES = [((3,), (3,)), ((3,), ()), ((), (3,)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((2, 3), (2, 3)), ((1, 1), (2, 3)), ((2, 1, 4), (3, 1)), ((0,), (0,)), ((0,), (1,)),
          ((2, 0), (0,)), ((1,), (1,))]


@pytest.mark.parametrize("batch_a, batch_b", SHAPES)
@pytest.mark.parametrize("out_fill", ["full", "lower"])
def test_broadcasting(rng, batch_a, batch_b, out_fill):
    a, b = random(rng, (*batch_a, 4, 5), "float64"), random(rng, (*batch_b, 5, 3), "float64")
    result = tritri.multiply(a, b, a_fill="upper", out_fill=out_fill)
    assert result.shape == (*np.broadcast_shapes(batch_a, batch_b), 4, 3)
    assert_close(result, product(a, b, a_fill="upper", out_fill=out_fill), k=5)


VIEWS = {
    "swapped_batch_axes": lambda x: np.ascontiguousarray(x.swapaxes(0, 1)).swapaxes(0, 1),
    "backwards": lambda x: np.ascontiguousarray(x[::-1])[::-1],
    "every_second": lambda x: np.repeat(x, 2, axis=0)[::2],
    "matrices_last": lambda x: np.ascontiguousarray(np.moveaxis(x, (0, 1), (2, 3))).transpose(2, 3, 0, 1),
    "broadcast": lambda x: np.broadcast_to(x[:1], x.shape),
    "transposed_matrices": lambda x: np.ascontiguousarray(x.swapaxes(2, 3)).swapaxes(2, 3),
}


@pytest.mark.parametrize("view", VIEWS)
def test_batches_of_any_strides(rng, view):
    a, b = VIEWS[view](random(rng, (2, 3, 4, 4), "complex64")), random(rng, (3, 4, 4), "complex64")
    assert_close(tritri.multiply(a, b, b_op="C"), product(a, b, b_op="C"))


@pytest.mark.parametrize("view", [name for name in VIEWS if name != "broadcast"])
def test_out_of_any_strides(rng, view):
    a, b, before = (random(rng, (2, 3, 4, 4), "float64") for _ in range(3))
    out = VIEWS[view](before.copy())
    tritri.multiply(a, b, beta=2, out=out, out_fill="upper")
    assert_close(out, product(a, b, beta=2, out=before, out_fill="upper"))


def test_in_place(rng):
    a = random(rng, (2, 3, 4, 4), "float64")
    want = product(a, a)
    tritri.multiply(a, a, out=a)
    assert_close(a, want)


def test_in_place_with_axes_that_are_no_single_batch(rng):
    a = random(rng, (3, 2, 4, 4), "float64").swapaxes(0, 1)
    want = product(a, a)
    tritri.multiply(a, a, out=a)
    assert_close(a, want)


def test_many_small_matrices():
    a = np.tile(np.array([[2.0, np.nan], [1.0, 3.0]]), (65537, 1, 1))
    assert np.array_equal(tritri.multiply(a, a, a_op="T")[-1], [[5, 3], [3, 9]])


def test_shapes_that_do_not_broadcast():
    with pytest.raises(ValueError, match=r"leading dimensions must broadcast with a's \(2,\), got \(3,\)"):
        tritri.multiply(np.zeros((2, 4, 4)), np.zeros((3, 4, 4)))
