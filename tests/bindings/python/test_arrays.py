"""NumPy arrays of every kind that callers have (cases.md B1, B2)."""
import numpy as np
import pytest
from oracle import DTYPES, FILLS, OPS, assert_close, inside, poison, product, random

import tritri

# Every way of holding an n x n matrix.
VIEWS = {
    "C": lambda x: np.ascontiguousarray(x),
    "F": lambda x: np.asfortranarray(x),
    "transposed": lambda x: np.ascontiguousarray(x.T).T,
    "every_second": lambda x: spread(x, 2, 2)[::2, ::2],
    "rows_apart": lambda x: spread(x, 3, 1)[::3],
    "columns_apart": lambda x: spread(x, 1, 3)[:, ::3],
    "rows_backwards": lambda x: np.ascontiguousarray(x[::-1])[::-1],
    "both_backwards": lambda x: np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1],
    "corner_of_a_big_one": lambda x: embedded(x),
    "column_order_corner": lambda x: embedded(x.T).T,
    "unaligned": lambda x: unaligned(x),
    "field_of_records": lambda x: records(x),
    "read_only": lambda x: read_only(x),
    "subclass": lambda x: np.ascontiguousarray(x).view(Mine),
}


class Mine(np.ndarray):
    pass


def spread(x, rows, cols):
    big = np.full((x.shape[0] * rows, x.shape[1] * cols), np.nan, x.dtype)
    big[::rows, ::cols] = x
    return big


def embedded(x):
    big = np.full((x.shape[0] + 3, x.shape[1] + 5), np.nan, x.dtype)
    big[1:x.shape[0] + 1, 2:x.shape[1] + 2] = x
    return big[1:x.shape[0] + 1, 2:x.shape[1] + 2]


def unaligned(x):
    raw = np.zeros(x.nbytes + 1, np.uint8)[1:]
    view = raw.view(x.dtype).reshape(x.shape)
    view[...] = x
    return view


def records(x):
    table = np.zeros(x.shape, np.dtype([("tag", np.int8), ("value", x.dtype)]))
    table["value"] = x
    return table["value"]


def read_only(x):
    x = np.ascontiguousarray(x)
    x.flags.writeable = False
    return x


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", VIEWS)
def test_B1_inputs_of_any_strides(rng, kind, dtype):
    values = poison(random(rng, (7, 7), dtype), "lower"), poison(random(rng, (7, 7), dtype), "upper")
    a, b = (VIEWS[kind](x) for x in values)
    result = tritri.multiply(a, b, b_fill="upper")
    assert type(result) is np.ndarray and result.dtype == dtype and result.flags.c_contiguous
    assert_close(result, product(*values, b_fill="upper"))


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("kind", ["C", "F", "transposed", "rows_backwards", "corner_of_a_big_one"])
def test_B1_strides_and_ops(rng, kind, op):
    values = poison(random(rng, (5, 5), "complex128"), "upper")
    a = VIEWS[kind](values)
    assert_close(tritri.multiply(a, a, a_fill="upper", b_fill="upper", a_op=op, b_op="C", alpha=1 - 2j),
                 product(values, values, a_fill="upper", b_fill="upper", a_op=op, b_op="C", alpha=1 - 2j))


@pytest.mark.parametrize("kind", [kind for kind in VIEWS if kind not in ("read_only", "subclass")])
@pytest.mark.parametrize("fill", FILLS)
def test_B2_out_of_any_strides_is_written_in_place(rng, kind, fill):
    a, b, before = (random(rng, (6, 6), "float64") for _ in range(3))
    out = VIEWS[kind](before.copy())
    assert tritri.multiply(a, b, alpha=2, beta=-1, out=out, out_fill=fill) is out
    assert_close(out, product(a, b, alpha=2, beta=-1, out=before, out_fill=fill))
    assert np.array_equal(out[~inside(out.shape, fill)], before[~inside(out.shape, fill)])


@pytest.mark.parametrize("kind", ["C", "F", "corner_of_a_big_one", "every_second"])
def test_B2_nan_in_out_is_not_read_when_beta_is_0(rng, kind):
    a = random(rng, (6, 6), "float32")
    out = VIEWS[kind](np.full((6, 6), np.nan, np.float32))
    tritri.multiply(a, a, out=out)
    assert_close(out, product(a, a))


@pytest.mark.parametrize("order", "CF")
def test_B2_the_rest_of_a_big_array_is_untouched(order):
    big = np.full((5, 6), 777.0, order=order)
    lower = np.array([[4.0, np.nan], [5.0, 6.0]])
    tritri.multiply(lower, lower, out=big[:2, :2])
    expected = np.full((5, 6), 777.0)
    expected[:2, :2] = [[16, 0], [50, 36]]
    assert np.array_equal(big, expected)


