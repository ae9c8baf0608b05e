"""lauum, cholesky_reconstruct, lu_reconstruct, pack, unpack beside LAPACK."""
import numpy as np
import pytest
from oracle import DTYPES, assert_close, poison, random

import tritri


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("fill", ["lower", "upper"])
def test_lauum_is_lapack_s(rng, dtype, fill):
    lapack = pytest.importorskip("scipy.linalg.lapack")
    a = random(rng, (9, 9), dtype)
    a[np.diag_indices(9)] = a.diagonal().real  # LAPACK takes the factor's diagonal to be real
    routine = lapack.get_lapack_funcs("lauum", (a,))
    want, info = routine(a, lower=fill == "lower")
    assert info == 0
    cut = np.tril if fill == "lower" else np.triu
    assert_close(tritri.lauum(poison(a, fill), fill=fill), cut(want))
    in_place = a.copy()
    assert tritri.lauum(in_place, fill=fill, out=in_place) is in_place
    assert_close(in_place, cut(want) + a - cut(a))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("fill", ["lower", "upper"])
@pytest.mark.parametrize("out_fill", [None, "full"])
def test_cholesky_reconstruct(rng, dtype, fill, out_fill):
    factor = random(rng, (2, 8, 8), dtype)
    cut = np.tril if fill == "lower" else np.triu
    wide = cut(factor.astype(np.clongdouble))
    want = wide @ wide.conj().swapaxes(1, 2) if fill == "lower" else wide.conj().swapaxes(1, 2) @ wide
    want = want if np.iscomplexobj(factor) else want.real
    assert_close(tritri.cholesky_reconstruct(factor, fill=fill, out_fill=out_fill), want if out_fill else cut(want))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_lu_reconstruct_undoes_lu_factor(rng, dtype, n):
    linalg = pytest.importorskip("scipy.linalg")
    a = random(rng, (n, n), dtype)
    assert_close(tritri.lu_reconstruct(*linalg.lu_factor(a)), a, k=10 * n)


def test_lu_reconstruct_without_pivots():
    assert np.array_equal(tritri.lu_reconstruct(np.array([[4.0, 3.0], [0.5, 2.0]])), [[4, 3], [2, 3.5]])


@pytest.mark.parametrize("fill", ["lower", "upper"])
@pytest.mark.parametrize("shape", [(4, 4), (3, 5), (5, 3), (2, 4, 4), (2, 7, 3), (2, 3, 7), (1, 1), (0, 0), (0, 3), (3, 0), (0, 2, 2)])
def test_pack_and_unpack(rng, fill, shape):
    a = random(rng, shape, "float64")
    packed = tritri.pack(poison(a, fill), fill)
    assert not np.isnan(packed).any()
    m, n = shape[-2:]
    assert np.array_equal(tritri.unpack(packed, (m, n), fill), (np.tril if fill == "lower" else np.triu)(a))
    if m == n:
        assert np.array_equal(tritri.unpack(packed, m, fill), tritri.unpack(packed, (m, n), fill))


@pytest.mark.parametrize("dtype", [int, bool, object, "float16", ">f8", "complex64"])
@pytest.mark.parametrize("fill", ["lower", "upper"])
def test_pack_takes_every_dtype_and_stride(dtype, fill):
    a = np.arange(60).astype(dtype).reshape(3, 5, 4)[::-1].swapaxes(1, 2)
    indices = (np.tril_indices if fill == "lower" else np.triu_indices)(4, 0, 5)
    packed = tritri.pack(a, fill)
    assert packed.dtype == a.dtype and packed.flags.c_contiguous and np.array_equal(packed, a[..., indices[0], indices[1]])
    assert np.array_equal(tritri.unpack(packed, (4, 5), fill), (np.tril if fill == "lower" else np.triu)(a))


def test_packed_order_is_the_row_order_of_the_library(cpu):
    """What pack gives is what the C API calls row-major packed storage."""
    from tritri._native import native
    a = np.arange(16.0).reshape(4, 4)
    for fill, code in (("lower", native.TRITRI_FILL_LOWER), ("upper", native.TRITRI_FILL_UPPER)):
        packed = tritri.pack(a, fill)
        matrix = native.tritri_upload(cpu._live(), (1, code, 0, 0, native.TRITRI_STORAGE_PACKED, 4, 4, 0, 0, 0), packed.ctypes.data)
        out = np.zeros((4, 4))
        native.tritri_download(cpu._live(), matrix, (1, code, 0, 0, 0, 4, 4, 0, 0, 0), out.ctypes.data)
        native.tritri_matrix_destroy(matrix)
        assert np.array_equal(out, tritri.unpack(packed, 4, fill))


@pytest.mark.parametrize("call, sentence", [
    (lambda: tritri.pack(np.eye(2), "full"), "pack: fill: must be 'lower' or 'upper', got 'full'"),
    (lambda: tritri.pack(np.zeros(3)), "pack: a: must have at least 2 dimensions"),
    (lambda: tritri.unpack(np.zeros(4), 2), "unpack: packed: must have 3 elements"),
    (lambda: tritri.lauum(np.eye(2), fill="full"), "lauum: fill: must be 'lower' or 'upper', got 'full'"),
    (lambda: tritri.cholesky_reconstruct(np.eye(2), fill="full"), "cholesky_reconstruct: fill: must be 'lower' or 'upper'"),
])
def test_wrong_arguments(call, sentence):
    with pytest.raises(ValueError) as wrong:
        call()
    assert sentence in str(wrong.value)
