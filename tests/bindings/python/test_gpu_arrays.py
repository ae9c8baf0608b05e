"""Arrays on a GPU: PyTorch, CuPy and JAX go in where they are and come out as the same kind, on the caller's stream, without a copy or a wait.

Skipped without a CUDA device. tests/gpu/run runs them on one.
"""
import os
import subprocess
import sys
import time

import numpy as np
import pytest
from oracle import FILLS, OPS, assert_close, poison, product, random
from tritri._native import native

import tritri

pytestmark = pytest.mark.skipif(native.tritri_device_count(native.TRITRI_DEVICE_CUDA) == 0, reason="needs an NVIDIA GPU")

DTYPES = ("float32", "float64", "complex64", "complex128")


@pytest.fixture(scope="module")
def torch():
    module = pytest.importorskip("torch", reason="needs PyTorch")
    if not module.cuda.is_available():
        pytest.skip("needs PyTorch with CUDA")
    tritri.multiply(module.eye(2, device="cuda"), module.eye(2, device="cuda"))  # start-up happens here
    return module


@pytest.fixture(scope="module")
def cupy():
    return pytest.importorskip("cupy", reason="needs CuPy")


@pytest.fixture(scope="module")
def jax():
    module = pytest.importorskip("jax", reason="needs JAX")
    if not any(device.platform == "gpu" for device in module.devices()):
        pytest.skip("needs JAX with CUDA")
    module.config.update("jax_enable_x64", True)
    return module


# ---- PyTorch


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("a_fill", FILLS)
@pytest.mark.parametrize("op", OPS)
def test_torch_values(torch, rng, dtype, a_fill, op):
    a, b = poison(random(rng, (70, 70), dtype), a_fill), poison(random(rng, (70, 70), dtype), "upper")
    result = tritri.multiply(torch.from_numpy(a).cuda(), torch.from_numpy(b).cuda(), a_fill=a_fill, b_fill="upper", a_op=op, out_fill="lower")
    assert type(result) is torch.Tensor and result.is_cuda
    assert_close(result.cpu().numpy(), product(a, b, a_fill=a_fill, b_fill="upper", a_op=op, out_fill="lower"))


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_torch_half_precision(torch, name):
    a = torch.randint(-2, 3, (64, 64), device="cuda").to(getattr(torch, name))
    assert torch.equal(tritri.multiply(a, a).double(), torch.tril(a.double()) @ torch.tril(a.double()))


def test_torch_views_need_no_copy(torch):
    """A transposed, padded or lazily conjugated input is read where it is: no memory but the result's is allocated."""
    big = torch.randn(300, 400, device="cuda", dtype=torch.complex64)
    for a in (big[:256, :256], big[:256, :256].mT, big[:256, :256].conj(), big[:256, :256].mH):
        tritri.multiply(a, a)
        torch.cuda.synchronize()
        before = torch.cuda.memory_stats()["allocation.all.allocated"]
        result = tritri.multiply(a, a, a_fill="full", b_fill="full")
        assert torch.cuda.memory_stats()["allocation.all.allocated"] == before + 1
        assert torch.allclose(result, a.resolve_conj() @ a.resolve_conj(), rtol=1e-3, atol=1e-3)


def test_torch_out_keeps_its_pointer(torch):
    a, out = torch.randn(64, 64, device="cuda"), torch.full((100, 100), 777.0, device="cuda")
    corner = out[:64, :64]
    address, before = corner.data_ptr(), torch.cuda.memory_stats()["allocation.all.allocated"]
    assert tritri.multiply(a, a, out=corner, out_fill="lower") is corner
    assert corner.data_ptr() == address and torch.cuda.memory_stats()["allocation.all.allocated"] == before
    assert torch.allclose(torch.tril(corner), torch.tril(a) @ torch.tril(a), atol=1e-3)
    assert (torch.triu(corner, 1) == torch.triu(torch.full_like(corner, 777.0), 1)).all() and (out[64:] == 777).all() and (out[:, 64:] == 777).all()


