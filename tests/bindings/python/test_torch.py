"""PyTorch tensors in host memory, and the operator tritri::matmul: values, gradients, opcheck, torch.compile. GPU tensors are in test_gpu_arrays.py."""
import itertools

import numpy as np
import pytest
from oracle import FILLS, OPS, assert_close, product

torch = pytest.importorskip("torch", reason="needs PyTorch")
import tritri
import tritri.torch

NAMES = ("float32", "float64", "complex64", "complex128")


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(20240229)


def tensor(*shape, dtype=torch.float64, grad=False):
    return torch.randn(*shape, dtype=dtype, requires_grad=grad)


VIEWS = {
    "contiguous": lambda x: x.contiguous(),
    "transposed": lambda x: x.mT.contiguous().mT,
    "every_second": lambda x: x.repeat_interleave(2, -1)[..., ::2],
    "conjugated_lazily": lambda x: x.conj().resolve_conj().conj(),
    "adjoint": lambda x: x.mH.resolve_conj().contiguous().mH,
    "negated_lazily": lambda x: torch.complex(torch.zeros_like(x.real), -x.real).conj().imag if not x.is_complex() else x,
    "expanded": lambda x: x[..., :1, :].expand(x.shape),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("view", VIEWS)
def test_views(name, view):
    a, b = (VIEWS[view](tensor(6, 6, dtype=getattr(torch, name))) for _ in range(2))
    result = tritri.multiply(a, b, b_fill="upper", a_op="T")
    assert type(result) is torch.Tensor and result.dtype == a.dtype and result.is_contiguous() and not result.is_conj()
    assert_close(result.numpy(), product(a.resolve_conj().resolve_neg().numpy(), b.resolve_conj().resolve_neg().numpy(), b_fill="upper", a_op="T"))


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_half_precision(name):
    a = torch.randint(-3, 4, (8, 8)).to(getattr(torch, name))
    assert torch.equal(tritri.multiply(a, a).double(), torch.tril(a.double()) @ torch.tril(a.double()))


@pytest.mark.parametrize("view", ["contiguous", "transposed", "every_second"])
@pytest.mark.parametrize("fill", FILLS)
def test_out_is_written_in_place(view, fill):
    a, before = tensor(5, 5), tensor(5, 5)
    out = VIEWS[view](before.clone())
    address = out.data_ptr()
    assert tritri.multiply(a, a, beta=2, out=out, out_fill=fill) is out and out.data_ptr() == address
    assert_close(out.numpy(), product(a.numpy(), a.numpy(), beta=2, out=before.numpy(), out_fill=fill))


class Recorded(torch.utils._python_dispatch.TorchDispatchMode):
    """The operators that PyTorch runs meanwhile."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.names.append(function.overloadpacket._qualified_op_name)
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("out_fill", ["full", "lower"])
@pytest.mark.parametrize("view", ["contiguous", "transposed", "conjugated_lazily", "adjoint", "negated_lazily"])
def test_no_copy_is_made(view, out_fill):
    x = VIEWS[view](tensor(6, 6, dtype=torch.complex128))
    with Recorded() as recorded:
        tritri.multiply(x, x, a_fill="full", b_fill="full", out_fill=out_fill)
    assert not {"aten::clone", "aten::copy_", "aten::contiguous"} & set(recorded.names), recorded.names
    assert len([name for name in recorded.names if "empty" in name or "zeros" in name]) == 1, recorded.names


def test_conjugated_out():
    a, out = tensor(4, 4, dtype=torch.complex128), torch.zeros(4, 4, dtype=torch.complex128).conj()
    tritri.multiply(a, a, out=out)
    assert_close(out.resolve_conj().numpy(), product(a.numpy(), a.numpy()))


def test_batches_broadcast():
    a, b = tensor(2, 1, 4, 5), tensor(3, 5, 4)
    result = tritri.multiply(a, b, a_fill="full", b_fill="full", out_fill="lower")
    assert torch.allclose(result, torch.tril(a @ b))


def test_parameters_and_subclasses():
    layer = torch.nn.Parameter(tensor(3, 3))
    with torch.no_grad():
        assert torch.allclose(tritri.multiply(layer, layer), torch.tril(layer) @ torch.tril(layer))


def test_upload_and_back(cpu):
    a = tensor(3, 4, 4)
    with cpu.upload(a) as matrix:
        assert torch.equal(torch.from_dlpack(matrix), a)
        assert torch.from_dlpack(matrix).data_ptr() == np.from_dlpack(matrix).ctypes.data


@pytest.mark.parametrize("a, kind, sentence", [
    (torch.ones(2, 2, dtype=torch.int64), TypeError, "pass a.to(torch.float64)"),
    (torch.ones(2, 2, device="meta"), TypeError, "must be on the CPU or a CUDA device, got meta"),
    (torch.ones(2, 2).to_sparse(), TypeError, "pass a.to_dense()"),
    (torch.ones(2), ValueError, "must have at least 2 dimensions"),
])
def test_tensors_that_do_not_serve(a, kind, sentence):
    with pytest.raises(kind) as wrong:
        tritri.multiply(a, a)
    assert sentence in str(wrong.value)


def test_kinds_do_not_mix():
    with pytest.raises(TypeError, match="same kind of array as a, torch.Tensor, got ndarray"):
        tritri.multiply(torch.eye(2), np.eye(2))


# ---- the operator


def options_of(a_fill, b_fill, out_fill, a_op, b_op, a_diag, b_diag):
    return dict(a_fill=a_fill, b_fill=b_fill, out_fill=out_fill, a_op=a_op, b_op=b_op, a_diag=a_diag, b_diag=b_diag)


def shapes(a_op, b_op, m=3, k=4, n=2):
    return (k, m) if a_op in "TC" else (m, k), (n, k) if b_op in "TC" else (k, n)


GRID = [(*fills, *ops, ("nonunit", "unit")[i % 2], ("nonunit", "unit")[i // 2 % 2])
        for i, (fills, ops) in enumerate(zip(itertools.cycle(itertools.product(FILLS, FILLS, FILLS)), [ops for ops in itertools.product(OPS, OPS) for _ in range(5)]))]


@pytest.mark.parametrize("case", GRID, ids="-".join)
def test_values_and_gradients(case):
    options = options_of(*case)
    a_shape, b_shape = shapes(options["a_op"], options["b_op"])
    for dtype, alpha in ((torch.float64, -1.5), (torch.complex128, 0.5 - 2j)):
        a, b = tensor(*a_shape, dtype=dtype, grad=True), tensor(2, *b_shape, dtype=dtype, grad=True)
        result = tritri.torch.matmul(a, b, alpha=alpha, **options)
        assert_close(result.detach().numpy(), product(a.detach().numpy(), b.detach().numpy(), alpha=alpha, **options))
        assert torch.autograd.gradcheck(lambda x, y: tritri.torch.matmul(x, y, alpha=alpha, **options), (a, b))


@pytest.mark.parametrize("case", GRID[::9], ids="-".join)
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_gradients_of_gradients(case, dtype):
    options = options_of(*case)
    a_shape, b_shape = shapes(options["a_op"], options["b_op"])
    a, b = tensor(*a_shape, dtype=dtype, grad=True), tensor(*b_shape, dtype=dtype, grad=True)
    assert torch.autograd.gradgradcheck(lambda x, y: tritri.torch.matmul(x, y, **options), (a, b))


@pytest.mark.parametrize("case", GRID[::13], ids="-".join)
@pytest.mark.parametrize("dtype", [torch.float32, torch.complex64])
def test_opcheck(case, dtype):
    options = options_of(*case)
    a_shape, b_shape = shapes(options["a_op"], options["b_op"])
    arguments = (tensor(*a_shape, dtype=dtype, grad=True), tensor(*b_shape, dtype=dtype, grad=True), *[options[name] for name in ("a_fill", "b_fill", "a_op", "b_op", "a_diag", "b_diag")],
                 1.0, 0.0, options["out_fill"], "auto")
    results = torch.library.opcheck(tritri.torch._matmul, arguments)
    assert set(results.values()) == {"SUCCESS"}


def test_multiply_gives_gradients():
    a, b = tensor(4, 4, grad=True), tensor(4, 4)
    tritri.multiply(a, b, out_fill="lower").sum().backward()
    x = a.detach().clone().requires_grad_()
    (torch.tril(x) @ torch.tril(b)).sum().backward()
    assert torch.allclose(a.grad, x.grad) and b.grad is None
    assert not torch.triu(a.grad, 1).any()


def test_an_unbroken_graph_with_torch_compile():
    def layer(a, b):
        return tritri.torch.matmul(a * 2, b, out_fill="lower").relu()

    a, b = tensor(2, 8, 8, grad=True), tensor(8, 8, grad=True)
    compiled = torch.compile(layer, backend="aot_eager", fullgraph=True)
    assert torch.allclose(compiled(a, b), layer(a, b))
    want = torch.autograd.grad(layer(a, b).sum(), (a, b))
    got = torch.autograd.grad(compiled(a, b).sum(), (a, b))
    assert all(torch.allclose(x, y) for x, y in zip(got, want))


def test_fake_tensors_know_shapes_and_refuse_what_does_not_fit():
    from torch._subclasses.fake_tensor import FakeTensorMode
    with FakeTensorMode():
        a, b = torch.empty(5, 1, 3, 4), torch.empty(2, 6, 4)
        assert tritri.torch.matmul(a, b, b_op="T").shape == (5, 2, 3, 6)
        with pytest.raises(RuntimeError, match="op\\(B\\) must have as many rows"):
            tritri.torch.matmul(a, b)


@pytest.mark.parametrize("options, kind, sentence", [
    (dict(out=torch.zeros(3, 3, dtype=torch.float64)), ValueError, "multiply: out: must be None where a tensor requires gradients"),
    (dict(beta=1), ValueError, "multiply: beta: needs out"),
    (dict(a_fill="diagonal"), ValueError, "matmul: a_fill: must be"),
    (dict(alpha="x"), TypeError, "matmul: alpha: must be a number, got str"),
])
def test_what_gradients_cannot_do(options, kind, sentence):
    a = tensor(3, 3, grad=True)
    with pytest.raises(kind) as wrong:
        tritri.multiply(a, a, **options)
    assert sentence in str(wrong.value)


def test_a_context_and_gradients_do_not_go_together(cpu):
    a = tensor(3, 3, grad=True)
    with pytest.raises(ValueError, match="multiply: context: must be None where a tensor requires gradients"):
        tritri.multiply(a, a, context=cpu)
    with torch.no_grad():
        tritri.multiply(a, a, context=cpu)


@pytest.mark.parametrize("precision, on_gpu, dtype, tf32", [("highest", True, torch.float32, False), ("high", True, torch.float32, True),
    ("medium", True, torch.float32, True), ("high", False, torch.float32, False), ("high", True, torch.float64, False)])
def test_compute_auto_follows_torch(precision, on_gpu, dtype, tf32):
    from types import SimpleNamespace
    from tritri.arrays.torch_arrays import FAMILY
    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision(precision)
        assert FAMILY.tf32_allowed(SimpleNamespace(is_cuda=on_gpu, dtype=dtype)) is tf32
    finally:
        torch.set_float32_matmul_precision(before)


@pytest.mark.parametrize("a_dim, b_dim", [(0, 0), (1, 0), (0, None), (None, 2)])
@pytest.mark.parametrize("a_extra, b_extra", [((), ()), ((3,), ()), ((), (3,))])
def test_vmap(a_dim, b_dim, a_extra, b_extra):
    """One batched product, whichever axis is mapped and whichever operand has more axes besides."""
    def operand(extra, dim):
        shape = [*extra, 4, 4]
        if dim is not None:
            shape.insert(dim, 5)
        return tensor(*shape)

    a, b = operand(a_extra, a_dim), operand(b_extra, b_dim)
    got = torch.vmap(lambda x, y: tritri.torch.matmul(x, y, b_op="T", out_fill="lower"), (a_dim, b_dim))(a, b)
    assert torch.allclose(got, torch.vmap(lambda x, y: torch.tril(torch.tril(x) @ torch.tril(y).mT), (a_dim, b_dim))(a, b))


def test_vmap_of_multiply_says_what_to_use():
    with pytest.raises(TypeError, match="multiply: a: must have memory of its own, got a tensor of torch.func: use tritri.torch.matmul"):
        torch.vmap(lambda x: tritri.multiply(x, x))(tensor(2, 3, 3))


def test_multiply_inside_torch_compile(recwarn):
    a = tensor(4, 4)
    with torch.no_grad():
        got = torch.compile(lambda x: tritri.multiply(x, x) + 1, backend="aot_eager")(a)
    assert torch.allclose(got, torch.tril(a) @ torch.tril(a) + 1)
    assert not [w for w in recwarn if "Context" in str(w.message)]
