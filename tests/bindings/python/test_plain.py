"""The short way of a plain product (native.multiply_plain): taken where it may be, and the same result and the same refusals as on the long way."""
import itertools

import numpy as np
import pytest
from oracle import FILLS, OPS, assert_close, poison, product, random

import tritri
from tritri import product as module
from tritri._native import native

HOW = {
    "rows": np.ascontiguousarray,
    "columns": lambda x: np.ascontiguousarray(x.swapaxes(-1, -2)).swapaxes(-1, -2),
    "corner": lambda x: np.pad(x, [(0, 0)] * (x.ndim - 2) + [(1, 2), (3, 1)], constant_values=np.nan)[..., 1:-2, 3:-1],
}
KINDS = ["numpy", "torch"]


@pytest.fixture(params=KINDS)
def kind(request):
    """(to that library's arrays, and back)"""
    if request.param == "numpy":
        return (lambda x: x), (lambda x: x)
    torch = pytest.importorskip("torch", reason="needs PyTorch")
    return torch.from_numpy, lambda x: x.numpy()


@pytest.fixture
def short_only(monkeypatch):
    """The long way is closed."""
    def closed(*_):
        raise AssertionError("took the long way")
    monkeypatch.setattr(module, "_check_beside", closed)


@pytest.fixture
def outcomes(monkeypatch):
    """What native.multiply_plain answered."""
    answers, call = [], native.multiply_plain

    class Watched:
        def __getattr__(self, name):
            return getattr(native, name)

        def multiply_plain(self, *arguments):
            answers.append(call(*arguments))
            return answers[-1]
    monkeypatch.setattr(module, "native", Watched())
    return answers


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("how_a, how_out", list(itertools.product(HOW, HOW)))
def test_layouts_take_the_short_way(kind, short_only, rng, dtype, how_a, how_out):
    there, back = kind
    a, b, before = random(rng, (5, 7), dtype), random(rng, (4, 7), dtype), random(rng, (5, 4), dtype)
    options = dict(a_fill="lower", b_fill="upper", b_op="C", alpha=2, beta=-1, out_fill="lower")
    want = product(a, b, out=before, **options)
    out = there(HOW[how_out](before).copy() if how_out == "rows" else HOW[how_out](before))
    given = there(HOW[how_a](poison(a, "lower"))), there(poison(b, "upper"))
    assert tritri.multiply(*given, out=out, **options) is out
    assert_close(back(out), want, 7)
    fresh = tritri.multiply(*given, **{**options, "beta": 0})
    assert type(fresh) is type(out)
    assert_close(back(fresh), product(a, b, **{**options, "beta": 0}), 7)


@pytest.mark.parametrize("fill, op, diag", list(itertools.product(FILLS, OPS, ["nonunit", "unit"])))
def test_words_take_the_short_way(kind, short_only, rng, fill, op, diag):
    there, back = kind
    a = random(rng, (6, 6), "complex128")
    options = dict(a_fill=fill, a_op=op, a_diag=diag, b_fill="upper", out_fill=fill)
    assert_close(back(tritri.multiply(there(poison(a, fill, diag)), there(a), **options)), product(a, a, **options))


@pytest.mark.parametrize("a_batch, b_batch", [((3,), (3,)), ((3,), ()), ((), (3,)), ((1,), (3,)), ((1,), ())])
def test_batches_take_the_short_way(kind, short_only, rng, a_batch, b_batch):
    there, back = kind
    a, b = random(rng, (*a_batch, 4, 5), "float64"), random(rng, (*b_batch, 5, 6), "float64")
    assert_close(back(tritri.multiply(there(a), there(b), b_fill="full")), product(a, b, b_fill="full"))


def test_half_precision_takes_the_short_way(kind, short_only):
    there, back = kind
    a = np.arange(16).reshape(4, 4).astype(np.float16) % 3
    assert_close(back(tritri.multiply(there(a), there(a))), product(a.astype(np.float64), a.astype(np.float64)))


LONG = {
    "a row": ((1, 4), (4, 4)),
    "a column": ((4, 1), (1, 4)),
    "empty": ((0, 4), (4, 4)),
    "no sum": ((4, 0), (0, 4)),
    "four axes": ((2, 3, 4, 4), (3, 4, 4)),
}


