"""The benchmark: what it multiplies, what it compares with, how it judges, what it shows."""
import ctypes
import itertools
import json

import numpy as np
import pytest
from oracle import FILLS

pytest.importorskip("click")
pytest.importorskip("rich")

from tritri.bench import accuracy, blocks, contenders, cublas, grid, host, products, reference, report, run  # noqa: E402
from tritri.bench.host import HostMachine  # noqa: E402

NAMES = [f"{a}{s}*{b}{t}={c}" for a, b, c in itertools.product(FILLS, FILLS, FILLS) for s, t in itertools.product(("", "T"), repeat=2)]


def operand(x, side):
    x = {"lower": np.tril, "upper": np.triu, "full": np.array}[side.fill](x)
    if side.unit:
        np.fill_diagonal(x, 1)
    return x


def cut(x, fill):
    return {"lower": np.tril, "upper": np.triu, "full": np.array}[fill](x)


def op(x, side):
    return x.T if side.op == "T" else x


@pytest.fixture
def machine(monkeypatch):
    monkeypatch.setattr(host, "CACHE_BYTES", 1 << 16)
    monkeypatch.setattr(host, "BLAS_SETTLES", 0)
    machine = HostMachine("cpu", 1)
    yield machine
    machine.close()


@pytest.mark.parametrize("name, structure, how_cut", [("lower*lower", "lower", "lower"), ("upperT*lower", "lower", "lower"), ("lowerT*lower=lower", "full", "lower"),
                                                      ("unit-lower*upper", "full", "full"), ("full*full=lower", "full", "lower"), ("upper*upper", "upper", "upper")])
def test_names_of_products(name, structure, how_cut):
    product = products.parse(name)
    assert product.name == name and product.structure == structure and product.cut == how_cut


@pytest.mark.parametrize("name", ["", "lower", "lower*", "lower*low", "unit-full*lower", "lower*unit-full", "lowerC*lower", "lower*lower=", "lower*lower=half", " lower*lower"])
def test_what_is_no_name_of_a_product(name):
    with pytest.raises(ValueError, match="must be such as"):
        products.parse(name)


@pytest.mark.parametrize("name", NAMES)
def test_useful_flops_count_every_term(name):
    product, n = products.parse(name), 7
    ones = np.ones((n, n))
    terms = cut(op(operand(ones, product.a), product.a) @ op(operand(ones, product.b), product.b), product.out).sum()
    assert product.useful_flops(n, "float64") == 2 * terms and product.useful_flops(n, "complex64") == 8 * terms


def test_useful_flops_of_the_family():
    n = 3000
    thirds = {name: products.parse(name).useful_flops(n, "float32") / (n ** 3 / 3) for name in products.SEVEN}
    assert [round(thirds[name], 2) for name in products.SEVEN] == [1, 1, 1, 2, 1, 3, 3]


@pytest.mark.parametrize("form", blocks.FORMS)
@pytest.mark.parametrize("name", [*products.SEVEN, "upper*lower=upper", "full*lower", "lower*upper=lower", "upperT*upper=upper", "full*upper=upper"])
def test_blocks_make_the_product(name, form, rng):
    product, n = products.parse(name), 20
    a, b = operand(rng.standard_normal((n, n)), product.a), operand(rng.standard_normal((n, n)), product.b)
    left, right = op(a, product.a), op(b, product.b)
    for block in (3, 5, 10, 20):
        c = np.zeros((n, n))
        for piece in blocks.gemms(product, n, block, form):
            rows, cols, k = slice(*piece.rows), slice(*piece.cols), slice(*piece.k)
            c[rows, cols] = left[rows, k] @ right[k, cols] + (c[rows, cols] if form == "panels" else 0)
        assert np.allclose(cut(c, product.out), cut(left @ right, product.out), rtol=0, atol=1e-13)


def test_blocks_do_less_than_one_gemm():
    product, n = products.parse("lower*lower"), 1024
    work = {form: sum((g.rows[1] - g.rows[0]) * (g.cols[1] - g.cols[0]) * (g.k[1] - g.k[0]) for g in blocks.gemms(product, n, 64, form)) / n ** 3 for form in blocks.FORMS}
    assert work["strips"] < 0.37 and work["squares"] < 0.2 and work["panels"] < 0.2