def test_torch_works_on_the_current_stream(torch):
    """Behind a kernel that takes long on a stream of the caller's, the product neither waits for it nor runs before it."""
    stream = torch.cuda.Stream()
    a = torch.eye(512, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(500_000_000)
        a.mul_(3.0)
        start = time.perf_counter()
        result = tritri.multiply(a, a)
        took = time.perf_counter() - start
        assert not stream.query()
    assert took < 0.05
    stream.synchronize()
    assert torch.equal(result, torch.eye(512, device="cuda") * 9)


def test_torch_streams_may_alternate(torch):
    a = torch.randn(128, 128, device="cuda", dtype=torch.float64)
    want = torch.tril(a) @ torch.tril(a)
    streams = [torch.cuda.Stream() for _ in range(3)]
    torch.cuda.synchronize()
    for turn in range(30):
        with torch.cuda.stream(streams[turn % 3]):
            result = tritri.multiply(a, a)
            streams[turn % 3].synchronize()
            assert torch.allclose(result, want)


def test_torch_graph_capture(torch):
    a, out = torch.randn(200, 200, device="cuda"), torch.zeros(200, 200, device="cuda")
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        tritri.multiply(a, a, out=out)
    side.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        tritri.multiply(a, a, out=out)
    a.copy_(torch.randn(200, 200, device="cuda"))
    graph.replay()
    torch.cuda.synchronize()
    assert torch.allclose(out, torch.tril(a) @ torch.tril(a), atol=1e-3)
    tritri.multiply(a, a)


def test_torch_no_synchronisation_and_no_copy(torch):
    a = torch.randn(256, 256, device="cuda")
    out = torch.empty_like(a)
    tritri.multiply(a, a, out=out)
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]) as profile:
        for _ in range(5):
            tritri.multiply(a, a, out=out)
    names = [event.key.lower() for event in profile.key_averages()]
    assert any("launch" in name for name in names)
    assert not [name for name in names if "memcpy" in name or "malloc" in name or "streamsynchronize" in name or "eventsynchronize" in name]


def test_torch_host_time(torch):
    """Under 15 microseconds of host time for a call at n = 256 (the launch itself included)."""
    a = torch.randn(256, 256, device="cuda")
    out = torch.empty_like(a)
    best = float("inf")
    for _ in range(50):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(20):
            tritri.multiply(a, a, out=out)
        best = min(best, (time.perf_counter() - start) / 20)
    torch.cuda.synchronize()
    print(f"host time of tritri.multiply at n = 256: {best * 1e6:.1f} us")
    assert best < 15e-6


def test_torch_batches(torch):
    a, b = torch.randn(2, 1, 40, 40, device="cuda", dtype=torch.float64), torch.randn(3, 40, 40, device="cuda", dtype=torch.float64)
    assert torch.allclose(tritri.multiply(a, b, b_fill="full"), torch.tril(a) @ b)


def test_torch_gradients(torch):
    import tritri.torch
    a, b = (torch.randn(5, 5, device="cuda", dtype=torch.float64, requires_grad=True) for _ in range(2))
    for options in (dict(), dict(a_op="T", b_fill="upper"), dict(out_fill="lower", b_op="T"), dict(a_diag="unit", b_fill="full")):
        assert torch.autograd.gradcheck(lambda x, y: tritri.torch.matmul(x, y, **options), (a, b))
    arguments = (a.float(), b.float(), "lower", "upper", "N", "T", "nonunit", "unit", 1.0, 0.0, "full", "auto")
    assert set(torch.library.opcheck(tritri.torch._matmul, arguments).values()) == {"SUCCESS"}


def test_torch_compile_keeps_the_operator(torch):
    import tritri.torch

    def layer(a, b):
        return tritri.torch.matmul(a, b, out_fill="lower") + 1

    a, b = torch.randn(64, 64, device="cuda"), torch.randn(64, 64, device="cuda")
    assert torch.allclose(torch.compile(layer, backend="aot_eager", fullgraph=True)(a, b), layer(a, b), atol=1e-4)


