"""DLPack and __cuda_array_interface__, without a GPU: our matrices in NumPy's hands, and arrays of libraries that nobody has heard of."""
import gc
import sys
import weakref

import numpy as np
import pytest
from oracle import DTYPES, assert_close, product, random

import tritri


@pytest.mark.parametrize("dtype", [*DTYPES, "float16"])
@pytest.mark.parametrize("order", ["row", "column"])
@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (2, 5, 3, 4)])
def test_numpy_sees_a_matrix_without_a_copy(cpu, dtype, order, shape):
    matrix = cpu.matrix(shape, dtype, order=order)
    array = np.from_dlpack(matrix)
    assert array.shape == shape and array.dtype == dtype
    assert tuple(step // array.itemsize for step in array.strides) == matrix.strides
    values = np.arange(array.size).reshape(shape).astype(dtype)
    matrix.update(values)
    assert np.array_equal(array, values)


def test_the_memory_outlives_the_matrix(cpu):
    matrix = cpu.upload(np.arange(9.0).reshape(3, 3))
    array = np.from_dlpack(matrix)
    there = weakref.ref(matrix)
    del matrix
    gc.collect()
    assert there() is not None and np.array_equal(array, np.arange(9.0).reshape(3, 3))
    del array
    gc.collect()
    assert there() is None


def test_a_capsule_that_nobody_takes_lets_go(cpu):
    matrix = cpu.matrix((2, 2))
    before = sys.getrefcount(matrix)
    capsule = matrix.__dlpack__()
    assert sys.getrefcount(matrix) == before + 1
    del capsule
    assert sys.getrefcount(matrix) == before


def test_what_dlpack_cannot_do_is_a_buffer_error(cpu):
    matrix = cpu.matrix((2, 2))
    assert matrix.__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError, match="copy"):
        matrix.__dlpack__(copy=True)
    with pytest.raises(BufferError, match="dl_device"):
        matrix.__dlpack__(dl_device=(2, 0))
    assert not hasattr(matrix, "__cuda_array_interface__")


class Foreign:
    """An array of another library: memory behind __dlpack__ and nothing else."""

    def __init__(self, array, device=None):
        self.array = array
        self.device = device

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.device or self.array.__dlpack_device__()


class Standard(Foreign):
    """The same from a library that follows the array API standard."""

    def __array_namespace__(self, api_version=None):
        class Namespace:
            @staticmethod
            def from_dlpack(x):
                return Standard(np.from_dlpack(x))

        return Namespace


@pytest.mark.parametrize("kind", [Foreign, Standard])
@pytest.mark.parametrize("dtype", [*DTYPES, "float16"])
@pytest.mark.parametrize("transform", [np.ascontiguousarray, np.asfortranarray], ids=["C", "F"])
def test_foreign_arrays_in_host_memory(rng, kind, dtype, transform):
    a, b = (transform(random(rng, (5, 5), dtype)) for _ in range(2))
    result = tritri.multiply(kind(a), kind(b), b_fill="upper", out_fill="lower")
    assert type(result) is (Standard if kind is Standard else np.ndarray)
    assert_close(result.array if kind is Standard else result, product(a, b, b_fill="upper", out_fill="lower"))


def test_a_foreign_out_is_written_in_place(rng):
    a, out = random(rng, (4, 4), "float64"), np.full((4, 4), 777.0)
    target = Foreign(out)
    assert tritri.multiply(Foreign(a), Foreign(a), out=target, out_fill="lower") is target
    assert_close(out, np.where(np.tri(4, dtype=bool), product(a, a), 777))


def test_foreign_arrays_can_be_uploaded(cpu, rng):
    a = random(rng, (3, 4, 4), "float32")
    assert np.array_equal(cpu.upload(Foreign(a)).download(), a)


@pytest.mark.parametrize("array, kind, sentence", [
    (Foreign(np.zeros((4, 4))[::2, ::2]), TypeError, "pass a contiguous copy"),
    (Foreign(np.zeros((2, 2), np.int32)), TypeError, "DLPack type 0 of 32 bits"),
    (Foreign(np.zeros((2, 2)), (8, 0)), TypeError, "must be on the CPU or a CUDA device, got DLPack device (8, 0)"),
], ids=["strided", "integers", "another_device"])
def test_foreign_arrays_that_do_not_serve(array, kind, sentence):
    with pytest.raises(kind) as wrong:
        tritri.multiply(array, array)
    assert sentence in str(wrong.value)


def test_kinds_do_not_mix():
    with pytest.raises(TypeError, match="b: must be the same kind of array as a, numpy.ndarray, got Foreign"):
        tritri.multiply(np.eye(2), Foreign(np.eye(2)))
    with pytest.raises(TypeError, match="out: must be the same kind of array"):
        tritri.multiply(np.eye(2), np.eye(2), out=Foreign(np.eye(2)))


def test_the_cuda_array_interface_is_read_as_it_stands():
    from tritri.arrays.protocol_arrays import view_of_interface
    view = view_of_interface({"data": (4096, False), "shape": (2, 3), "typestr": "<f4", "strides": (4, 8), "version": 3, "stream": 7}, 1, "a", False)
    assert (view.address, view.shape, view.strides, view.place) == (4096, (2, 3), (1, 2), 1)
    assert view_of_interface({"data": (0, False), "shape": (4, 2, 3), "typestr": "<c16", "version": 3}, 0, "a", False).strides == (6, 3, 1)
    with pytest.raises(ValueError, match="out: must be writable"):
        view_of_interface({"data": (4096, True), "shape": (2, 2), "typestr": "<f4", "version": 3}, 0, "out", True)
    with pytest.raises(TypeError, match="other byte order"):
        view_of_interface({"data": (4096, True), "shape": (2, 2), "typestr": ">f4", "version": 3}, 0, "a", False)
