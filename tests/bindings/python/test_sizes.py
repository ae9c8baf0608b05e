"""2^31 + 1 through every size that Python passes on (cases.md B3), and allocation failures (B6)."""
import numpy as np
import pytest
from tritri._native import native

import tritri

BIG = 2 ** 31 + 1


@pytest.mark.parametrize("shape", [(BIG, 0), (0, BIG), (3, BIG, 0)])
def test_B3_rows_and_cols(cpu, shape):
    with cpu.matrix(shape, "float32") as matrix:
        assert matrix.shape == shape
        assert native.tritri_matrix_desc_get(matrix._live())[5:7] == shape[-2:]


@pytest.mark.parametrize("order", ["row", "column"])
def test_B3_ld(cpu, order):
    memory = np.lib.stride_tricks.as_strided(np.empty(BIG + 8, np.float32), (2, 2), (BIG * 4, 4))  # 8 GiB of addresses, of which two pages are touched
    array = memory if order == "row" else memory.T
    array[...] = [[4, np.nan], [5, 6]]
    with cpu.wrap(array, fill="lower") as matrix:
        assert native.tritri_matrix_desc_get(matrix._live())[7] == BIG
    assert np.array_equal(tritri.multiply(array, array, context=cpu), [[16, 0], [50, 36]])
    array[...] = 777
    lower = np.array([[4, np.nan], [5, 6]], np.float32)
    tritri.multiply(lower, lower, out=array, out_fill="lower", context=cpu)
    assert np.array_equal(array, [[16, 777], [50, 36]])


def test_B3_batch_stride(cpu):
    array = np.lib.stride_tricks.as_strided(np.empty(BIG + 8, np.float32), (2, 2, 2), (BIG * 4, 8, 4))
    array[...] = [[[4, np.nan], [5, 6]], [[1, np.nan], [2, 3]]]
    with cpu.wrap(array, fill="lower") as matrix:
        assert native.tritri_matrix_desc_get(matrix._live())[8:] == (2, BIG)
    assert np.array_equal(tritri.multiply(array, array, context=cpu), [[[16, 0], [50, 36]], [[1, 0], [8, 9]]])


def test_B3_batch_count(cpu):
    with pytest.raises(ValueError, match="batch_count must be 0 to 2\\^31, got 2147483649"):
        cpu.matrix((BIG, 1, 1), "float16")


def test_B3_bytes(cpu):
    address = native.tritri_host_allocate(cpu._live(), BIG)
    try:
        last = np.ctypeslib.as_array((np.ctypeslib.ctypes.c_ubyte * 1).from_address(address + BIG - 1))
        last[0] = 77
        assert last[0] == 77
    finally:
        native.tritri_host_free(cpu._live(), address)
    tritri.Context("cpu", workspace_bytes=BIG).close()


@pytest.mark.parametrize("field", range(5))
def test_B3_enumerations_are_not_cut_to_32_bits(cpu, field):
    desc = [1, 0, 0, 0, 0, 2, 2, 0, 0, 0]
    desc[field] += 2 ** 32
    with pytest.raises(OverflowError):
        native.tritri_matrix_create(cpu._live(), tuple(desc))


@pytest.mark.parametrize("field", range(5, 10))
def test_B3_sizes_past_64_bits_are_refused(cpu, field):
    desc = [1, 0, 0, 0, 0, 2, 2, 0, 0, 0]
    desc[field] = 2 ** 63
    with pytest.raises(OverflowError):
        native.tritri_matrix_create(cpu._live(), tuple(desc))


def test_B6_no_memory_for_a_matrix(cpu):
    with pytest.raises(MemoryError, match="576460752303423488 bytes"):
        cpu.matrix((2 ** 28, 2 ** 28))
    assert np.array_equal(cpu.upload(np.eye(2)).download(), np.eye(2))


def test_B6_a_matrix_past_64_bits(cpu):
    with pytest.raises(ValueError, match="must span less than 2\\^63 bytes"):
        cpu.matrix((2 ** 40, 2 ** 40))
    with pytest.raises(ValueError, match="below 2\\^63, got"):
        cpu.matrix((2 ** 63, 0))


def test_B6_no_memory_for_a_result():
    column, row = np.broadcast_to(np.zeros(1), (2 ** 22, 1)), np.broadcast_to(np.zeros(1), (1, 2 ** 22))
    with pytest.raises(MemoryError):
        tritri.multiply(np.ascontiguousarray(column), np.ascontiguousarray(row), a_fill="full", b_fill="full")


def test_B6_no_memory_for_host_memory(cpu):
    with pytest.raises(MemoryError):
        native.tritri_host_allocate(cpu._live(), 2 ** 60)


def test_foreign_and_freed_pointers_are_refused(cpu):
    address = native.tritri_host_allocate(cpu._live(), 64)
    native.tritri_host_free(cpu._live(), address)
    native.tritri_host_free(cpu._live(), None)
    for pointer in (address, 64):
        with pytest.raises(ValueError, match="must come from tritri_host_allocate"):
            native.tritri_host_free(cpu._live(), pointer)
