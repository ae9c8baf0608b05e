"""Writes vectors.txt (see README.md): python generate.py > vectors.txt; --check compares with the committed file."""
import itertools
import math
import pathlib
import sys

import numpy as np

SEED = 20240229
FILLS, OPS, DIAGS, ORDERS = ("full", "lower", "upper"), "NTCR", ("nonunit", "unit"), ("row", "column")
DTYPES = {"float32": np.float32, "float64": np.float64, "complex64": np.complex64, "complex128": np.complex128}
SENTINEL = 777


def inside(rows, cols, fill):
    i, j = np.indices((rows, cols))
    return {"full": i >= 0, "lower": i >= j, "upper": i <= j}[fill]


def apply_op(x, op):
    x = x.swapaxes(-1, -2) if op in "TC" else x
    return x.conj() if op in "CR" else x


class Matrix:
    """Values of one operand, or of a batch (values with three axes), and how they lie in a buffer. count: how often one matrix is given, by a stride of 0."""

    def __init__(self, values, fill="full", diag="nonunit", order="row", padding=0, storage="strided", gap=0, count=None):
        self.values, self.fill, self.diag, self.order, self.storage = np.asarray(values), fill, diag, order, storage
        self.rows, self.cols = self.values.shape[-2:]
        self.ld = max(1, (self.cols if order == "row" else self.rows) + padding) if storage == "strided" else 0
        self.count = count or (self.values.shape[0] if self.values.ndim == 3 else 1)
        self.stride = 0 if count or self.values.ndim == 2 else len(self.lines(self.values[0])) + gap

    def wide(self):
        """What the operand means: zeros outside the fill, ones on a unit diagonal."""
        wide = np.where(inside(self.rows, self.cols, self.fill), self.values.astype(np.clongdouble), 0)
        if self.diag == "unit":
            for i in range(min(self.rows, self.cols)):
                wide[..., i, i] = 1
        return wide

    def poisoned(self, poison=math.nan):
        """The stored values: poison where nothing may be read."""
        stored = np.where(inside(self.rows, self.cols, self.fill), self.values, poison).astype(self.values.dtype)
        if self.diag == "unit":
            for i in range(min(self.rows, self.cols)):
                stored[..., i, i] = poison
        return stored

    def lines(self, stored):
        """One matrix as it lies in memory."""
        lines, kept = (x if self.order == "row" else x.T for x in (stored, inside(self.rows, self.cols, self.fill)))
        if self.storage == "packed":
            return lines[kept]
        padded = np.full((lines.shape[0], self.ld), math.nan, dtype=stored.dtype)
        padded[:, :lines.shape[1]] = lines
        return padded.ravel()

    def buffer(self, stored):
        matrices = [self.lines(one) for one in (stored if stored.ndim == 3 else [stored])]
        buffer = np.full(self.stride * (len(matrices) - 1) + len(matrices[0]), math.nan, dtype=stored.dtype)
        for i, matrix in enumerate(matrices):
            buffer[i * self.stride:i * self.stride + len(matrix)] = matrix
        return buffer

    def header(self):
        more = f" {self.storage} {self.count} {self.stride}" if self.storage == "packed" or self.count > 1 else ""
        return f"{self.rows} {self.cols} {self.fill} {self.diag} {self.order} {self.ld}{more}"


def number(x):
    x = float(x)
    if math.isnan(x):
        return "NaN"
    if math.isinf(x):
        return "Infinity" if x > 0 else "-Infinity"
    return repr(x).removesuffix(".0")


def numbers(buffer):
    if np.iscomplexobj(buffer):
        buffer = np.stack([buffer.real, buffer.imag], axis=-1).ravel()
    return " ".join(number(x) for x in buffer)


