"""Inputs, clock and peers of the CPU; also of a GPU where there is no PyTorch, then with this library alone."""
from __future__ import annotations

import time

import numpy as np

import tritri

from . import reference
from .contenders import OURS, PACKED, Absent, Case, Contender, Sets, count_of_sets, groups_of
from .products import ITEM, Mode

# What is rotated: more than the last level caches of today's desktop processors.
CACHE_BYTES = 32 << 20
# OpenBLAS's threads spin for 2**28 ticks after each of its calls (100 ms at 2.6 GHz), on cores that the next contender needs. They are waited for, at most so many seconds.
BLAS_SETTLES = 1


def wait_for_idle_threads() -> None:
    """Until no thread of this process runs."""
    end = time.perf_counter() + BLAS_SETTLES
    while time.perf_counter() < end:
        before = time.process_time()
        time.sleep(0.02)
        if time.process_time() - before < 5e-4:
            return


def numpy_dtype(name: str) -> np.dtype:
    if name != "bfloat16":
        return np.dtype(name)
    try:
        import ml_dtypes
    except ImportError:
        raise ValueError("bench: bfloat16 on the CPU needs the package ml_dtypes, which is not installed: pip install ml_dtypes") from None
    return np.dtype(ml_dtypes.bfloat16)


def keep(x: np.ndarray, fill: str, unit: bool, outside) -> np.ndarray:
    """A copy with `outside` where nothing is stored, on a unit diagonal too (there 1 if `outside` is 0)."""
    n = x.shape[-1]
    held = {"full": np.ones((n, n), bool), "lower": np.tri(n, dtype=bool), "upper": np.tri(n, dtype=bool).T}[fill]
    x = np.where(held, x, np.array(outside, x.dtype))
    if unit:
        x[..., range(n), range(n)] = np.array(1 if outside == 0 else outside, x.dtype)
    return x