@pytest.mark.parametrize("complex_numbers", [False, True])
def test_reference_is_better_than_float64(rng, complex_numbers):
    a, b = rng.standard_normal((4, 300)), rng.standard_normal((300, 5))
    if complex_numbers:
        a, b = a + 1j * rng.standard_normal(a.shape), b + 1j * rng.standard_normal(b.shape)
    wide = np.clongdouble if complex_numbers else np.longdouble
    exact = (a.astype(wide)[:, :, None] * b.astype(wide)[None]).sum(1)
    rows = reference.exact_rows(np, a, b, False)
    assert np.abs(rows.high + rows.low.astype(wide) - exact).max() < 2e-17 * rows.scale.max()
    assert np.array_equal(rows.scale, np.abs(a) @ np.abs(b))
    assert np.abs(rows.difference((exact + 1e-10).astype(a.dtype)) - 1e-10).max() < 1e-13


class ColumnMajorBlas:
    """What cuBLAS does with its arguments, on host memory."""

    TYPES = {0: np.float32, 1: np.float64, 2: np.float16, 4: np.complex64, 5: np.complex128}

    @staticmethod
    def matrix(address, rows, cols, ld, dtype):
        item = np.dtype(dtype).itemsize
        memory = (ctypes.c_char * (((cols - 1) * ld + rows) * item)).from_address(address)
        return np.lib.stride_tricks.as_strided(np.frombuffer(memory, dtype), (rows, cols), (item, ld * item))

    def __getattr__(self, name):
        def call(handle, *arguments):
            values = [getattr(x, "value", x) for x in arguments]
            if name == "cublasGemmStridedBatchedEx":
                *head, beta, c, c_type, ldc, stride_c, batch, compute, algorithm = values
                ta, tb, m, n, k, alpha, a, a_type, lda, stride_a, b, b_type, ldb, stride_b = head
                item = np.dtype(self.TYPES[a_type]).itemsize
                for i in range(batch):
                    self.gemm(ta, tb, m, n, k, alpha, a + i * stride_a * item, a_type, lda, b + i * stride_b * item, b_type, ldb, beta, c + i * stride_c * item, c_type, ldc,
                              compute, algorithm)
            elif name == "cublasGemmEx":
                self.gemm(*values)
            else:
                assert name[:6] == "cublas" and name[7:] == "trmm_v2"
                side, uplo, trans, unit, m, n, alpha, a, lda, b, ldb, c, ldc = values
                dtype, size = {"S": np.float32, "D": np.float64}[name[6]], n if side else m
                triangle = (np.triu if uplo else np.tril)(self.matrix(a, size, size, lda, dtype))
                if unit:
                    np.fill_diagonal(triangle, 1)
                triangle, dense = triangle.T if trans else triangle, self.matrix(b, m, n, ldb, dtype)
                self.matrix(c, m, n, ldc, dtype)[...] = alpha[0] * (dense @ triangle if side else triangle @ dense)
            return 0

        return call

    def gemm(self, ta, tb, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc, compute, algorithm):
        dtype = self.TYPES[a_type]
        left = self.matrix(a, *((k, m) if ta else (m, k)), lda, dtype)
        right = self.matrix(b, *((n, k) if tb else (k, n)), ldb, dtype)
        out = self.matrix(c, m, n, ldc, dtype)
        out[...] = alpha[0] * ((left.T if ta else left) @ (right.T if tb else right)) + (out if beta[0] else 0)


@pytest.fixture
def blas():
    blas = cublas.Cublas.__new__(cublas.Cublas)
    blas._library, blas._handle, blas._scalars = ColumnMajorBlas(), None, cublas.scalars()
    return blas


@pytest.mark.parametrize("name", [*products.SEVEN, "upper*lowerT", "full*upper", "fullT*lowerT"])
def test_cublas_is_asked_for_the_product(blas, rng, name):
    product, n = products.parse(name), 12
    a, b = operand(rng.standard_normal((n, n)), product.a), operand(rng.standard_normal((n, n)), product.b)
    want, mode = op(a, product.a) @ op(b, product.b), products.MODES["float64"]
    c = np.zeros((n, n))
    blas.gemm(mode, product, n, a.ctypes.data, b.ctypes.data, c.ctypes.data)()
    assert np.allclose(c, want, rtol=0, atol=1e-13)
    for form in blocks.FORMS:
        c = np.zeros((n, n))
        for piece in blocks.gemms(product, n, 4, form):
            blas.gemm(mode, product, n, a.ctypes.data, b.ctypes.data, c.ctypes.data, piece, form == "panels")()
        assert np.allclose(cut(c, product.out), cut(want, product.out), rtol=0, atol=1e-13)
    c = np.zeros((n, n))
    try:
        multiply = blas.trmm("float64", product, n, a.ctypes.data, b.ctypes.data, c.ctypes.data)
    except contenders.Absent:
        assert name in ("full*full=lower", "fullT*lowerT")
        return
    multiply()
    assert np.allclose(c, want, rtol=0, atol=1e-13)