class Writer:
    def __init__(self):
        self.lines = [f"# Written by generate.py with seed {SEED}; README.md says what it means.", ""]

    def call(self, name, dtype, a, b, c, c_stored, ops, alpha, beta, compute, a_stored, b_stored):
        alpha, beta = complex(alpha), complex(beta)
        self.lines += [f"case {name}", f"dtype {dtype}", f"ops {ops[0]} {ops[1]}", f"alpha {number(alpha.real)} {number(alpha.imag)}",
                       f"beta {number(beta.real)} {number(beta.imag)}", f"compute {compute}"]
        for key, matrix, stored in (("a", a, a_stored), ("b", b, b_stored), ("c", c, c_stored)):
            self.lines += [f"{key} {matrix.header()}", f"{key}_data {numbers(matrix.buffer(stored))}".rstrip()]

    def product(self, name, dtype, a, b, c, ops="NN", alpha=1, beta=0, compute="default", exact=True):
        """c.values are C's former values; what is outside its fill is the sentinel."""
        c_fill = inside(c.rows, c.cols, c.fill)
        former = np.where(c_fill, math.nan if beta == 0 else c.values, SENTINEL).astype(c.values.dtype)
        a_stored = a.poisoned() if alpha != 0 else np.full_like(a.values, math.nan)
        b_stored = b.poisoned() if alpha != 0 else np.full_like(b.values, math.nan)
        self.call(name, dtype, a, b, c, former, ops, alpha, beta, compute, a_stored, b_stored)
        left, right = apply_op(a.wide(), ops[0]), apply_op(b.wide(), ops[1])
        result = np.zeros(c.values.shape, np.clongdouble)
        if alpha != 0:
            result += np.clongdouble(alpha) * (left @ right)
        if beta != 0:
            result += np.clongdouble(beta) * c.values.astype(np.clongdouble)
        tolerance = 0.0
        if not exact:
            scale = abs(complex(alpha)) * (np.abs(left) @ np.abs(right)) + abs(complex(beta)) * np.abs(c.values)
            tolerance = float(f"{4 * (a.values.shape[-1] + 2) * np.finfo(DTYPES[dtype]).eps * scale.max():.2g}")
        if not np.iscomplexobj(c.values):
            result = result.real
        expected = np.where(c_fill, result, SENTINEL).astype(DTYPES[dtype])
        self.lines += [f"expected {numbers(c.buffer(expected))}".rstrip(), f"tolerance {number(tolerance)}", "end", ""]

    def refused(self, name, dtype, a, b, c, text, ops="NN", alpha=1, beta=0, compute="default"):
        former = np.full(c.values.shape, SENTINEL, DTYPES[dtype])
        self.call(name, dtype, a, b, c, former, ops, alpha, beta, compute, a.values, b.values)
        self.lines += [f"refused {text}", "end", ""]


def halves(random, shape, dtype):
    """Multiples of a half from -4 to 4: every product of them is exact in every type."""
    real = random.integers(-8, 9, shape) / 2
    return (real + 0.5j * random.integers(-8, 9, shape) if dtype.startswith("complex") else real).astype(DTYPES[dtype])


def anything(random, shape, dtype):
    real = random.standard_normal(shape)
    return (real + 1j * random.standard_normal(shape) if dtype.startswith("complex") else real).astype(DTYPES[dtype])


def shapes(ops, m, k, n):
    return ((k, m) if ops[0] in "TC" else (m, k)), ((n, k) if ops[1] in "TC" else (k, n))


