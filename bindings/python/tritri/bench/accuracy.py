"""Measured errors of every mode beside the bound that it obeys, and the numbers at the ends of the range."""
from __future__ import annotations

import numpy as np

from . import reference
from .contenders import Case
from .products import Mode, parse
from .run import errors, number, sampled_rows

PRODUCT = parse("lower*lower")
SAMPLED = 64
EDGE_N = 200  # where the expected result is computed element by element
# By how many powers of two graded inputs differ, either way: what float16's range and float64's reference leave room for.
GRADES = {"float32": 20, "complex64": 20, "bfloat16": 20, "float64": 6, "complex128": 6, "float16": 3}
# (smallest subnormal's exponent, largest finite number) of each type
RANGES = {"float32": (-149, np.finfo(np.float32).max), "complex64": (-149, np.finfo(np.float32).max), "float64": (-1074, np.finfo(np.float64).max),
          "complex128": (-1074, np.finfo(np.float64).max), "float16": (-24, 65504.0), "bfloat16": (-133, 255 * 2.0 ** 120)}

# How large the factors of subnormal numbers are, as powers of two: most results are normal.
UP = {"float32": 60, "complex64": 60, "bfloat16": 60, "float64": 600, "complex128": 600, "float16": 12}


def measure(machine, modes, sizes, step=lambda title: None) -> list[dict]:
    """One line for each mode, kind of input and n, then for each mode the edges of its range."""
    lines = []
    for mode in modes:
        for n in sizes:
            step(f"{mode.name}, n = {n}")
            lines += [_random(machine, mode, n, kind) for kind in KINDS]
        step(f"{mode.name}, the ends of its range")
        lines += [{"mode": mode.name, "n": EDGE_N, **edge(machine, mode)} for edge in EDGES]
    return lines


def _multiply(machine, mode: Mode, a, b):
    """lower * lower of one pair of matrices, each of shape (1, n, n): the case, its sets and the result."""
    case = Case(PRODUCT, a.shape[-1], (mode,))
    sets = machine.poisoned(case, a, b)
    return case, sets, machine.result(case, machine.ours(case, mode, sets, "auto"))


# ---------------------------------------------------------------------------------------------------- errors


def _powers(machine, mode: Mode, n: int):
    exponents = np.random.default_rng(n).integers(-GRADES[mode.dtype], GRADES[mode.dtype] + 1, n)
    return machine.array(2.0 ** exponents, mode.dtype), machine.array(2.0 ** -exponents, mode.dtype)


def _graded_lines(machine, mode, a, b):
    """Rows of A and columns of B of very different size."""
    up, down = _powers(machine, mode, a.shape[-1])
    return a * up[:, None], b * down


def _graded_sums(machine, mode, a, b):
    """Columns of A and rows of B of very different size, so that every sum is of terms of one size whose factors are not."""
    up, down = _powers(machine, mode, a.shape[-1])
    return a * up, b * down[:, None]


KINDS = {"random": lambda machine, mode, a, b: (a, b), "graded rows and columns": _graded_lines, "graded within sums": _graded_sums}


def _random(machine, mode: Mode, n: int, kind: str) -> dict:
    case = Case(PRODUCT, n, (mode,))
    a, b = KINDS[kind](machine, mode, machine.random(case, 1), machine.random(case, 1))
    case, sets, c = _multiply(machine, mode, a, b)
    sampled = sampled_rows(n, SAMPLED)
    error, worst, typical = errors(machine, case, machine.rows(case, sets, sampled), sampled, c)
    line = {"error": error, "max": worst, "rms": typical, "bound": mode.bound(n)}
    return {"mode": mode.name, "input": kind, "n": n, **{key: number(value) for key, value in line.items()}, "right": worst <= mode.bound(n)}


# ---------------------------------------------------------------------------------------------------- the ends of the range


def _edge(machine, mode: Mode, a: np.ndarray, b: np.ndarray):
    """The inputs as rounded to the type, and the result, on the host."""
    a, b = (machine.array(x[None], mode.dtype) for x in (a, b))
    _, _, c = _multiply(machine, mode, a, b)
    return machine.host(a[0]), machine.host(b[0]), machine.host(c)