def test_torch_compute_auto(torch):
    a = torch.full((256, 256), 1 + 2.0 ** -12, device="cuda")
    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("high")
        rounded = tritri.multiply(a, torch.eye(256, device="cuda"), a_fill="full", compute="auto")
        torch.set_float32_matmul_precision("highest")
        exact = tritri.multiply(a, torch.eye(256, device="cuda"), a_fill="full", compute="auto")
    finally:
        torch.set_float32_matmul_precision(before)
    assert torch.equal(exact, a) and torch.equal(rounded, torch.ones_like(a))


def test_torch_devices_do_not_mix(torch):
    a = torch.eye(2, device="cuda")
    with pytest.raises(ValueError, match="b: must be on a's device, cuda:0, got the CPU"):
        tritri.multiply(a, torch.eye(2))
    with tritri.Context("cpu") as cpu, pytest.raises(ValueError, match="context: must be on the arrays' device cuda:0, got one on cpu"):
        tritri.multiply(a, a, context=cpu)


def test_torch_tensors_on_the_cpu_stay_there(torch, rng):
    a = random(rng, (9, 9), "float64")
    result = tritri.multiply(torch.from_numpy(a), torch.from_numpy(a))
    assert not result.is_cuda
    assert_close(result.numpy(), product(a, a))


def test_a_context_on_torch_s_stream(torch):
    stream = torch.cuda.Stream()
    with tritri.Context("cuda", stream=stream.cuda_stream) as context:
        x = context.upload(np.tril(np.ones((50, 50))), fill="lower")
        y = context.multiply(x, x)
        with torch.cuda.stream(stream):
            seen = torch.from_dlpack(y)
            assert seen.is_cuda and seen.data_ptr() == native.tritri_matrix_data(y._live())
            total = float(seen.sum())
    assert total == np.sum(np.tril(np.ones((50, 50))) @ np.tril(np.ones((50, 50))))


def test_wrapped_tensors(torch):
    a, out = torch.randn(33, 33, device="cuda"), torch.zeros(33, 33, device="cuda")
    torch.cuda.synchronize()
    with tritri.Context("cuda") as context:
        context.multiply(context.wrap(a, fill="lower"), context.wrap(a, fill="lower"), out=context.wrap(out))
        context.synchronize()
    assert torch.allclose(out, torch.tril(a) @ torch.tril(a), atol=1e-4)


def test_the_current_device_stays(torch):
    before = torch.cuda.current_device()
    tritri.multiply(torch.eye(3, device="cuda"), torch.eye(3, device="cuda"))
    assert torch.cuda.current_device() == before


# ---- CuPy


@pytest.mark.parametrize("dtype", [*DTYPES, "float16"])
@pytest.mark.parametrize("order", "CF")
def test_cupy_values(cupy, rng, dtype, order):
    a, b = random(rng, (50, 50), dtype), random(rng, (50, 50), dtype)
    result = tritri.multiply(cupy.array(a, order=order), cupy.array(b, order=order), b_fill="upper", b_op="C")
    assert isinstance(result, cupy.ndarray)
    assert_close(result.get(), product(a, b, b_fill="upper", b_op="C"))


def test_cupy_strided_inputs_and_out(cupy, rng):
    a, before = random(rng, (20, 20), "float64"), random(rng, (40, 40), "float64")
    out = cupy.array(before)
    x = cupy.array(np.repeat(np.repeat(a, 2, 0), 2, 1))[::2, ::2]
    target = out[::2, ::2]
    assert tritri.multiply(x, x, beta=2, out=target, out_fill="lower") is target
    assert_close(target.get(), product(a, a, beta=2, out=before[::2, ::2], out_fill="lower"))
    assert np.array_equal(out[1::2].get(), before[1::2])