@pytest.mark.parametrize("which", ["a", "b", "both"])
def test_out_may_be_an_input(rng, which):
    a, b = random(rng, (9, 9), "float64"), random(rng, (9, 9), "float64")
    if which == "both":
        b = a
    want = product(a, b, b_fill="upper", out_fill="full")
    out = b if which == "b" else a
    assert tritri.multiply(a, b, b_fill="upper", out=out) is out
    assert_close(out, want)


def test_L_and_U_share_one_buffer_which_is_not_written():
    both = np.array([[4.0, 3.0], [0.5, 2.0]])
    before = both.copy()
    assert np.array_equal(tritri.multiply(both, both, a_diag="unit", b_fill="upper"), [[4, 3], [2, 3.5]])
    assert both.tobytes() == before.tobytes()


@pytest.mark.parametrize("shape_a, shape_b", [((0, 0), (0, 0)), ((0, 3), (3, 2)), ((2, 0), (0, 3)), ((2, 3), (3, 0)), ((0, 2, 3), (3, 4)), ((1, 1), (1, 1)), ((1, 5), (5, 1)), ((5, 1), (1, 5))])
@pytest.mark.parametrize("out_fill", FILLS)
def test_B1_thin_and_empty(rng, shape_a, shape_b, out_fill):
    a, b = random(rng, shape_a, "float64"), random(rng, shape_b, "float64")
    want = product(a, b, a_fill="full", b_fill="full", out_fill=out_fill)
    assert_close(tritri.multiply(a, b, a_fill="full", b_fill="full", out_fill=out_fill), want, k=5)
    out = np.zeros(want.shape)
    assert tritri.multiply(a, b, a_fill="full", b_fill="full", out_fill=out_fill, out=out) is out
    assert_close(out, want, k=5)


def test_inner_dimension_0_gives_beta_out():
    out = np.array([[1.0, 2.0], [3.0, 4.0]])
    tritri.multiply(np.zeros((2, 0)), np.zeros((0, 2)), beta=2, out=out)
    assert np.array_equal(out, [[2, 4], [6, 8]])


def test_strided_vectors_are_matrices(rng):
    column, row = random(rng, (12, 1), "float64")[::3], random(rng, (1, 12), "float64")[:, ::3]
    assert_close(tritri.multiply(column, row, a_fill="full", b_fill="full"), product(column, row, a_fill="full", b_fill="full"))
    assert_close(tritri.multiply(row, column, a_fill="full", b_fill="full"), product(row, column, a_fill="full", b_fill="full"))


def test_broadcast_rows_are_copied_once(rng):
    row = np.broadcast_to(random(rng, (1, 4), "float64"), (4, 4))
    assert_close(tritri.multiply(row, row), product(row, row))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("fill", FILLS)
def test_half_precision(rng, dtype, fill):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    kind = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else np.float16)
    a, b = (rng.integers(-3, 4, (8, 8)).astype(kind) for _ in range(2))
    result = tritri.multiply(a, b, a_fill=fill)
    assert result.dtype == kind
    assert np.array_equal(result.astype(np.float64), product(a.astype(np.float64), b.astype(np.float64), a_fill=fill).astype(np.float64))


NO_ARRAYS = [
    (np.eye(2, dtype=">f8"), "newbyteorder"),
    (np.eye(2, dtype=">c8"), "newbyteorder"),
    (np.eye(2, dtype=np.int64), "astype(numpy.float64)"),
    (np.eye(2, dtype=np.uint8), "astype(numpy.float64)"),
    (np.eye(2, dtype=bool), "astype(numpy.float64)"),
    (np.eye(2, dtype=object), "astype(numpy.float64)"),
    (np.eye(2, dtype=np.longdouble), "astype"),
    (np.array([["a", "b"], ["c", "d"]]), "astype"),
    (np.zeros((2, 2), "f4,f4"), "astype"),
    (np.ma.masked_array(np.eye(2), mask=np.eye(2)), "filled"),
    ([[1.0, 0.0], [2.0, 3.0]], "numpy.asarray"),
    (3.0, "numpy.asarray"),
    (None, "numpy.asarray"),
    ("matrix", "numpy.asarray"),
]


@pytest.mark.parametrize("where, array, advice", [(where, array, advice) for where in ("a", "b", "out") for array, advice in NO_ARRAYS
                                                  if not (where == "out" and array is None)])
def test_B1_what_is_no_array_of_ours_says_what_to_pass(where, array, advice):
    good = np.eye(2)
    arguments = {"a": good, "b": good, where: array}
    with pytest.raises(TypeError, match=where + ":") as wrong:
        tritri.multiply(arguments["a"], arguments["b"], out=arguments.get("out"))
    assert advice in str(wrong.value) or "same kind of array" in str(wrong.value)


def test_read_only_out_is_refused():
    with pytest.raises(ValueError, match="out: must be writable"):
        tritri.multiply(np.eye(2), np.eye(2), out=read_only(np.eye(2)))
