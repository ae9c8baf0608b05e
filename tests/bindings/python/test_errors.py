"""Wrong arguments get one sentence that names function, argument, rule and value, and leave outputs untouched."""
import pickle

import numpy as np
import pytest

import tritri

EYE = np.eye(2)

MULTIPLY = [
    (dict(a_fill="lowre"), ValueError, "multiply: a_fill: must be 'full', 'lower' or 'upper', got 'lowre'"),
    (dict(b_fill=1), ValueError, "multiply: b_fill: must be 'full', 'lower' or 'upper', got 1"),
    (dict(out_fill=None), ValueError, "multiply: out_fill: must be 'full', 'lower' or 'upper', got None"),
    (dict(a_op="t"), ValueError, "multiply: a_op: must be 'N', 'T', 'C' or 'R', got 't'"),
    (dict(b_op=["N"]), ValueError, "multiply: b_op: must be 'N', 'T', 'C' or 'R', got ['N']"),
    (dict(a_diag="one"), ValueError, "multiply: a_diag: must be 'nonunit' or 'unit', got 'one'"),
    (dict(b_diag=True), ValueError, "multiply: b_diag: must be 'nonunit' or 'unit', got True"),
    (dict(compute="fast"), ValueError, "multiply: compute: must be 'default', 'pedantic', 'tf32' or 'auto', got 'fast'"),
    (dict(alpha="2"), TypeError, "multiply: alpha: must be a number, got str"),
    (dict(alpha=None), TypeError, "multiply: alpha: must be a number, got NoneType"),
    (dict(beta=[1]), TypeError, "multiply: beta: must be a number, got list"),
    (dict(alpha=10 ** 400), ValueError, "multiply: alpha: must fit in a float64, got 1000000"),
    (dict(out=np.lib.stride_tricks.as_strided(np.zeros(4), (2, 2), (8, 8))), ValueError, "multiply: out: elements must lie apart, got shape (2, 2) with strides (1, 1)"),
    (dict(out=np.lib.stride_tricks.as_strided(np.zeros(4), (2, 2), (0, 8))), ValueError, "multiply: out: elements must lie apart"),
    (dict(alpha=1j), ValueError, "alpha_im must be 0 for float64, got 1"),
    (dict(beta=1), ValueError, "multiply: beta: needs out"),
    (dict(compute="tf32"), ValueError, "compute must be TRITRI_COMPUTE_DEFAULT (0) for float64"),
    (dict(context="cpu"), TypeError, "multiply: context: must be a tritri.Context or None, got str"),
    (dict(out=np.zeros((2, 3))), ValueError, "multiply: out: must have shape (2, 2), got (2, 3)"),
    (dict(out=np.zeros((1, 2, 2))), ValueError, "multiply: out: must have shape (2, 2), got (1, 2, 2)"),
    (dict(out=np.zeros(4)), ValueError, "multiply: out: must have shape (2, 2), got (4,)"),
    (dict(out=np.zeros((2, 2), np.float32)), TypeError, "multiply: out: dtype must be a's float64, got float32"),
]


@pytest.mark.parametrize("options, kind, sentence", MULTIPLY, ids=lambda x: "-".join(x) if isinstance(x, dict) else None)
def test_options(options, kind, sentence):
    before = options["out"].copy() if "out" in options else None
    with pytest.raises(kind) as wrong:
        tritri.multiply(EYE, EYE, **options)
    assert sentence in str(wrong.value) and "\n" not in str(wrong.value)
    if before is not None:
        assert np.array_equal(options["out"], before)


SHAPES = [
    (np.zeros(2), EYE, "multiply: a: must have at least 2 dimensions, got shape (2,)"),
    (EYE, np.zeros(()), "multiply: b: must have at least 2 dimensions, got shape ()"),
    (np.zeros((2, 3)), EYE, "multiply: b: op(B) must have as many rows as op(A) has columns, 3, got 2 x 2"),
]


@pytest.mark.parametrize("a, b, sentence", SHAPES)
def test_shapes(a, b, sentence):
    with pytest.raises(ValueError) as wrong:
        tritri.multiply(a, b)
    assert sentence in str(wrong.value)