def grid(writer, random):
    """Every fill of A, B and C, with ops, diags, orders, dtypes, sizes, scalars and paddings dealt around so that each pair of values occurs."""
    ops = list(itertools.product(OPS, OPS))
    for index, (fa, fb, fc, turn) in enumerate(itertools.product(FILLS, FILLS, FILLS, range(7))):
        dtype = list(DTYPES)[(index + turn) % 4]
        op = ops[(index * 5 + turn) % 16]
        m, k, n = (int(x) for x in random.integers(1, 6, 3))
        if turn < 3:
            m = k = n = 2 + (index + turn) % 4
        a_shape, b_shape = shapes(op, m, k, n)
        make = anything if turn == 6 else halves
        da, db = DIAGS[turn % 2], DIAGS[(turn // 2) % 2]
        oa, ob, oc = (ORDERS[int(x)] for x in random.integers(0, 2, 3))
        alpha, beta = [(1, 0), (2, 0.5), (1, 0), (-1, 1), (1, 0), (0, 2), (0.5, -2)][turn]
        if dtype.startswith("complex") and turn in (1, 3):
            alpha, beta = complex(alpha, -0.5), complex(beta, 1)
        pa, pb, pc = (int(x) for x in random.integers(0, 3, 3))
        writer.product(f"grid_{index:03d}_{dtype}_{fa}_{fb}_to_{fc}_{op[0]}{op[1]}", dtype, Matrix(make(random, a_shape, dtype), fa, da, oa, pa),
                       Matrix(make(random, b_shape, dtype), fb, db, ob, pb), Matrix(make(random, (m, n), dtype), fc, "nonunit", oc, pc), op, alpha, beta,
                       exact=turn != 6)


def field_cases(writer):
    """The small cases that libraries of this kind got wrong."""
    nan, inf = math.nan, math.inf
    lower, upper = [[4, nan], [5, 6]], [[1, 2], [nan, 3]]
    for dtype, number_type in DTYPES.items():
        def matrix(values, *layout):
            return Matrix(np.array(values, number_type), *layout)

        def result(rows=2, cols=2, *layout):
            return Matrix(np.full((rows, cols), nan, number_type), *layout)

        u, low = matrix(upper, "upper"), matrix(lower, "lower")
        writer.product(f"upper_times_lower_{dtype}", dtype, u, low, result())
        writer.product(f"upper_times_upper_has_exact_zeros_{dtype}", dtype, u, u, result())
        writer.product(f"upper_times_its_transpose_{dtype}", dtype, u, u, result(), "NT")
        writer.product(f"V3_unit_upper_on_the_right_{dtype}", dtype, matrix([[2, 3], [nan, 4]], "upper"), matrix([[9, 5], [nan, 9]], "upper", "unit"), result())
        writer.product(f"V5_ones_{dtype}", dtype, matrix(np.ones((3, 3)), "upper"), matrix(np.ones((3, 3))), result(3, 3))
        writer.product(f"V9_full_times_upper_{dtype}", dtype, matrix([[1, 4], [2, 5], [3, 6]]), matrix([[1, 1], [0, 1]], "upper"), result(3, 2))
        writer.product(f"V11_upper_only_{dtype}", dtype, u, low, result(2, 2, "upper"))
        writer.product(f"V15_alpha_and_beta_{dtype}", dtype, u, low, matrix([[2, 4], [6, 8]]), alpha=2, beta=0.5)
        writer.product(f"V14_alpha_0_{dtype}", dtype, u, low, matrix([[1, 2], [3, 4]]), alpha=0, beta=2)
        writer.product(f"V14_alpha_and_beta_0_{dtype}", dtype, u, low, result(), alpha=0)
        writer.product(f"V16_inner_dimension_0_{dtype}", dtype, matrix(np.zeros((2, 0))), matrix(np.zeros((0, 2))), matrix([[1, 2], [3, 4]]), beta=2)
        writer.product(f"V17_empty_{dtype}", dtype, matrix(np.zeros((0, 0)), "lower"), matrix(np.zeros((0, 0)), "lower"), result(0, 0))
        writer.product(f"one_by_one_{dtype}", dtype, matrix([[3]], "lower"), matrix([[5]], "upper"), result(1, 1, "lower"))
        if not dtype.startswith("complex"):
            infinite = matrix([[inf, 1], [nan, 1]], "upper")
            writer.call(f"P3_infinity_stays_in_its_row_{dtype}", dtype, infinite, matrix([[2, 3], [nan, 4]], "upper"), result(), result().values, "NN", 1, 0,
                        "default", infinite.values, matrix([[2, 3], [nan, 4]]).values)
            writer.lines += ["expected Infinity Infinity 0 4", "tolerance 0", "end", ""]
        else:
            writer.product(f"V12_conjugate_transpose_{dtype}", dtype, matrix([[1 + 2j]]), matrix([[1 + 1j]]), result(1, 1), "NC")
            writer.product(f"V12_conjugate_alone_{dtype}", dtype, matrix([[1j]]), matrix([[1]]), result(1, 1), "RN")
    tiny = Matrix(np.array([[2.0 ** -140, math.nan], [0, 1]], np.float32), "lower")
    writer.product("P4_subnormal", "float32", tiny, Matrix(np.array([[2.0 ** 20, 0], [0, 1]], np.float32)), Matrix(np.zeros((2, 2), np.float32)))
    fine = Matrix(np.array([[1 + 2.0 ** -12, math.nan], [0, 1 + 2.0 ** -12]], np.float32), "lower")
    for compute in ("default", "pedantic"):
        writer.product(f"P2_no_tf32_in_{compute}", "float32", fine, Matrix(np.eye(2, dtype=np.float32)), Matrix(np.zeros((2, 2), np.float32)), compute=compute)


def batches_and_packed(writer, random):
    """Packed triangles and strided matrices mixed, alone and in batches that lie apart, of which an input may be one matrix for all."""
    ways = list(itertools.product(("strided", "packed"), repeat=3))
    for index, ((sa, sb, sc), turn) in enumerate(itertools.product(ways, range(6))):
        dtype = list(DTYPES)[(index + turn) % 4]
        op = OPS[index % 4] + OPS[(index // 4 + turn) % 4]
        fills = [FILLS[1:][(index + i + turn) % 2] if storage == "packed" else FILLS[(index + i) % 3] for i, storage in enumerate((sa, sb, sc))]
        da, db = DIAGS[turn % 2], DIAGS[index % 2]
        orders = [ORDERS[int(x)] for x in random.integers(0, 2, 3)]
        batch = (0, 3, 2, 0, 4, 2)[turn]  # 0: no batch
        one_for_all = (None, None, 0, None, 1, None)[turn]
        m, k, n = (int(x) for x in random.integers(1, 5, 3))
        alpha, beta = [(1, 0), (2, -1), (1, 0.5)][turn % 3]
        matrices = []
        for i, (shape, storage) in enumerate(zip((*shapes(op, m, k, n), (m, n)), (sa, sb, sc))):
            shared = batch and one_for_all == i
            full_shape = (1 if shared else batch, *shape) if batch else shape
            padding = int(random.integers(0, 2)) if storage == "strided" else 0
            matrices.append(Matrix(halves(random, full_shape, dtype), fills[i], (da, db, "nonunit")[i], orders[i], padding, storage,
                                   gap=int(random.integers(0, 3)) if batch else 0, count=batch if shared else None))
        name = f"batch_{batch}_{sa}_{sb}_to_{sc}_{fills[0]}_{fills[1]}_{fills[2]}_{op}_{dtype}"
        writer.product(name, dtype, *matrices, op, alpha, beta)

    for dtype, number_type in DTYPES.items():
        def zeros(*shape, **layout):
            return Matrix(np.zeros(shape, number_type), **layout)

        lower = dict(fill="lower", storage="packed")
        writer.refused(f"refused_packed_full_{dtype}", dtype, zeros(2, 2, storage="packed"), zeros(2, 2), zeros(2, 2), "storage PACKED needs fill LOWER or UPPER, got FULL")
        padded = zeros(2, 2, **lower)
        padded.ld = 2
        writer.refused(f"refused_packed_ld_{dtype}", dtype, padded, zeros(2, 2), zeros(2, 2), "ld must be 0")
        writer.refused(f"refused_batch_that_does_not_match_{dtype}", dtype, zeros(3, 2, 2), zeros(2, 2, 2), zeros(3, 2, 2), "batch_count")
        writer.refused(f"refused_batch_of_c_{dtype}", dtype, zeros(3, 2, 2), zeros(3, 2, 2), zeros(2, 2), "batch_count")
        writer.refused(f"refused_stride_0_of_c_{dtype}", dtype, zeros(3, 2, 2), zeros(3, 2, 2), zeros(1, 2, 2, count=3), "batch_stride")
        overlapping = zeros(3, 2, 2)
        overlapping.stride = 3
        writer.refused(f"refused_overlapping_c_{dtype}", dtype, zeros(3, 2, 2), zeros(3, 2, 2), overlapping, "batch_stride")
        overlapping = zeros(3, 3, 3, **lower)
        overlapping.stride = 5
        writer.refused(f"refused_overlapping_packed_c_{dtype}", dtype, zeros(3, 3, 3), zeros(3, 3, 3), overlapping, "batch_stride")


def refusals(writer):
    for dtype in ("float32", "float64", "complex64", "complex128"):
        def zeros(rows, cols, *layout):
            return Matrix(np.zeros((rows, cols), DTYPES[dtype]), *layout)

        writer.refused(f"refused_inner_sizes_{dtype}", dtype, zeros(2, 3), zeros(2, 2), zeros(2, 2), "op(B) must have as many rows as op(A) has columns, 3, got 2 x 2")
        writer.refused(f"refused_inner_sizes_after_op_{dtype}", dtype, zeros(2, 3), zeros(3, 2), zeros(3, 2), "op(B) must have as many rows as op(A) has columns, 2, got 3 x 2",
                       ops="TN")
        writer.refused(f"refused_shape_of_c_{dtype}", dtype, zeros(2, 2, "lower"), zeros(2, 3), zeros(2, 2), "must be 2 x 3 as op(A) op(B) is, got 2 x 2")
        writer.refused(f"refused_unit_diagonal_of_c_{dtype}", dtype, zeros(2, 2), zeros(2, 2), zeros(2, 2, "lower", "unit"), "diag must be TRITRI_DIAG_NON_UNIT")
        for key in "abc":
            wrong = {"a": zeros(2, 2, "lower"), "b": zeros(2, 2, "lower"), "c": zeros(2, 2)}
            wrong[key].ld = 1
            wrong[key].buffer = lambda stored: stored.ravel()
            writer.refused(f"refused_ld_of_{key}_{dtype}", dtype, wrong["a"], wrong["b"], wrong["c"], "ld must be 0 (tight) or at least the line's length 2, got 1")
        if dtype != "float32":
            for compute in ("pedantic", "tf32"):
                writer.refused(f"refused_{compute}_{dtype}", dtype, zeros(2, 2), zeros(2, 2), zeros(2, 2), "compute must be TRITRI_COMPUTE_DEFAULT", compute=compute)
        if not dtype.startswith("complex"):
            writer.refused(f"refused_complex_alpha_{dtype}", dtype, zeros(2, 2), zeros(2, 2), zeros(2, 2), "alpha_im must be 0", alpha=1 + 1j)
            writer.refused(f"refused_complex_beta_{dtype}", dtype, zeros(2, 2), zeros(2, 2), zeros(2, 2), "beta_im must be 0", beta=2j)


def main():
    random = np.random.default_rng(SEED)
    writer = Writer()
    grid(writer, random)
    field_cases(writer)
    refusals(writer)
    batches_and_packed(writer, random)
    text = "\n".join(writer.lines)
    if "--check" in sys.argv[1:]:
        committed = pathlib.Path(__file__).with_name("vectors.txt").read_text()
        sys.exit("vectors.txt is not what generate.py writes" if committed != text else 0)
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