@pytest.mark.parametrize("case", LONG)
def test_other_shapes_take_the_long_way(kind, outcomes, rng, case):
    there, back = kind
    a, b = (random(rng, shape, "float64") for shape in LONG[case])
    assert_close(back(tritri.multiply(there(a), there(b), a_fill="full", b_fill="full")), a @ b)
    assert True not in outcomes


OTHERS = {
    "strides": lambda x: np.repeat(x, 2, -1)[:, ::2],
    "backwards": lambda x: x[::-1],
    "overlapping lines": lambda x: np.lib.stride_tricks.as_strided(x, x.shape, (x.itemsize * 2, x.itemsize)),
    "expanded": lambda x: np.broadcast_to(x[:1], x.shape),
    "unaligned": lambda x: np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(x.dtype).reshape(x.shape),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_layouts_take_the_long_way(outcomes, rng, name):
    a, b = OTHERS[name](random(rng, (4, 4), "float64")), random(rng, (4, 4), "float64")
    assert_close(tritri.multiply(a, b, a_fill="full"), product(np.array(a), b, a_fill="full"))
    assert outcomes == [False]


@pytest.mark.parametrize("words, error", [
    (dict(b=np.eye(4, dtype="float32")), TypeError), (dict(b=np.eye(5)), ValueError), (dict(out=np.zeros((4, 5))), ValueError), (dict(b=np.eye(4).astype(">f8")), TypeError),
    (dict(out=np.zeros((1, 4, 4))), ValueError), (dict(out=np.zeros((4, 4), "float32")), TypeError), (dict(out=np.broadcast_to(np.zeros(4), (4, 4))), ValueError),
    (dict(b=np.eye(4, dtype=int)), TypeError), (dict(b=np.eye(4, dtype=object)), TypeError), (dict(beta=1), ValueError), (dict(b=np.eye(4).astype("longdouble")), TypeError),
])
def test_what_is_wrong_is_said_by_the_long_way(words, error):
    words = {"a": np.eye(4), "b": np.eye(4), **words}
    with pytest.raises(error, match="^multiply: "):
        tritri.multiply(**words)


def test_an_overlap_is_refused_by_the_library_on_the_short_way(outcomes):
    big = np.zeros(40)
    with pytest.raises(ValueError, match="tritri_multiply_host: c: "):
        tritri.multiply(big[:16].reshape(4, 4), np.eye(4), out=big[8:24].reshape(4, 4))
    assert outcomes == []


def test_numbers_are_told_apart(rng):
    """What a call's words stand for is kept; numbers that can change are not."""
    a = random(rng, (3, 3), "complex128")
    for alpha in (1, 2.0, 2j, np.float32(3), np.array(4.0), True):
        assert_close(tritri.multiply(a, a, alpha=alpha), product(a, a, alpha=complex(alpha)))
    changing = np.array(2.0)
    first = tritri.multiply(a, a, alpha=changing)
    changing[...] = 3
    assert_close(tritri.multiply(a, a, alpha=changing), first * 1.5)


def test_lazy_tensors_take_the_long_way(outcomes, rng):
    torch = pytest.importorskip("torch", reason="needs PyTorch")
    a = torch.from_numpy(random(rng, (4, 4), "complex128"))
    for lazy in (a.conj(), a.conj().imag):
        assert torch.allclose(tritri.multiply(lazy, lazy), torch.tril(lazy) @ torch.tril(lazy))
    assert outcomes == []


@pytest.mark.parametrize("name", ["to_sparse", "to_sparse_csr"])
def test_sparse_tensors_are_refused(name):
    torch = pytest.importorskip("torch", reason="needs PyTorch")
    sparse = getattr(torch.eye(4), name)()
    with pytest.raises(TypeError, match="multiply: a: must be a dense tensor"):
        tritri.multiply(sparse, sparse)


@pytest.mark.parametrize("how", [lambda x: x[:4, :4], lambda x: x[::2, ::2], lambda x: x[:1, :1]], ids=["plain", "strided", "line"])
def test_one_result_is_made(kind, rng, monkeypatch, how):
    """Also where the short way turns out not to be open."""
    to, back = kind
    a = how(to(random(rng, (8, 8), "float64")))
    made, family = [], type(module.common_family(a, a, None))
    empty = family.empty

    def counted(*arguments):
        made.append(empty(*arguments))
        return made[-1]
    monkeypatch.setattr(family, "empty", counted)
    result = tritri.multiply(a, a, a_fill="full", b_fill="full")
    assert len(made) == 1 and result is made[0]
    assert_close(back(result), back(a) @ back(a))
