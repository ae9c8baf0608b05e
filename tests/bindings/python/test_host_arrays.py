"""Arrays in memory of the library's own (Context.host_array): they keep it alive, in any order of closing and collecting."""
import gc
import sys
import threading

import numpy as np
import pytest
from oracle import assert_close, product, random

import tritri


def resident():
    with open("/proc/self/statm") as numbers:
        return 4096 * int(numbers.read().split()[1])


@pytest.mark.parametrize("dtype", ["float32", np.float64, np.dtype("complex64"), "complex128", "float16", "bfloat16"])
@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), 5, (), (0, 3), [2, 2]])
def test_shapes_and_dtypes(context, dtype, shape):
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    array = context.host_array(shape, dtype)
    assert type(array) is np.ndarray and array.shape == ((5,) if shape == 5 else tuple(shape))
    assert array.dtype.name == np.dtype(array.dtype).name == (dtype if isinstance(dtype, str) else np.dtype(dtype).name)
    assert array.flags.writeable and array.flags.aligned and array.flags.c_contiguous
    array[...] = 3
    assert (array == 3).all()


def test_round_trip(context, rng):
    host = context.host_array((40, 40))
    host[...] = random(rng, (40, 40), "float64")
    before = host.copy()
    matrix = context.upload(host, fill="lower")
    out = context.host_array((40, 40))
    assert context.multiply(matrix, matrix).download(out=out) is out
    assert_close(out, product(before, before))
    assert_close(tritri.multiply(host, host, out=host, context=context), product(before, before))


def test_views_keep_the_memory(context):
    view = context.host_array((1000, 1000))[10:, 10:]
    view[...] = 7
    gc.collect()
    other = context.host_array((1000, 1000))
    other[...] = 8
    assert (view == 7).all()


@pytest.mark.parametrize("order", ["context first", "array first", "context deleted"])
def test_any_order(order):
    context = tritri.Context("cpu")
    array = context.host_array((8, 8))
    if order == "array first":
        del array
        context.close()
        return
    if order == "context first":
        context.close()
        context.close()
        with pytest.raises(ValueError, match="Context: must be open"):
            context.host_array((2, 2))
    del context
    gc.collect()
    array[...] = 1
    assert array.sum() == 64
    del array
    gc.collect()


def test_two_arrays_of_a_closed_context():
    context = tritri.Context("cpu")
    arrays = [context.host_array((100, 100)) for _ in range(3)]
    context.close()
    assert context._parting is not None
    while arrays:
        arrays.pop()
    assert context._parting is None and context.closed


def test_memory_comes_back(context):
    before = resident()
    for _ in range(100):
        context.host_array((1 << 22,))[...] = 1  # 32 MB
    assert resident() - before < 200 << 20


def test_other_threads_may_drop_it(context):
    arrays = [context.host_array((64, 64)) for _ in range(20)]
    a = np.tril(np.ones((200, 200)))

    def drop():
        while arrays:
            arrays.pop()
    dropper = threading.Thread(target=drop)
    dropper.start()
    for _ in range(20):
        tritri.multiply(a, a, context=context)
    dropper.join()
    assert context._host_blocks == 0


@pytest.mark.parametrize("arguments, error, sentence", [
    (((-1, 2),), ValueError, "host_array: shape: must have no negative size, got (-1, 2)"),
    (((2 ** 40, 2 ** 40),), MemoryError, "host_array: shape: must fit in memory, got (1099511627776, 1099511627776)"),
    (((2 ** 30, 2 ** 29),), MemoryError, "tritri_host_allocate: memory: the host must have room for 4611686018427387904 bytes"),
    (((2.5, 2),), TypeError, "host_array: shape: must be an int or a tuple of ints, got (2.5, 2)"),
    (((2, 2), "int32"), TypeError, "host_array: dtype: must be float32, float64, complex64, complex128, float16 or bfloat16, got 'int32'"),
    (((2, 2), object), TypeError, "host_array: dtype: must be float32"),
    (((2, 2), "float1"), TypeError, "host_array: dtype: must be float32"),
])
def test_what_is_refused(cpu, arguments, error, sentence):
    with pytest.raises(error) as wrong:
        cpu.host_array(*arguments)
    assert sentence in str(wrong.value)
    assert cpu._host_blocks == 0


def test_a_cycle_that_holds_everything():
    context = tritri.Context("cpu")
    context.array, context.me = context.host_array((10, 10)), context
    del context
    assert gc.collect() > 0


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
def test_exit_with_an_array_open():
    import subprocess
    code = "import tritri; c = tritri.Context('cpu'); a = c.host_array((3, 3)); c.a = a; c.close()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stderr == ""