def _normal(mode: Mode, seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    x = np.tril(generator.standard_normal((EDGE_N, EDGE_N)))
    return x + 1j * np.tril(generator.standard_normal((EDGE_N, EDGE_N))) if mode.dtype.startswith("complex") else x


def _subnormal(machine, mode: Mode) -> dict:
    """Subnormal numbers times large ones."""
    low, up = RANGES[mode.dtype][0], UP[mode.dtype]
    a, b, c = _edge(machine, mode, np.round(_normal(mode, 1) * 8) * 2.0 ** low, _normal(mode, 2) * 2.0 ** up)
    # Scaled by powers of two the same product has normal numbers only, on which float64 is exact enough.
    a, b, c = _shifted(a, -low), _shifted(b, -up), _shifted(c, -low - up)
    scale, held = np.abs(a) @ np.abs(b), np.tri(EDGE_N, dtype=bool)
    last_bit = 2.0 ** (-up - 1)  # what rounding a result that is subnormal itself may cost
    wrong = np.abs(reference.exact_rows(np, a, b, mode.dtype not in ("float64", "complex128")).difference(c))
    worst = float(np.max(np.maximum(wrong - last_bit, 0)[held] / np.maximum(scale, last_bit)[held]))
    return _judged(mode, {"input": "subnormal", "max": number(worst)}, worst <= mode.bound(EDGE_N))


def _shifted(x: np.ndarray, exponent: int) -> np.ndarray:
    return x * 2.0 ** (exponent // 2) * 2.0 ** (exponent - exponent // 2)


def _largest(machine, mode: Mode) -> dict:
    """Numbers up to the largest finite one, times the identity: they come back as they are."""
    largest = RANGES[mode.dtype][1]
    sizes = np.tril(np.random.default_rng(3).uniform(0.5, 1, (EDGE_N, EDGE_N)))
    sizes[sizes > 0.999] = 1
    np.fill_diagonal(sizes, 1)
    a, _, c = _edge(machine, mode, sizes * largest * np.where(np.arange(EDGE_N) % 2, -1, 1), np.eye(EDGE_N))
    return _counted(mode, "up to the largest", c != a)


def _identity(machine, mode: Mode) -> dict:
    """Every bit of A comes back from a product with the identity."""
    a, _, c = _edge(machine, mode, _normal(mode, 4), np.eye(EDGE_N))
    return _counted(mode, "times the identity", c != a)


def _non_finite(machine, mode: Mode) -> dict:
    """Inf and NaN inside the fills: NaN, Inf and finite where IEEE arithmetic has them, and nothing from structural zeros."""
    if mode.dtype.startswith("complex"):
        return {"input": "Inf and NaN", "right": None, "why": "a complex product of Inf has no one answer"}
    a, b = _normal(mode, 5), _normal(mode, 6)
    generator = np.random.default_rng(7)
    for x in (a, b):
        i, j = np.sort(generator.integers(0, EDGE_N, (2, 12)), axis=0)
        x[j, i] = np.resize([np.inf, -np.inf, np.nan, np.inf], 12)
    a, b, c = _edge(machine, mode, a, b)
    with np.errstate(invalid="ignore"):
        exact = np.zeros_like(c)
        for k in range(EDGE_N):
            exact[k:, :k + 1] += a[k:, k, None] * b[k, :k + 1]
        differ = (np.isnan(c) != np.isnan(exact)) | (np.isinf(c) != np.isinf(exact)) | (np.isinf(c) & (np.sign(c) != np.sign(exact)))
    return _counted(mode, "Inf and NaN", differ)


def _counted(mode: Mode, name: str, wrong: np.ndarray) -> dict:
    count = int(wrong.sum())
    return _judged(mode, {"input": name, "wrong_elements": count}, count == 0)


def _judged(mode: Mode, line: dict, right: bool) -> dict:
    if mode.compute == "tf32" and line["input"] != "Inf and NaN":
        return {**line, "right": None, "why": "TF32 rounds its inputs"}
    return {**line, "right": right}


EDGES = (_identity, _largest, _subnormal, _non_finite)