def test_dtypes_must_agree():
    with pytest.raises(TypeError, match="multiply: b: dtype must be a's float64, got float32: convert one of them"):
        tritri.multiply(EYE, EYE.astype(np.float32))


def test_overlap_is_refused_and_nothing_is_written():
    memory = np.arange(12.0)
    before = memory.copy()
    with pytest.raises(ValueError, match="must be a itself"):
        tritri.multiply(memory[:9].reshape(3, 3), np.eye(3), out=memory[3:].reshape(3, 3))
    assert np.array_equal(memory, before)


CONTEXT = [
    (dict(device="gpu"), ValueError, "Context: device: must be 'auto', 'cpu', 'cuda' or 'cuda:N', got 'gpu'"),
    (dict(device="cuda:x"), ValueError, "got 'cuda:x'"),
    (dict(device="cuda:"), ValueError, "got 'cuda:'"),
    (dict(device="cuda:-1"), ValueError, "got 'cuda:-1'"),
    (dict(device="cpu:0"), ValueError, "got 'cpu:0'"),
    (dict(device=0), ValueError, "got 0"),
    (dict(device="cpu", threads=-1), ValueError, "Context: threads: must be 0 (all) to 1024, got -1"),
    (dict(device="cpu", threads=2 ** 31 + 1), ValueError, "got 2147483649"),
    (dict(device="cpu", threads=1.5), TypeError, "Context: threads: must be an int, got float"),
    (dict(device="cpu", workspace_bytes=-1), ValueError, "Context: workspace_bytes: must be at least 0 and below 2^63, got -1"),
    (dict(device="cpu", workspace_bytes=2 ** 70), ValueError, "Context: workspace_bytes: must be at least 0 and below 2^63, got 1180591620717411303424"),
    (dict(device="cpu", stream=2 ** 70), ValueError, "Context: stream: must be at least 0 and below 2^63"),
    (dict(device="cpu", stream=-1), ValueError, "Context: stream: must be at least 0 and below 2^63, got -1"),
    (dict(device="cpu", stream="s"), TypeError, "Context: stream: must be an int, got str"),
    (dict(device="cpu", stream=64), ValueError, "stream must be NULL on the CPU device"),
]


@pytest.mark.parametrize("options, kind, sentence", CONTEXT)
def test_context(options, kind, sentence):
    with pytest.raises(kind) as wrong:
        tritri.Context(**options)
    assert sentence in str(wrong.value)


def test_a_device_that_is_not_there_is_a_tritri_error():
    with pytest.raises(tritri.TritriError) as wrong:
        tritri.Context("cuda:4095")
    assert wrong.value.status == 3 and wrong.value.status_name == "TRITRI_NO_DEVICE"
    assert "tritri_context_create" in str(wrong.value) and isinstance(wrong.value, RuntimeError)
    copy = pickle.loads(pickle.dumps(wrong.value))
    assert str(copy) == str(wrong.value) and copy.status == 3


def test_what_a_device_cannot_serve_is_a_tritri_error(cpu):
    x = cpu.upload(EYE)
    with pytest.raises(tritri.TritriError, match="CUBLAS") as wrong:
        cpu.multiply(x, x, algorithm="cublas")
    assert wrong.value.status_name == "TRITRI_NOT_SUPPORTED"