def test_cupy_current_stream(cupy):
    a = cupy.eye(256)
    with cupy.cuda.Stream(non_blocking=True) as stream:
        b = a * 2
        result = tritri.multiply(b, b)
        stream.synchronize()
        assert float(abs(result - 4 * cupy.eye(256)).max()) == 0
    del stream
    assert float(tritri.multiply(a, a).trace()) == 256


def test_cupy_pointer_stays(cupy):
    a, out = cupy.eye(64), cupy.zeros((64, 64))
    address = out.data.ptr
    assert tritri.multiply(a, a, out=out).data.ptr == address


# ---- JAX


@pytest.mark.parametrize("dtype", [*DTYPES, "bfloat16"])
def test_jax_values(jax, dtype):
    a = jax.numpy.arange(40 * 40).reshape(40, 40) % 5
    a = a.astype(dtype)
    result = tritri.multiply(a, a, b_op="T")
    assert isinstance(result, jax.Array) and next(iter(result.devices())).platform == "gpu" and result.dtype == a.dtype
    want = np.tril(np.asarray(a, np.complex128)) @ np.tril(np.asarray(a, np.complex128)).T
    assert np.allclose(np.asarray(result, np.complex128), want, rtol=1e-2 if dtype == "bfloat16" else 1e-6)


def test_jax_chain_without_waiting(jax):
    a = jax.numpy.eye(128) * 2
    x = a
    for _ in range(20):
        x = tritri.multiply(x, a) / 2
    assert np.array_equal(np.asarray(x), np.eye(128) * 2)


def test_jax_pending_inputs_are_let_go(jax):
    from tritri.arrays.jax_arrays import FAMILY
    a = jax.numpy.eye(64)
    for _ in range(50):
        tritri.multiply(a, a).block_until_ready()
    assert len(FAMILY._pending) <= 2


# ---- any other library


class Interface:
    """Memory behind __cuda_array_interface__ alone."""

    def __init__(self, owner):
        self.owner = owner

    @property
    def __cuda_array_interface__(self):
        return self.owner.__cuda_array_interface__


def test_cuda_array_interface_alone(torch, rng):
    a = random(rng, (30, 30), "float32")
    tensor = torch.from_numpy(a).cuda()
    torch.cuda.synchronize()
    result = tritri.multiply(Interface(tensor), Interface(tensor))
    assert isinstance(result, tritri.Matrix)
    assert_close(result.download(), product(a, a))
    assert_close(torch.as_tensor(result, device="cuda").cpu().numpy(), product(a, a))
    out = torch.zeros(30, 30, device="cuda")
    torch.cuda.synchronize()
    target = Interface(out)
    assert tritri.multiply(Interface(tensor), Interface(tensor), out=target) is target
    assert_close(out.cpu().numpy(), product(a, a))


# ---- NumPy arrays on the GPU, processes


def test_numpy_arrays_on_a_cuda_context(rng):
    a = random(rng, (100, 100), "complex128")
    with tritri.Context("cuda") as context:
        assert context.device == "cuda:0"
        assert_close(tritri.multiply(a, a, context=context), product(a, a))


def test_exit_with_everything_open():
    code = ("import numpy as np, tritri; c = tritri.Context('cuda'); m = c.upload(np.eye(3)); r = c.multiply(m, m); "
            "tritri.multiply(np.eye(2), np.eye(2)); c.me = c")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env={**os.environ, "TRITRI_DEVICE": "cuda"})
    assert done.returncode == 0 and done.stderr == ""


def test_L2_fork_before_cuda_starts():
    code = """
import os, sys, numpy as np, tritri
child = os.fork()
if child == 0:
    with tritri.Context("cuda") as context:
        os._exit(0 if np.array_equal(tritri.multiply(np.eye(3), np.eye(3), context=context), np.eye(3)) else 1)
sys.exit(os.WEXITSTATUS(os.waitpid(child, 0)[1]))
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=120).returncode == 0