def test_cublas_batches(blas, rng):
    a, b, c = (np.tril(rng.standard_normal((3, 5, 5))).astype(np.float32) for _ in range(3))
    blas.gemm(products.MODES["float32"], products.parse("lower*lower"), 5, a.ctypes.data, b.ctypes.data, c.ctypes.data, batch=3)()
    assert np.allclose(c, a @ b, atol=1e-5)


@pytest.mark.parametrize("name", products.SEVEN)
def test_every_contender_on_the_cpu_is_right(machine, name):
    modes = [products.MODES[mode] for mode in ("float32", "float32-pedantic", "float64", "complex64", "complex128", "float16")]
    for case in grid.cases([name], modes, [(40, 1), (9, 3)], packed=True):
        lines, absent = run.measure(machine, case, 2)
        for line in lines:
            assert line["error"] < products.ROUNDOFF[case.dtype] * 40 and line["samples"] == 2 and line["min_ms"] <= line["ms"] <= line["max_ms"], line
        ours = [line for line in lines if line["peer"] == "tritri"]
        assert [line["modes"] for line in ours] == [[mode.name] for mode in case.modes] and all(line["right"] for line in ours)
        packed = [line for line in lines if line["peer"] == "tritri packed"]
        assert [line["modes"] for line in packed] == ([[mode.name] for mode in case.modes] if "unit" not in name else []) and all(line["right"] for line in packed)
        assert "NumPy" in [line["peer"] for line in lines]
        assert all(why in ("OpenBLAS has no batches", "OpenBLAS has no float16", "SciPy, through which OpenBLAS is called, is not installed",
                           "TRMM needs a triangle beside a matrix that is not transposed") for _, why, _ in absent)


@pytest.mark.parametrize("fault", [lambda c: c + 1e-3, lambda c: c + np.triu(np.ones_like(c), 1), lambda c: np.where(np.eye(len(c)), np.nan, c)],
                         ids=["all elements a little off", "a structural zero that is none", "NaN"])
def test_a_wrong_product_is_noticed(machine, monkeypatch, fault):
    result = machine.result
    monkeypatch.setattr(machine, "result", lambda case, contender: fault(result(case, contender)))
    lines, _ = run.measure(machine, grid.cases(["lower*lower"], [products.MODES["float64"]], [(50, 1)])[0], 1)
    assert lines[0]["right"] is False


def test_inputs_are_poisoned_and_larger_than_the_cache(machine, monkeypatch):
    monkeypatch.setattr(host, "CACHE_BYTES", 1 << 20)
    case = grid.cases(["unit-lower*upper"], [products.MODES["float32"]], [(64, 1)])[0]
    sets = machine.sets(case)
    assert np.isnan(sets.a[:, np.triu(np.ones((64, 64), bool))]).all() and np.isfinite(sets.a[:, np.tril(np.ones((64, 64), bool), -1)]).all()
    assert np.isnan(sets.b[:, np.tril(np.ones((64, 64), bool), -1)]).all() and np.isnan(sets.c).all()
    assert (sets.a_zero[:, range(64), range(64)] == 1).all() and (np.triu(sets.a_zero, 1) == 0).all() and (np.tril(sets.b_zero, -1) == 0).all()
    assert sets.a.nbytes + sets.b.nbytes + sets.c.nbytes >= 2 << 20


@pytest.mark.parametrize("sets, size, groups", [(2, 1, [[0], [1]]), (5, 2, [[0, 1], [2, 3]]), (3, 3, [[0, 1, 2]]), (3, 7, [[0, 1, 2, 0, 1, 2, 0]])])
def test_groups_take_every_set_in_turn(sets, size, groups):
    assert contenders.groups_of(list(range(sets)), size) == groups


def test_accuracy_on_the_cpu(machine):
    pytest.importorskip("ml_dtypes")
    lines = accuracy.measure(machine, list(products.MODES.values()), [64, 100])
    assert all(line["right"] is not False for line in lines), [line for line in lines if line["right"] is False]
    assert {line["why"] for line in lines if line["right"] is None} == {"TF32 rounds its inputs", "a complex product of Inf has no one answer"}
    assert all(0 < line["rms"] <= line["max"] <= line["bound"] for line in lines if "rms" in line)
    text = report.accuracy_markdown(lines)
    assert f"all {len(lines)} measurements" in text and "WRONG" not in text
    lines[-1]["right"] = False
    assert "NOT ALL" in report.accuracy_markdown(lines)


