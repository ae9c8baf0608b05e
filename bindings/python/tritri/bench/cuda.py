"""Inputs, clock and peers of a GPU, by PyTorch."""
from __future__ import annotations

import math
import subprocess

import torch

import tritri

from . import blocks, reference
from .contenders import OURS, PACKED, Absent, Case, Contender, Sets, count_of_sets, groups_of
from .cublas import WORKSPACE_BYTES, Cublas
from .products import ITEM, Mode, parse

try:
    from . import triton_kernel
except ImportError:
    triton_kernel = None

# A sample is one replay of a graph of so many products, which takes long enough for the start of a graph, some 8 us, not to count.
SAMPLE_MS = 1.0
MOST_IN_SAMPLE = 128
# How often each way to cut the work is tried before the fastest is measured.
TRIALS = 3
_DENSE = parse("full*full")


class CudaMachine:
    """Times by CUDA events around replayed graphs, each contender in turn."""

    repeat = 20
    xp = torch
    on_cpu = False

    def __init__(self, device: str):
        self.device = torch.device(device)
        self.cache_bytes = torch.cuda.get_device_properties(self.device).L2_cache_size
        torch.cuda.set_device(self.device)
        self.stream = torch.cuda.Stream(self.device)
        torch.cuda.set_stream(self.stream)
        self.context = tritri.Context(device, stream=self.stream.cuda_stream)
        info = self.context.device_info
        self.threads = 0
        self.workspace = torch.empty(WORKSPACE_BYTES, dtype=torch.uint8, device=self.device)
        versions = {"tritri": tritri.__version__, "torch": torch.__version__, "triton": triton_kernel.triton.__version__ if triton_kernel else None}
        try:
            self.cublas, self.no_cublas = Cublas(self.stream.cuda_stream, self.workspace.data_ptr()), None
            versions["cublas"] = self.cublas.version()
        except Absent as why:
            self.cublas, self.no_cublas = None, why
        self.description = {"device": info["name"], "details": info["details"], "compute_capability": "{}.{}".format(*info["compute_capability"]),
                            "multiprocessors": info["multiprocessors"], "driver": _driver(), "driver_cuda": info["driver_version"], "runtime_cuda": info["runtime_version"],
                            "versions": versions}
        self.how = (f"device time by CUDA events around replayed graphs of {SAMPLE_MS:.0f} ms or up to {MOST_IN_SAMPLE} products, contenders in turns, "
                    f"one turn to warm up; inputs random, NaN where nothing may be read (peers: zeros, and zeros in C before they start), sets rotated over "
                    f"{2 * self.cache_bytes >> 20} MiB; excludes the host's share of a call")
        self.generator = torch.Generator(self.device).manual_seed(1)

    # ------------------------------------------------------------------------------------------------ inputs

    def random(self, case: Case, count: int) -> torch.Tensor:
        shape = (count, *((case.batch,) if case.batch > 1 else ()), case.n, case.n)
        return torch.randn(shape, dtype=getattr(torch, case.dtype), device=self.device, generator=self.generator)

    def poisoned(self, case: Case, a, b) -> Sets:
        """Sets of these inputs; a matrix without a zero serves ours and the peers."""
        left, right = case.product.a, case.product.b
        sets = [(x, x) if operand.fill == "full" else (keep(x, operand.fill, operand.unit, float("nan")), keep(x, operand.fill, operand.unit, 0.0))
                for x, operand in ((a, left), (b, right))]
        return Sets(sets[0][0], sets[1][0], torch.full_like(a, float("nan")), sets[0][1], sets[1][1], torch.zeros_like(a))

    def sets(self, case: Case) -> Sets:
        torch.cuda.empty_cache()
        count = count_of_sets(case, self.cache_bytes)
        return self.poisoned(case, self.random(case, count), self.random(case, count))

    # ------------------------------------------------------------------------------------------------ contenders

    def ours(self, case: Case, mode: Mode, sets: Sets, algorithm: str) -> Contender:
        product, wrap = case.product, self.context.wrap
        name = OURS if algorithm == "auto" else f"{OURS} {algorithm}"
        handles = [(wrap(a, product.a.fill, product.a.diag), wrap(b, product.b.fill, product.b.diag), wrap(c, product.out), c)
                   for a, b, c in zip(sets.a, sets.b, sets.c)]

        def call(a, b, out, c):
            def multiply():
                self.context.multiply(a, b, out=out, a_op=product.a.op, b_op=product.b.op, compute=mode.compute, algorithm=algorithm)
                return c
            return multiply

        detail = self.context.explain(*handles[0][:3], a_op=product.a.op, b_op=product.b.op, compute=mode.compute, algorithm=algorithm)
        return Contender(name, (mode,), [call(*four) for four in handles], detail=detail)

    def packed(self, case: Case, mode: Mode, sets: Sets) -> Contender:
        """Ours with every triangle packed, the result's too where it is one."""
        product = case.product

        def place(like, fill, x=None):
            matrix = self.context.matrix(like.shape, case.dtype, fill, packed=fill != "full")
            memory = torch.from_dlpack(matrix)
            memory.copy_(torch.full_like(memory, float("nan")) if x is None else x if fill == "full" else x[..., _held(case.n, fill, self.device)])
            return matrix

        handles = [(place(a, product.a.fill, a), place(b, product.b.fill, b), place(a, product.cut)) for a, b in zip(sets.a, sets.b)]

        def call(a, b, c):
            def multiply():
                self.context.multiply(a, b, out=c, a_op=product.a.op, b_op=product.b.op, compute=mode.compute)
                return c
            return multiply

        def dense(c):
            memory, full = torch.from_dlpack(c), torch.zeros_like(sets.c[0])
            full[..., _held(case.n, product.cut, self.device)] = memory
            return full

        detail = self.context.explain(*handles[0], a_op=product.a.op, b_op=product.b.op, compute=mode.compute)
        return Contender(PACKED, (mode,), [call(*three) for three in handles], detail=detail, dense=dense)

    def peers(self):
        """(name, what makes the contender of a case) of everyone else; making raises Absent."""
        return [("cuBLAS GEMM", self._gemm), ("cuBLAS TRMM", self._trmm), ("cuBLAS blocked", self._blocked), ("PyTorch", self._torch), ("Triton", self._triton)]

    def _handle(self) -> Cublas:
        if self.cublas is None:
            raise self.no_cublas
        return self.cublas

    def _gemm(self, case: Case, sets: Sets, modes) -> Contender:
        gemm = self._handle().gemm
        calls = [_giving(c, gemm(modes[0], case.product, case.n, a.data_ptr(), b.data_ptr(), c.data_ptr(), batch=case.batch))
                 for a, b, c in zip(sets.a_zero, sets.b_zero, sets.c_zero)]
        return Contender("cuBLAS GEMM" if case.batch == 1 else "cuBLAS batched GEMM", modes, calls)

    def _trmm(self, case: Case, sets: Sets, modes) -> Contender:
        if modes[0].compute == "tf32":
            raise Absent("cuBLAS has no TRMM in TF32")
        if case.batch > 1:
            raise Absent("cuBLAS has no batched TRMM out of place")
        trmm = self._handle().trmm
        calls = [_giving(c, trmm(case.dtype, case.product, case.n, a.data_ptr(), b.data_ptr(), c.data_ptr())) for a, b, c in zip(sets.a_zero, sets.b_zero, sets.c_zero)]
        return Contender("cuBLAS TRMM", modes, calls)

    def _blocked(self, case: Case, sets: Sets, modes) -> Contender:
        if case.batch > 1 or case.n < 256:
            raise Absent("blocks of less than 64 are not worth a GEMM each")
        gemm, ways, large = self._handle().gemm, [], case.n > 4096
        for form in blocks.FORMS:
            if form == "panels" and ITEM[case.dtype] == 2:
                continue  # every panel would round C to 16 bits
            if form == "strips" and large:
                continue  # they skip only one of the triangles
            for parts in (8, 16) if large else (2, 4, 8, 16):
                block = case.n // parts
                if block >= 64:
                    ways.append((form, block, blocks.gemms(case.product, case.n, block, form)))

        def call(form, pieces, a, b, c):
            work = [gemm(modes[0], case.product, case.n, a.data_ptr(), b.data_ptr(), c.data_ptr(), piece, form == "panels") for piece in pieces]

            def multiply():
                if form == "panels":
                    c.zero_()
                for piece in work:
                    piece()
                return c
            return multiply

        def contender(form, block, pieces, count):
            calls = [call(form, pieces, *three) for three in list(zip(sets.a_zero, sets.b_zero, sets.c_zero))[:count]]
            return Contender("cuBLAS blocked", modes, calls, detail=f"{form} of {block}")

        tried = [contender(*way, 2) for way in ways]
        self.time(tried, 1 if large else TRIALS)
        best = min(range(len(ways)), key=lambda i: min(tried[i].samples))
        sets.c_zero.zero_()
        return contender(*ways[best], len(sets))

    def _torch(self, case: Case, sets: Sets, modes) -> Contender:
        if case.n >= 16384:
            raise Absent("its product is cuBLAS GEMM, which is there, and seconds long")
        product = case.product
        cut = {"lower": torch.tril, "upper": torch.triu, "full": lambda x: x}[product.cut]
        words = "torch.bmm(a, b)" if case.batch > 1 else "a @ b"
        tf32 = modes[0].compute == "tf32"

        def call(a, b):
            a, b = (x.mT if op == "T" else x for x, op in ((a, product.a.op), (b, product.b.op)))

            def multiply():
                torch.backends.cuda.matmul.allow_tf32 = tf32
                return cut(a @ b)
            return multiply

        words = {"lower": f"torch.tril({words})", "upper": f"torch.triu({words})", "full": words}[product.cut]
        return Contender("PyTorch", modes, [call(a, b) for a, b in zip(sets.a_zero, sets.b_zero)], detail=words)

    def _triton(self, case: Case, sets: Sets, modes) -> Contender:
        if triton_kernel is None:
            raise Absent("Triton is not installed")
        triton_kernel.check(case.product, modes[0], case.batch)
        calls = [triton_kernel.call(case.product, modes[0], *three) for three in zip(sets.a_zero, sets.b_zero, sets.c_zero)]
        try:
            calls[0]()  # compiles
        except Exception as wrong:
            raise Absent(f"Triton does not compile the kernel for {modes[0].name}: {type(wrong).__name__}") from None
        return Contender("Triton", modes, calls)

    # ------------------------------------------------------------------------------------------------ time

    def time(self, contenders: list[Contender], repeat: int) -> None:
        """Fills in the samples. What a contender allocates stays in its graph's own memory."""
        graphs = {}
        for contender in contenders:
            contender.calls[0]()  # whatever starts up at a first call does so here, not in a capture
            start = self._stamp()
            contender.calls[-1]()
            end = self._stamp()
            end.synchronize()
            size = min(MOST_IN_SAMPLE, math.ceil(SAMPLE_MS / max(1e-3, start.elapsed_time(end))))
            graphs[id(contender)] = [self._capture(group) for group in groups_of(contender.calls, size)]
        events = []
        for turn in range(-1, repeat):
            for contender in contenders:
                graph, size = graphs[id(contender)][turn % len(graphs[id(contender)])]
                start = self._stamp()
                graph.replay()
                end = self._stamp()
                if turn >= 0:
                    events.append((contender, start, end, size))
        self.stream.synchronize()
        for contender, start, end, size in events:
            contender.samples.append(start.elapsed_time(end) * 1e-3 / size)

    def _stamp(self) -> torch.cuda.Event:
        event = torch.cuda.Event(enable_timing=True)
        event.record(self.stream)
        return event

    def _capture(self, group) -> tuple:
        graph = torch.cuda.CUDAGraph()
        graph.capture_begin()
        try:
            for call in group:
                call()
        finally:
            graph.capture_end()
        return graph, len(group)

    def limits(self, modes) -> dict:
        """Rates that nothing here exceeds: of cuBLAS GEMM for each mode (float32 by three TF32 products: a third of TF32's), and of copying."""
        rates, n = {}, 8192
        wanted = {Mode("float32", "tf32") if mode == Mode("float32") else mode for mode in modes}
        for mode in wanted if self.cublas else ():
            case = Case(_DENSE, n, (mode,))
            x = self.random(case, 2)
            contender = self._gemm(case, Sets(x, x, x, x, x, torch.zeros_like(x)), (mode,))
            self.time([contender], TRIALS)
            rates[mode.name] = _DENSE.useful_flops(n, mode.dtype) / min(contender.samples)
        if "float32-tf32" in rates:
            rates["float32"] = rates["float32-tf32"] / 3
        source = torch.ones(1 << 29, device=self.device)
        target = torch.empty_like(source)
        copy = Contender("copy", (), [lambda: torch.neg(source, out=target)] * 2)  # by a kernel: the copy engine is slower
        self.time([copy], TRIALS)
        return {"flops_per_second": rates, "bytes_per_second": 2 * source.nbytes / min(copy.samples)}

    # ------------------------------------------------------------------------------------------------ right or wrong

    def rows(self, case: Case, sets: Sets, sampled) -> reference.Rows:
        """The product's rows, for the first set; in a batch its first matrix."""
        a, b = (x[0] if case.batch == 1 else x[0, 0] for x in (sets.a_zero, sets.b_zero))
        a, b = (x.T if operand.op == "T" else x for x, operand in ((a, case.product.a), (b, case.product.b)))
        wide = torch.complex128 if case.dtype.startswith("complex") else torch.float64
        return reference.exact_rows(torch, a[list(sampled)].to(wide), b.to(wide), ITEM[case.dtype] < (16 if wide is torch.complex128 else 8))

    def result(self, case: Case, contender: Contender) -> torch.Tensor:
        """What the contender computes for the first set; in a batch its first matrix."""
        c = contender.dense(contender.calls[0]())
        return c if case.batch == 1 else c[0]

    def widen(self, x: torch.Tensor) -> torch.Tensor:
        """As float64 or complex128."""
        return x.to(torch.complex128 if x.is_complex() else torch.float64)

    def inside(self, rows, sampled, fill: str) -> torch.Tensor:
        """Sampled rows of a matrix with zeros outside the fill."""
        i, j = torch.tensor(list(sampled), device=rows.device)[:, None], torch.arange(rows.shape[-1], device=rows.device)
        return torch.where({"full": j >= 0, "lower": j <= i, "upper": j >= i}[fill], rows, torch.zeros((), dtype=rows.dtype, device=rows.device))

    def array(self, x, dtype: str) -> torch.Tensor:
        """Host numbers as inputs are made of."""
        return torch.from_numpy(x).to(self.device).to(getattr(torch, dtype))

    def host(self, x: torch.Tensor):
        """Numbers of the machine as float64 or complex128 on the host."""
        return self.widen(x).cpu().numpy()

    def close(self) -> None:
        self.stream.synchronize()
        if self.cublas:
            self.cublas.close()
        self.context.close()


def _driver() -> str | None:
    """The driver's own version, which CUDA does not tell."""
    try:
        return subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True, text=True, timeout=20).stdout.split("\n")[0] or None
    except (OSError, subprocess.TimeoutExpired):
        return None


def _giving(c, work):
    def multiply():
        work()
        return c
    return multiply


def _held(n: int, fill: str, device) -> torch.Tensor:
    """Which elements a fill holds; packed triangles hold them in this order."""
    every = torch.ones(n, n, dtype=torch.bool, device=device)
    return {"lower": every.tril, "upper": every.triu, "full": every.clone}[fill]()


def keep(x: torch.Tensor, fill: str, unit: bool, outside: float) -> torch.Tensor:
    """A copy with `outside` where nothing is stored, on a unit diagonal too (there 1 if `outside` is 0)."""
    kept = x.tril() if fill == "lower" else x.triu()
    if outside != 0:
        ones = torch.ones(x.shape[-2:], dtype=torch.bool, device=x.device)
        kept.masked_fill_(ones.triu(1) if fill == "lower" else ones.tril(-1), outside)
    if unit:
        kept.diagonal(dim1=-2, dim2=-1).fill_(1 if outside == 0 else outside)
    return kept
