"""Contexts and matrices: values, layouts, and lives in any order."""
import gc
import itertools

import numpy as np
import pytest
from oracle import DTYPES, FILLS, OPS, assert_close, inside, poison, product, random

import tritri


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("a_fill, b_fill", list(itertools.product(FILLS, FILLS)))
def test_five_steps(context, rng, dtype, a_fill, b_fill):
    a, b = poison(random(rng, (6, 5), dtype), a_fill), poison(random(rng, (5, 7), dtype), b_fill)
    with context.upload(a, fill=a_fill) as x, context.upload(b, fill=b_fill) as y, context.multiply(x, y) as z:
        assert z.shape == (6, 7) and z.dtype == dtype and z.fill == "full"
        assert_close(z.download(), product(a, b, a_fill=a_fill, b_fill=b_fill))


@pytest.mark.parametrize("a_op, b_op", list(itertools.product(OPS, OPS)))
def test_ops_alpha_and_unit_diagonals(context, rng, a_op, b_op):
    a, b = poison(random(rng, (5, 5), "complex128"), "lower", "unit"), poison(random(rng, (5, 5), "complex128"), "upper")
    x, y = context.upload(a, fill="lower", diag="unit"), context.upload(b, fill="upper")
    z = context.multiply(x, y, a_op=a_op, b_op=b_op, alpha=0.5 + 2j, out_fill="lower")
    assert_close(z.download(), product(a, b, b_fill="upper", a_diag="unit", a_op=a_op, b_op=b_op, alpha=0.5 + 2j, out_fill="lower"))


@pytest.mark.parametrize("order", ["row", "column"])
@pytest.mark.parametrize("fill", FILLS)
def test_beta_reads_the_result(context, rng, order, fill):
    a, before = random(rng, (4, 4), "float64"), random(rng, (4, 4), "float64")
    x, z = context.upload(a, fill="lower"), context.matrix((4, 4), "float64", fill, order)
    z.update(before)
    assert context.multiply(x, x, beta=3, out=z) is z
    assert_close(z.download(), np.where(inside((4, 4), fill), product(a, a, beta=3, out=before), 0))


@pytest.mark.parametrize("transform", [np.ascontiguousarray, np.asfortranarray, lambda x: np.repeat(x, 2, 1)[:, ::2], lambda x: x[::-1][::-1], lambda x: x.swapaxes(0, 1).swapaxes(0, 1)],
                         ids=["C", "F", "columns_apart", "twice_reversed", "swapped"])
@pytest.mark.parametrize("shape", [(4, 5), (3, 4, 5), (2, 3, 4, 5)])
def test_upload_and_download_round_trip(context, rng, transform, shape):
    array = transform(random(rng, shape, "float32"))
    matrix = context.upload(array)
    assert matrix.shape == shape
    assert np.array_equal(matrix.download(), array)


@pytest.mark.parametrize("fill", ["lower", "upper"])
@pytest.mark.parametrize("order", "CF")
def test_download_into_an_array_leaves_the_other_triangle(context, rng, fill, order):
    array = random(rng, (5, 5), "float64")
    out = np.full((10, 10), 777.0, order=order)
    matrix = context.upload(array, fill=fill)
    for target in (out[:5, :5], out[1::2, ::2]):
        assert matrix.download(target) is target
        assert np.array_equal(target, np.where(inside((5, 5), fill), array, 777))


def test_a_unit_diagonal_comes_back_as_ones(context):
    matrix = context.upload(np.array([[np.nan, np.nan], [5.0, np.nan]]), fill="lower", diag="unit")
    assert np.array_equal(matrix.download(), [[1, 0], [5, 1]])


def test_batched_matrices(context, rng):
    a, b = random(rng, (2, 3, 4, 4), "float64"), random(rng, (4, 4), "float64")
    z = context.multiply(context.upload(a, fill="lower"), context.upload(b, fill="upper"))
    assert z.shape == (2, 3, 4, 4)
    assert_close(z.download(), product(a, b, b_fill="upper"))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision(context, dtype):
    pytest.importorskip("ml_dtypes")
    array = np.arange(9).reshape(3, 3).astype(dtype)
    z = context.multiply(context.upload(array, fill="lower"), context.upload(array, fill="lower"))
    assert z.dtype == dtype
    assert np.array_equal(z.download().astype(float), np.tril(array.astype(float)) @ np.tril(array.astype(float)))


def test_wrap_writes_through(cpu, rng):
    a, out = random(rng, (4, 4), "float64"), np.full((6, 6), 777.0)
    cpu.multiply(cpu.wrap(a, fill="lower"), cpu.wrap(a, fill="lower"), out=cpu.wrap(out[:4, :4], fill="lower"))
    expected = np.full((6, 6), 777.0)
    expected[:4, :4] = np.where(inside((4, 4), "lower"), product(a, a), 777)
    assert_close(out, expected)


def test_wrap_keeps_its_array_alive(cpu):
    matrix = cpu.wrap(np.array([[4.0, 0.0], [5.0, 6.0]]), fill="lower")
    gc.collect()
    assert np.array_equal(cpu.multiply(matrix, matrix).download(), [[16, 0], [50, 36]])


def test_wrap_needs_unit_strides(cpu):
    with pytest.raises(ValueError, match="unit stride"):
        cpu.wrap(np.zeros((6, 6))[::2, ::2])


