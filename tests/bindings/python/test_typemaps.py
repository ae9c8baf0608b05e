"""Each typemap of the extension module, by itself: what it takes, what it gives and what it refuses (bindings/swig/README.md has the table)."""
import numpy as np
import pytest
from tritri._native import native

import tritri

DESC = (1, 0, 0, 0, 0, 2, 2, 0, 0, 0)


def test_handles_come_out_and_go_in():
    context = native.tritri_context_create((1, 0, None, 0, 0))
    matrix = native.tritri_matrix_create(context, DESC)
    native.tritri_matrix_destroy(matrix)
    native.tritri_context_destroy(context)


@pytest.mark.parametrize("wrong", [5, "context", object()], ids=["int", "str", "object"])
def test_a_handle_is_nothing_else(wrong):
    with pytest.raises(TypeError, match="tritri_context"):
        native.tritri_context_synchronize(wrong)


def test_a_matrix_is_no_context(cpu):
    matrix = native.tritri_matrix_create(cpu._live(), DESC)
    with pytest.raises(TypeError, match="tritri_context"):
        native.tritri_context_synchronize(matrix)
    native.tritri_matrix_destroy(matrix)


def test_null_handles_are_the_library_s_business():
    native.tritri_context_destroy(None)
    native.tritri_matrix_destroy(None)
    with pytest.raises(ValueError, match="context: must not be NULL"):
        native.tritri_context_synchronize(None)


def test_desc_out(cpu):
    matrix = native.tritri_matrix_create(cpu._live(), (1, 2, 0, 1, 0, 3, 5, 7, 2, 100))
    assert native.tritri_matrix_desc_get(matrix) == (1, 2, 0, 1, 0, 3, 5, 7, 2, 100)
    native.tritri_matrix_destroy(matrix)


@pytest.mark.parametrize("desc", [DESC[:-1], DESC + (0,), list(DESC), 7, DESC[:5] + (2.5,) + DESC[6:]], ids=["short", "long", "list", "int", "float"])
def test_desc_in_is_a_tuple_of_ten(cpu, desc):
    with pytest.raises((TypeError, SystemError)):
        native.tritri_matrix_create(cpu._live(), desc)


def test_a_null_desc_is_named(cpu):
    with pytest.raises(ValueError, match="desc: must not be NULL"):
        native.tritri_matrix_create(cpu._live(), None)


def test_options_in_or_null(cpu):
    x = cpu.upload(np.full((2, 2), 2.0))
    for options, want in ((None, 8.0), ((0, 0, 0.5, 0.0, 0.0, 0.0, 0, 0), 4.0)):
        out = cpu.matrix((2, 2))
        native.tritri_multiply(cpu._live(), options, x._live(), x._live(), out._live())
        assert np.array_equal(out.download(), np.full((2, 2), want))


@pytest.mark.parametrize("index, field", [(0, "op_a"), (1, "op_b"), (6, "compute"), (7, "algorithm")])
def test_every_option_reaches_its_field(cpu, index, field):
    options = [0, 0, 1.0, 0.0, 0.0, 0.0, 0, 0]
    options[index] = 99
    x = cpu.matrix((2, 2))
    with pytest.raises(ValueError, match=f"{field} must be .* got 99"):
        native.tritri_multiply(cpu._live(), tuple(options), x._live(), x._live(), x._live())


@pytest.mark.parametrize("index, field", list(enumerate(["dtype", "fill", "diag", "order", "storage", "rows", "cols", "ld", "batch_count"])))
def test_every_desc_value_reaches_its_field(cpu, index, field):
    desc = list(DESC)
    desc[index] = -5
    with pytest.raises(ValueError, match=f"{field} must be .* got -5"):
        native.tritri_matrix_create(cpu._live(), tuple(desc))


@pytest.mark.parametrize("index, field", [(0, "device"), (1, "device_index"), (3, "threads")])
def test_every_context_option_reaches_its_field(index, field):
    options = [1, 0, None, 0, 0]
    options[index] = -5
    with pytest.raises(ValueError, match=f"{field} must be .* got -5"):
        native.tritri_context_create(tuple(options))


def test_addresses(cpu):
    array = np.array([[1.0, 2.0], [3.0, 4.0]])
    matrix = native.tritri_matrix_wrap(cpu._live(), DESC, array.ctypes.data)
    assert native.tritri_matrix_data(matrix) == array.ctypes.data
    out = np.zeros((2, 2))
    native.tritri_download(cpu._live(), matrix, None, out.ctypes.data)
    assert np.array_equal(out, array)
    native.tritri_matrix_destroy(matrix)
    with pytest.raises(TypeError):
        native.tritri_matrix_wrap(cpu._live(), DESC, array)
    with pytest.raises(ValueError, match="must not be NULL for a 2 x 2 matrix"):
        native.tritri_matrix_wrap(cpu._live(), DESC, None)


def test_numbers_and_text_out(cpu):
    x = cpu.upload(np.eye(2))
    assert native.tritri_device_count(native.TRITRI_DEVICE_CPU) == 1
    assert native.tritri_workspace_size(cpu._live(), None, x._live(), x._live(), x._live()) == 0
    result = cpu.upload(np.eye(2))
    residual = native.tritri_verify(cpu._live(), None, x._live(), x._live(), result._live(), 1)
    assert type(residual) is float and residual == 0
    text = native.tritri_plan_describe(cpu._live(), None, x._live(), x._live(), x._live())
    assert text.startswith("device=cpu") and "\0" not in text


def test_info_out():
    info = native.tritri_device_info_get(native.TRITRI_DEVICE_CPU, 0)
    assert info["kind"] == native.TRITRI_DEVICE_CPU and info["compute_capability"] == (0, 0) and isinstance(info["memory_total"], int)


def test_static_text_and_constants():
    assert native.tritri_status_name(1) == "TRITRI_INVALID_ARGUMENT" and native.tritri_status_name(99) == "TRITRI_UNKNOWN_STATUS"
    assert native.tritri_version() == native.TRITRI_VERSION and native.tritri_version_string() == tritri.__version__
    assert (native.TRITRI_BFLOAT16, native.TRITRI_FILL_UPPER, native.TRITRI_OP_CONJ, native.TRITRI_STORAGE_PACKED) == (5, 2, 3, 1)


def test_nothing_else_is_wrapped():
    names = {name for name in dir(native) if name.startswith("tritri_")}
    assert not {name for name in names if name.endswith(("_get", "_set")) and "desc_get" not in name and "info_get" not in name}
    assert "tritri_last_error" not in names  # its text is in the exceptions


def test_capsules_that_are_no_dlpack():
    with pytest.raises(TypeError, match="__dlpack__ must return an unused capsule"):
        native.dlpack_read(object())