MATRICES = [
    (lambda c, x: c.upload(EYE, fill="low"), ValueError, "upload: fill: must be"),
    (lambda c, x: c.upload(EYE, diag="low"), ValueError, "upload: diag: must be"),
    (lambda c, x: c.upload(np.zeros(3)), ValueError, "upload: array: must have at least 2 dimensions, got 1"),
    (lambda c, x: c.upload([[1.0]]), TypeError, "upload: array: must be an array (NumPy, or with __dlpack__ or __cuda_array_interface__), got list: pass numpy.asarray(array, dtype=float)"),
    (lambda c, x: c.upload(np.eye(2, dtype=int)), TypeError, "upload: array: dtype must be float32, float64, complex64, complex128, float16 or bfloat16, got int64: pass array.astype"),
    (lambda c, x: c.wrap(np.eye(2, dtype=int)), TypeError, "wrap: array: dtype must be float32"),
    (lambda c, x: x.update(np.ma.masked_array(EYE)), TypeError, "update: array: must not be a masked array, got one: pass array.filled(0) or array.data"),
    (lambda c, x: c.matrix((2, 2.5)), TypeError, "matrix: shape: must be an int or a tuple of ints, got (2, 2.5)"),
    (lambda c, x: c.matrix("22"), TypeError, "matrix: shape: must be an int or a tuple of ints, got '22'"),
    (lambda c, x: c.matrix((2,)), ValueError, "matrix: shape: must have at least 2 dimensions, got (2,)"),
    (lambda c, x: c.matrix((0, 2, 2)), ValueError, "matrix: shape: leading dimensions must be at least 1"),
    (lambda c, x: c.upload(np.zeros((0, 2, 2))), ValueError, "upload: array: leading dimensions must be at least 1, got shape (0, 2, 2)"),
    (lambda c, x: c.matrix((2, -2)), ValueError, "cols must be at least 0, got -2"),
    (lambda c, x: c.matrix((2, 2), "int32"), TypeError, "matrix: dtype: must be float32, float64, complex64, complex128, float16 or bfloat16, got 'int32'"),
    (lambda c, x: c.matrix((2, 2), "float1"), TypeError, "matrix: dtype: must be float32, float64, complex64, complex128, float16 or bfloat16, got 'float1'"),
    (lambda c, x: c.matrix((2, 2), order="C"), ValueError, "matrix: order: must be 'row' or 'column', got 'C'"),
    (lambda c, x: c.multiply(EYE, x), TypeError, "multiply: a: must be a tritri.Matrix, got ndarray"),
    (lambda c, x: c.multiply(x, EYE), TypeError, "multiply: b: must be a tritri.Matrix, got ndarray"),
    (lambda c, x: c.multiply(x, x, out=EYE), TypeError, "multiply: out: must be a tritri.Matrix, got ndarray"),
    (lambda c, x: c.multiply(x, x, algorithm="slow"), ValueError, "multiply: algorithm: must be 'auto', 'kernel' or 'cublas', got 'slow'"),
    (lambda c, x: c.multiply(x, x, beta=1), ValueError, "multiply: beta: needs out"),
    (lambda c, x: c.multiply(x, c.matrix((3, 2))), ValueError, "op(B) must have as many rows as op(A) has columns"),
    (lambda c, x: c.multiply(x, c.matrix((2, 2), "float32")), ValueError, "dtype must be a's float64, got float32"),
    (lambda c, x: c.verify(x, x, x, probes=0), ValueError, "probes: must be 1 to 1024, got 0"),
    (lambda c, x: c.verify(x, x, x, probes=2 ** 31 + 1), ValueError, "probes: must be 1 to 1024, got 2147483649"),
    (lambda c, x: c.verify(x, x, x, probes=1.5), TypeError, "verify: probes: must be an int, got float"),
    (lambda c, x: x.update(np.eye(3)), ValueError, "shape must be the matrix's 2 x 2, got 3 x 3"),
    (lambda c, x: x.update(np.eye(2, dtype=np.float32)), ValueError, "dtype must be the matrix's float64, got float32"),
    (lambda c, x: x.download([[1.0]]), TypeError, "download: out: must be a numpy.ndarray, got list"),
    (lambda c, x: x.download(np.eye(3)), ValueError, "download: out: must have the matrix's shape (2, 2), got (3, 3)"),
    (lambda c, x: x.download(np.eye(2, dtype=np.float32)), TypeError, "download: out: must have the matrix's dtype float64, got float32"),
    (lambda c, x: x.download(np.broadcast_to(np.eye(2), (2, 2))), ValueError, "download: out: must be writable"),
]


@pytest.mark.parametrize("call, kind, sentence", MATRICES)
def test_matrices(context, call, kind, sentence):
    with pytest.raises(kind) as wrong:
        call(context, context.upload(EYE))
    assert sentence in str(wrong.value)