def test_a_broken_case_and_the_limit_are_told(machine, monkeypatch):
    monkeypatch.setattr(machine, "limits", lambda modes: {})
    cases = grid.cases(["lower*lower"], [products.MODES["float64"]], [(8, 1), (9, 1)])
    sets = machine.sets
    monkeypatch.setattr(machine, "sets", lambda case: sets(case) if case.n == 8 else (_ for _ in ()).throw(RuntimeError("gone")))
    found = run.go_through(machine, cases, 1, peers=["none"])
    assert [line["n"] for line in found["lines"]] == [8] and found["broken"] == [{"case": "lower*lower, float64, n = 9", "why": "RuntimeError: gone"}]
    assert report.wrong(found) == ["lower*lower, float64, n = 9: RuntimeError: gone"]
    assert run.go_through(machine, cases, 1, limit=0)["left_out"] == [case.title for case in cases]


@pytest.mark.parametrize("on_cpu", [True, False])
def test_grids_cover_the_family(on_cpu):
    for cases in (grid.full(on_cpu), grid.quick(on_cpu)):
        assert {case.product.name for case in cases} == set(products.SEVEN) and len(set(cases)) == len(cases)
    modes = {mode for case in grid.full(on_cpu) for mode in case.modes}
    assert {case.packed for case in grid.full(on_cpu)} == {True, False} and not any(case.packed for case in grid.full(on_cpu) if case.product.a.unit)
    assert modes == (set(products.MODES.values()) if not on_cpu else {products.MODES["float32"], products.MODES["float64"]})


def made_up(ms=2.0):
    line = {"product": "lower*lower", "dtype": "float32", "modes": ["float32"], "n": 1024, "batch": 1, "peer": "tritri", "ms": ms, "spread": 0, "useful_tflops": 1, "error": 1e-7,
            "right": True}
    lines = [line, {**line, "peer": "cuBLAS GEMM", "ms": 5.0}, {**line, "peer": "Triton", "ms": 3.0}, {**line, "product": "lower*full", "ms": 4.0},
             {**line, "n": 16, "batch": 1000, "ms": 0.25}, {**line, "peer": "tritri packed", "ms": 2.5}]
    return {"machine": {"device": "a card", "versions": {"tritri": "0"}}, "commit": "0123456789", "date": "2026-01-01T00:00:00", "command": "tritri bench", "method": "how", "repeat": 3,
            "limits": {"flops_per_second": {"float32": 1024 ** 3 / 3 / 1e-3}, "bytes_per_second": 1e15}, "lines": lines, "absent": [], "left_out": [], "broken": []}


def test_tables():
    text = report.markdown(made_up())
    assert "| float32 | 2 (1.5x T, 50 %) |" in text and "| `lower*full` | 4 (75 %) |" in text and "commit 0123456," in text
    assert report.fraction(made_up(), made_up()["lines"][0], "float32") == pytest.approx(0.5, rel=1e-2)
    assert "| `lower*lower`, float32 | 2.5 (1.25x) |" in text and report.Lines(made_up()).best_peer("lower*lower", "float32", 1024, 1)["peer"] == "Triton"
    batches = made_up()
    batches["lines"] = batches["lines"][-2:-1]
    assert "n x n" not in report.markdown(batches) and "|  | 1000 of them |" in report.markdown(batches) and "| n = 16 | .25 (" in report.markdown(batches)
    assert "packed" not in report.markdown(batches)
    few = made_up()
    few["limits"], few["left_out"] = {}, ["a case"]
    assert report.fraction(few, few["lines"][0], "float32") is None and "| float32 | 2 (1.5x T) |" in report.markdown(few)
    assert "Left out when the time was up: 1 of" in report.markdown(few)


@pytest.mark.parametrize("number, text", [(0.0312, ".0312"), (0.28549, ".285"), (15.53, "15.5"), (163.7, "164"), (1234.0, "1234"), (2.0, "2"), (0.00004, ".00004")])
def test_short_numbers(number, text):
    assert report.short(number) == text


def test_json_has_a_line_for_each_entry():
    found = {**made_up(), "empty": []}
    text = run.dumps(found)
    assert json.loads(text) == found and len(text.splitlines()) > len(found["lines"])
    assert run.number(float("nan")) is None and run.number(0.123456789) == 0.12346