def test_update_allocates_nothing_and_keeps_the_address(context, rng):
    first, second = random(rng, (5, 5), "float64"), random(rng, (5, 5), "float64")
    matrix = context.upload(first, fill="upper")
    matrix.update(np.asfortranarray(second))
    assert np.array_equal(matrix.download(), np.triu(second))
    matrix.update(second[::-1][::-1])
    assert np.array_equal(matrix.download(), np.triu(second))


def test_verify_catches_one_wrong_element(context, rng):
    n = 500
    a = random(rng, (n, n), "float64")
    x, c = context.upload(a, fill="lower"), np.tril(a) @ np.tril(a)
    assert context.verify(x, x, context.upload(c, fill="lower")) < 1e-12
    c[377, 100] *= 1.001
    assert context.verify(x, x, context.upload(c, fill="lower")) > 1e-9
    c[377, 100] = np.nan
    assert context.verify(x, x, context.upload(c, fill="lower")) == np.inf


def test_explain_and_workspace(context):
    x = context.upload(np.eye(64), fill="lower")
    text = context.explain(x, x, context.matrix((64, 64)))
    assert f"device={context.device.partition(':')[0]}" in text and "flops=" in text
    assert context.workspace_size(x, x, context.matrix((64, 64))) >= 0


def test_device_info(context):
    info = context.device_info
    assert info["kind"] in ("cpu", "cuda") and info["memory_total"] > 0 and info["name"] and info["details"]
    assert tritri.devices()[0]["kind"] == "cpu"


# ---- lives


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_handles_go_in_any_order(order):
    context = tritri.Context("cpu")
    a = context.upload(np.eye(3), fill="lower")
    things = [context, a, context.multiply(a, a), context.matrix((3, 3))]
    for index in order:
        things[index].close()
        things[index].close()
    gc.collect()


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_finalisers_run_in_any_order(order):
    context = tritri.Context("cpu")
    things = {0: context, 1: context.upload(np.eye(3)), 2: context.matrix((3, 3))}
    del context
    for index in order:
        del things[index]
        gc.collect()


def test_a_matrix_outlives_the_with_block_of_its_context():
    with tritri.Context("cpu") as context:
        matrix = context.upload(np.eye(2))
    with pytest.raises(ValueError, match="Context: must be open, got a closed one"):
        matrix.download()
    assert matrix.shape == (2, 2)
    matrix.close()


CLOSED_CONTEXT = {
    "upload": lambda c, m: c.upload(np.eye(2)),
    "matrix": lambda c, m: c.matrix((2, 2)),
    "wrap": lambda c, m: c.wrap(np.eye(2)),
    "multiply": lambda c, m: c.multiply(m, m),
    "verify": lambda c, m: c.verify(m, m, m),
    "explain": lambda c, m: c.explain(m, m, m),
    "workspace_size": lambda c, m: c.workspace_size(m, m, m),
    "synchronize": lambda c, m: c.synchronize(),
    "device_info": lambda c, m: c.device_info,
    "enter": lambda c, m: c.__enter__(),
    "download": lambda c, m: m.download(),
    "update": lambda c, m: m.update(np.eye(2)),
    "tritri.multiply": lambda c, m: tritri.multiply(np.eye(2), np.eye(2), context=c),
}


@pytest.mark.parametrize("use", CLOSED_CONTEXT)
def test_a_closed_context_raises(use):
    context = tritri.Context("cpu")
    matrix = context.upload(np.eye(2))
    context.close()
    assert context.closed and "closed" in repr(context)
    with pytest.raises(ValueError, match="closed"):
        CLOSED_CONTEXT[use](context, matrix)


CLOSED_MATRIX = {
    "a": lambda c, m, g: c.multiply(m, g),
    "b": lambda c, m, g: c.multiply(g, m),
    "out": lambda c, m, g: c.multiply(g, g, out=m),
    "download": lambda c, m, g: m.download(),
    "update": lambda c, m, g: m.update(np.eye(2)),
    "verify": lambda c, m, g: c.verify(g, g, m),
    "enter": lambda c, m, g: m.__enter__(),
    "dlpack": lambda c, m, g: m.__dlpack__(),
}


@pytest.mark.parametrize("use", CLOSED_MATRIX)
def test_a_closed_matrix_raises(cpu, use):
    matrix, good = cpu.upload(np.eye(2)), cpu.upload(np.eye(2))
    matrix.close()
    assert matrix.closed and "closed" in repr(matrix)
    with pytest.raises(ValueError, match="Matrix: must be open, got a closed one"):
        CLOSED_MATRIX[use](cpu, matrix, good)


def test_a_context_that_was_never_made_goes_quietly():
    for _ in range(3):
        with pytest.raises(ValueError):
            tritri.Context("cpu", threads=5000)
    gc.collect()


def test_matrices_of_two_contexts_do_not_mix():
    with tritri.Context("cpu") as one, tritri.Context("cpu") as two:
        with pytest.raises(ValueError, match="must belong to this context"):
            one.multiply(one.upload(np.eye(2)), two.upload(np.eye(2)))


def test_ten_thousand_lives_leave_memory_flat():
    resource = pytest.importorskip("resource")
    array = np.eye(16)

    def live(times):
        for _ in range(times):
            with tritri.Context("cpu", threads=1) as context:
                context.multiply(context.upload(array), context.upload(array)).download()
        gc.collect()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = live(500)
    assert live(2000) - before < 4096  # KiB
