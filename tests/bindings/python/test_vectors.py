"""The shared vectors, through the public layer and through the extension module's own arguments."""
import subprocess
import sys

import numpy as np
import pytest
import vector_file
from tritri import _words as words
from tritri._native import native

import tritri

CASES = vector_file.read()
PRODUCTS = [case for case in CASES if case.refused is None]
STRIDED = [case for case in PRODUCTS if all(operand.storage == "strided" for operand in case.operands.values())]
REFUSALS = [case for case in CASES if case.refused is not None]


def reals(x):
    return x.view(x.real.dtype).astype(np.float64)


def check(case, before):
    got, want = reals(case.operands["c"].data), reals(case.expected)
    nan = np.isnan(want)
    assert np.array_equal(np.isnan(got), nan)
    with np.errstate(invalid="ignore"):
        same = (got == want) | nan | (np.abs(got - want) <= case.tolerance)
    assert same.all(), f"got {got}, expected {want}"
    for key in "ab":
        assert case.operands[key].data.tobytes() == before[key], f"{key} was written"


@pytest.fixture
def fresh(request):
    """The case with buffers of its own."""
    case = request.param
    kept = {key: operand.data.copy() for key, operand in case.operands.items()}
    yield case, {key: data.tobytes() for key, data in kept.items()}
    for key, data in kept.items():
        case.operands[key].data[...] = data


def named(case):
    return case.name


@pytest.mark.parametrize("fresh", STRIDED, ids=named, indirect=True)
def test_multiply(fresh):
    case, before = fresh
    a, b, c = (case.operands[key] for key in "abc")
    result = tritri.multiply(a.view(), b.view(), a_fill=a.fill, b_fill=b.fill, a_op=case.ops[0], b_op=case.ops[1], a_diag=a.diag, b_diag=b.diag,
                             alpha=case.alpha, beta=case.beta, out=c.view(), out_fill=c.fill, compute=case.compute)
    assert result.shape == c.view().shape
    check(case, before)


STORAGES = {"strided": native.TRITRI_STORAGE_STRIDED, "packed": native.TRITRI_STORAGE_PACKED}


def raw_call(case, handle):
    arguments = []
    for key in "abc":
        x = case.operands[key]
        desc = (words.DTYPES[case.dtype.name], words.FILLS[x.fill], words.DIAGS[x.diag], words.ORDERS[x.order], STORAGES[x.storage], x.rows, x.cols, x.ld,
                x.batch_count, x.batch_stride)
        arguments += [desc, x.data.ctypes.data]
    alpha, beta = complex(case.alpha), complex(case.beta)
    options = (words.OPS[case.ops[0]], words.OPS[case.ops[1]], alpha.real, alpha.imag, beta.real, beta.imag, words.COMPUTES[case.compute], 0)
    native.tritri_multiply_host(handle, options, *arguments)


@pytest.mark.parametrize("fresh", PRODUCTS[::7] + [case for case in PRODUCTS if case not in STRIDED], ids=named, indirect=True)
def test_extension_module_passes_every_field_on(fresh, context):
    case, before = fresh
    raw_call(case, context._live())
    check(case, before)


@pytest.mark.parametrize("fresh", REFUSALS, ids=named, indirect=True)
def test_refused(fresh, context):
    case, before = fresh
    with pytest.raises(ValueError) as wrong:
        raw_call(case, context._live())
    assert case.refused in str(wrong.value)
    assert case.operands["c"].data.tobytes() == before["c"]


def test_there_are_enough():
    assert len(PRODUCTS) >= 160 and len(REFUSALS) >= 20


def test_the_committed_file_is_what_the_generator_writes():
    generator = vector_file.PATH.with_name("generate.py")
    subprocess.run([sys.executable, generator, "--check"], check=True)