class HostMachine:
    """Times by the host's clock, each contender in turn, with one call to warm up."""

    repeat = 7

    def __init__(self, device: str, threads: int):
        self.context = tritri.Context(device, threads=threads)
        self.on_cpu = self.context.device == "cpu"
        info = self.context.device_info
        self.threads = threads or (info["multiprocessors"] if self.on_cpu else 0)
        self.description = {"device": info["name"], "details": info["details"], "versions": {"tritri": tritri.__version__, "numpy": np.__version__}}
        self.how = ("host clock around each group of products, contenders in turns, one turn to warm up; inputs random, NaN where nothing may be read (peers: zeros), "
                    f"sets rotated over {2 * CACHE_BYTES >> 20} MiB")
        if self.on_cpu:
            self._match_peers()
        else:
            self.how += "; matrices stay on the GPU, the time of a launch counts"
        self.generator = np.random.default_rng(1)

    def _match_peers(self) -> None:
        """Gives NumPy's and SciPy's OpenBLAS as many threads as the context has, and writes down which they are."""
        versions = self.description["versions"]
        try:
            import scipy.linalg.blas
            versions["scipy"] = scipy.__version__
        except ImportError:
            pass
        try:
            import threadpoolctl
        except ImportError:
            self.how += "; the peers' threads are as many as they choose, since threadpoolctl is not installed"
            return
        threadpoolctl.threadpool_limits(self.threads, "blas")
        for library in threadpoolctl.threadpool_info():
            if library["user_api"] == "blas":
                versions[f"{library['internal_api']} of {library['prefix']}"] = f"{library['version']} ({library['architecture']}, {library['num_threads']} threads)"

    # ------------------------------------------------------------------------------------------------ inputs

    def random(self, case: Case, count: int) -> np.ndarray:
        shape = (count, *((case.batch,) if case.batch > 1 else ()), case.n, case.n)
        x = self.generator.standard_normal(shape, np.float32 if ITEM[case.dtype] < 8 else np.float64)
        if case.dtype.startswith("complex"):
            x = x + 1j * self.generator.standard_normal(shape)
        return x.astype(numpy_dtype(case.dtype))

    def poisoned(self, case: Case, a, b) -> Sets:
        """Sets of these inputs; a matrix without a zero serves ours and the peers."""
        left, right = case.product.a, case.product.b
        sets = [(x, x) if operand.fill == "full" else (keep(x, operand.fill, operand.unit, np.nan), keep(x, operand.fill, operand.unit, 0))
                for x, operand in ((a, left), (b, right))]
        return Sets(sets[0][0], sets[1][0], np.full(a.shape, np.nan, a.dtype), sets[0][1], sets[1][1], np.zeros(a.shape, a.dtype))

    def sets(self, case: Case) -> Sets:
        count = count_of_sets(case, CACHE_BYTES)
        return self.poisoned(case, self.random(case, count), self.random(case, count))

    # ------------------------------------------------------------------------------------------------ contenders

    def ours(self, case: Case, mode: Mode, sets: Sets, algorithm: str) -> Contender:
        product, place = case.product, self.context.wrap if self.on_cpu else self.context.upload
        name = OURS if algorithm == "auto" else f"{OURS} {algorithm}"
        handles = [(place(a, product.a.fill, product.a.diag), place(b, product.b.fill, product.b.diag), place(c, product.out))
                   for a, b, c in zip(sets.a, sets.b, sets.c)]

        def call(a, b, c):
            def multiply():
                self.context.multiply(a, b, out=c, a_op=product.a.op, b_op=product.b.op, compute=mode.compute, algorithm=algorithm)
                return c
            return multiply

        detail = self.context.explain(*handles[0], a_op=product.a.op, b_op=product.b.op, compute=mode.compute, algorithm=algorithm)
        return Contender(name, (mode,), [call(*three) for three in handles], detail=detail)

    def packed(self, case: Case, mode: Mode, sets: Sets) -> Contender:
        """Ours with every triangle packed, the result's too where it is one."""
        product = case.product

        def place(x, operand):
            matrix = self.context.matrix(x.shape, case.dtype, operand.fill, packed=operand.fill != "full")
            matrix.update(x)
            return matrix

        handles = [(place(a, product.a), place(b, product.b), self.context.matrix(a.shape, case.dtype, product.cut, packed=product.cut != "full")) for a, b in zip(sets.a, sets.b)]

        def call(a, b, c):
            def multiply():
                self.context.multiply(a, b, out=c, a_op=product.a.op, b_op=product.b.op, compute=mode.compute)
                return c
            return multiply

        detail = self.context.explain(*handles[0], a_op=product.a.op, b_op=product.b.op, compute=mode.compute)
        return Contender(PACKED, (mode,), [call(*three) for three in handles], detail=detail)

    def peers(self):
        """(name, what makes the contender of a case) of everyone else; making raises Absent."""
        if not self.on_cpu:
            return [("every peer", _need_torch)]
        return [("NumPy", self._numpy), ("OpenBLAS GEMM", self._gemm), ("OpenBLAS TRMM", self._trmm)]

    def _numpy(self, case: Case, sets: Sets, modes) -> Contender:
        product = case.product
        cut = {"lower": np.tril, "upper": np.triu, "full": lambda x: x}[product.cut]

        def call(a, b):
            a, b = (np.swapaxes(x, -1, -2) if op == "T" else x for x, op in ((a, product.a.op), (b, product.b.op)))
            return lambda: cut(a @ b)

        words = {"lower": "np.tril(a @ b)", "upper": "np.triu(a @ b)", "full": "a @ b"}[product.cut]
        return Contender("NumPy", modes, [call(a, b) for a, b in zip(sets.a_zero, sets.b_zero)], detail=words)

    def _blas(self, case: Case, word: str):
        if case.batch > 1:
            raise Absent("OpenBLAS has no batches")
        try:
            from scipy.linalg import blas
        except ImportError:
            raise Absent("SciPy, through which OpenBLAS is called, is not installed") from None
        letter = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}.get(case.dtype)
        if letter is None:
            raise Absent(f"OpenBLAS has no {case.dtype}")
        return getattr(blas, letter + word)

    # BLAS counts by columns, where our rows are columns: it is asked for C^T = op(B)^T op(A)^T.
    def _gemm(self, case: Case, sets: Sets, modes) -> Contender:
        gemm, product = self._blas(case, "gemm"), case.product

        def call(a, b, c):
            def multiply():
                gemm(1, b.T, a.T, 0, c.T, product.b.op == "T", product.a.op == "T", 1)
                return c
            return multiply

        return Contender("OpenBLAS GEMM", modes, [call(*three) for three in zip(sets.a_zero, sets.b_zero, sets.c_zero)])

    def _trmm(self, case: Case, sets: Sets, modes) -> Contender:
        trmm, product = self._blas(case, "trmm"), case.product
        triangle, full, on_right = triangle_for_trmm(product)
        triangles, fulls = (sets.a_zero, sets.b_zero) if on_right else (sets.b_zero, sets.a_zero)

        def before():
            sets.c_zero[...] = fulls  # it works in place

        def call(x, c):
            def multiply():
                trmm(1, x.T, c.T, on_right, triangle.fill == "upper", triangle.op == "T", triangle.unit, 1)
                return c
            return multiply

        return Contender("OpenBLAS TRMM", modes, [call(x, c) for x, c in zip(triangles, sets.c_zero)], before)

    # ------------------------------------------------------------------------------------------------ time

    def time(self, contenders: list[Contender], repeat: int) -> None:
        """Fills in the samples."""
        groups = {id(contender): groups_of(contender.calls, max(1, len(contender.calls) // 2)) for contender in contenders}
        restless = any("BLAS" in contender.name or contender.name == "NumPy" for contender in contenders)
        for turn in range(-1, repeat):
            for contender in contenders:
                group = groups[id(contender)][turn % len(groups[id(contender)])]
                if contender.before:
                    contender.before()
                if restless and contender.name.startswith(OURS):
                    wait_for_idle_threads()
                start = time.perf_counter()
                for call in group:
                    call()
                self.context.synchronize()
                if turn >= 0:
                    contender.samples.append((time.perf_counter() - start) / len(group))

    def limits(self, modes) -> dict:
        """Rates that nothing here exceeds: of NumPy's GEMM for each mode, and of copying."""
        rates = {}
        for mode in modes if self.on_cpu else ():
            if mode.dtype in ("float16", "bfloat16"):
                continue  # NumPy has no GEMM for them
            x = np.ones((1024, 1024), mode.dtype)
            rates[mode.name] = (8 if mode.dtype.startswith("complex") else 2) * 1024 ** 3 / _best(lambda: x @ x, 5)
        source = np.ones(64 << 20, np.uint8)
        target = np.empty_like(source)
        return {"flops_per_second": rates, "bytes_per_second": 2 * source.nbytes / _best(lambda: np.copyto(target, source), 5)} if self.on_cpu else {}

    # ------------------------------------------------------------------------------------------------ right or wrong

    def rows(self, case: Case, sets: Sets, sampled) -> reference.Rows:
        """The product's rows, for the first set; in a batch its first matrix."""
        a, b = (x[0] if case.batch == 1 else x[0, 0] for x in (sets.a_zero, sets.b_zero))
        a, b = (x.T if operand.op == "T" else x for x, operand in ((a, case.product.a), (b, case.product.b)))
        wide = np.complex128 if case.dtype.startswith("complex") else np.float64
        return reference.exact_rows(np, a[sampled].astype(wide), b.astype(wide), ITEM[case.dtype] < (16 if wide is np.complex128 else 8))

    def result(self, case: Case, contender: Contender):
        """What the contender computes for the first set; in a batch its first matrix."""
        if contender.before:
            contender.before()
        c = contender.calls[0]()
        c = c if isinstance(c, np.ndarray) else c.download()
        return c if case.batch == 1 else c[0]

    def widen(self, x):
        """As float64 or complex128."""
        return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)

    def inside(self, rows, sampled, fill: str):
        """Sampled rows of a matrix with zeros outside the fill."""
        i, j = np.asarray(sampled)[:, None], np.arange(rows.shape[-1])
        return np.where({"full": j >= 0, "lower": j <= i, "upper": j >= i}[fill], rows, 0)

    def array(self, x: np.ndarray, dtype: str):
        """Host numbers as inputs are made of."""
        return x.astype(numpy_dtype(dtype))

    def host(self, x) -> np.ndarray:
        """Numbers of the machine as float64 or complex128 on the host."""
        return self.widen(x)

    xp = np

    def close(self) -> None:
        self.context.close()


def _need_torch(case, sets, modes):
    raise Absent("PyTorch with CUDA, which makes inputs and peers on a GPU, is not installed")


def _best(work, repeat: int) -> float:
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def triangle_for_trmm(product):
    """(the operand that TRMM treats as a triangle, the other one, whether BLAS, which sees transposes, has it on the right). Absent if there is none."""
    if product.a.fill != "full" and product.b.op == "N":
        return product.a, product.b, True
    if product.b.fill != "full" and product.a.op == "N":
        return product.b, product.a, False
    raise Absent("TRMM needs a triangle beside a matrix that is not transposed")