@pytest.mark.parametrize("device", ["auto", None])
def test_the_environment_steers_auto(monkeypatch, device):
    monkeypatch.setenv("TRITRI_DEVICE", "cpu")
    with tritri.Context(*([device] if device else [])) as context:
        assert context.device == "cpu"
    monkeypatch.setenv("TRITRI_DEVICE", "quantum")
    with pytest.raises(ValueError, match='TRITRI_DEVICE must be cpu, cuda or cuda:N, got "quantum"'):
        tritri.Context()


@pytest.mark.parametrize("strides", [(24, 24, 8), (0, 24, 8), (8, 24, 8), (72, 8, 16)])
def test_a_batch_that_overlaps_itself_is_refused(strides):
    memory = np.full(60, 7.0)
    with pytest.raises(ValueError, match="multiply: out: elements must lie apart|batch_stride must keep"):
        tritri.multiply(np.ones((2, 3, 3)), np.eye(3), out=np.lib.stride_tricks.as_strided(memory, (2, 3, 3), strides))
    assert (memory == 7).all()


def test_elements_that_lie_apart_between_each_other():
    """Interleaved so that no axis is longer than all smaller ones together."""
    memory = np.zeros(12)
    out = np.lib.stride_tricks.as_strided(memory, (2, 3), (24, 16))  # places 0 2 4, 3 5 7
    tritri.multiply(np.array([[1.0, 0], [2, 3]]), np.arange(6.0).reshape(2, 3), b_fill="full", out=out)
    assert np.array_equal(memory, [0, 0, 1, 9, 2, 14, 0, 19, 0, 0, 0, 0])


@pytest.mark.parametrize("make", [lambda c: c, lambda c: c.upload(EYE)], ids=["context", "matrix"])
def test_handles_are_not_copied(cpu, make):
    """A copy would own the same handle and free it again."""
    import copy
    thing = make(cpu)
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="must not be copied or pickled"):
            attempt(thing)


def test_a_matrix_is_no_array_by_itself(cpu):
    with pytest.raises(TypeError, match=r"Matrix: must be asked for its elements by download\(\)"):
        np.asarray(cpu.upload(EYE))


def test_results_do_not_go_into_a_read_only_array(cpu):
    fixed = np.zeros((2, 2))
    fixed.flags.writeable = False
    matrix = cpu.wrap(fixed)
    x = cpu.upload(EYE)
    with pytest.raises(ValueError, match="multiply: out: must be writable, got a matrix over a read-only array"):
        cpu.multiply(x, x, out=matrix)
    with pytest.raises(ValueError, match="update: matrix: must be writable, got a matrix over a read-only array"):
        matrix.update(EYE)
    assert not fixed.any() and np.array_equal(cpu.multiply(matrix, x).download(), fixed)


@pytest.mark.parametrize("lu, pivots, sentence", [
    (np.eye(3), [0, 1, 3], "lu_reconstruct: pivots: must be rows, 0 to 2, got 3"),
    (np.eye(3), [0, -1, 2], "lu_reconstruct: pivots: must be rows, 0 to 2, got -1"),
    (np.eye(3), [0, 1], "lu_reconstruct: pivots: must be 3 integers, got int64 of shape (2,)"),
    (np.eye(3), [0.0, 1.0, 2.0], "lu_reconstruct: pivots: must be 3 integers, got float64 of shape (3,)"),
    (np.zeros((2, 3, 3)), [0, 1, 2], "lu_reconstruct: pivots: must be None but for a single NumPy matrix, got ndarray of shape (2, 3, 3)"),
])
def test_pivots(lu, pivots, sentence):
    with pytest.raises(ValueError) as wrong:
        tritri.lu_reconstruct(lu, pivots)
    assert str(wrong.value) == sentence


@pytest.mark.parametrize("shape, sentence", [((2, 2, 2), "unpack: shape: must be (m, n), or n for a square, got (2, 2, 2)"), (2.0, "unpack: shape: must be (m, n), or n"),
                                             (-2, "unpack: shape: must have no negative size, got -2"), ("23", "unpack: shape: must be (m, n), or n")])
def test_shapes_to_unpack_to(shape, sentence):
    with pytest.raises(ValueError) as wrong:
        tritri.unpack(np.zeros(3), shape)
    assert sentence in str(wrong.value)
