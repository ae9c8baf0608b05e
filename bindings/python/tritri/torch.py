"""The triangular product as a PyTorch operator: autograd, ``torch.compile`` and ``torch.vmap`` see it as ``tritri::matmul``.

>>> import torch, tritri.torch
>>> a = torch.tensor([[4.0, 0.0], [5.0, 6.0]], dtype=torch.float64, requires_grad=True)
>>> tritri.torch.matmul(a, a, out_fill="lower").sum().backward()
>>> a.grad
tensor([[13.,  0.],
        [10., 17.]], dtype=torch.float64)
"""
from __future__ import annotations

import torch

from ._words import COMPUTES, DIAGS, FILLS, OPS, code, scalar
from .arrays import torch_arrays
from .product import compute_product

# What an op becomes under transposition, conjugation and both.
_TRANSPOSED = {"N": "T", "T": "N", "C": "R", "R": "C"}
_CONJUGATED = {"N": "R", "R": "N", "T": "C", "C": "T"}
_ADJOINT = {"N": "C", "C": "N", "T": "R", "R": "T"}


def matmul(a: torch.Tensor, b: torch.Tensor, *, a_fill: str = "lower", b_fill: str = "lower", a_op: str = "N", b_op: str = "N", a_diag: str = "nonunit",
           b_diag: str = "nonunit", alpha=1, out_fill: str = "full", compute: str = "auto") -> torch.Tensor:
    """``alpha * op(a) @ op(b)``, cut to `out_fill`, differentiable any number of times.

    ``tritri.torch.matmul(a, b, a_fill="full", b_fill="full", out_fill="lower")`` stands for ``torch.tril(torch.matmul(a, b))``.

    Parameters
    ----------
    a : torch.Tensor, shape (..., m, k)
    b : torch.Tensor, shape (..., k, n)
        On the same device and of the same dtype. Leading dimensions broadcast.
    a_fill, b_fill, a_op, b_op, a_diag, b_diag, alpha, out_fill
        As in `tritri.multiply`.
    compute : {"auto", "default", "pedantic", "tf32"}
        ``"auto"`` follows ``torch.set_float32_matmul_precision``.

    Returns
    -------
    torch.Tensor, shape (..., m, n)
        Zeros outside `out_fill`. Gradients are zero outside the fills, and on a unit diagonal.

    Raises
    ------
    ValueError, TypeError, MemoryError, TritriError
        As in `tritri.multiply`.
    """
    for words, name, word in ((FILLS, "a_fill", a_fill), (FILLS, "b_fill", b_fill), (FILLS, "out_fill", out_fill), (OPS, "a_op", a_op), (OPS, "b_op", b_op),
                              (DIAGS, "a_diag", a_diag), (DIAGS, "b_diag", b_diag), ({**COMPUTES, "auto": 0}, "compute", compute)):
        code(words, "matmul", name, word)
    return _matmul(a, b, a_fill, b_fill, a_op, b_op, a_diag, b_diag, *scalar("matmul", "alpha", alpha), out_fill, compute)


def differentiable(a, b, *, out, beta, context, **options):
    """tritri.multiply on tensors of which one requires gradients."""
    if out is not None:
        raise ValueError("multiply: out: must be None where a tensor requires gradients, got a tensor: leave it away, or use torch.no_grad()")
    if beta != 0:
        raise ValueError(f"multiply: beta: needs out, whose former values it scales, got beta={beta!r} and out=None")
    if context is not None:
        raise ValueError("multiply: context: must be None where a tensor requires gradients, got a Context: leave it away, or use torch.no_grad()")
    return matmul(a, b, **options)


@torch.library.custom_op("tritri::matmul", mutates_args=())
def _matmul(a: torch.Tensor, b: torch.Tensor, a_fill: str, b_fill: str, a_op: str, b_op: str, a_diag: str, b_diag: str, alpha_re: float, alpha_im: float,
            out_fill: str, compute: str) -> torch.Tensor:
    return compute_product(torch_arrays.FAMILY, a, b, a_fill, b_fill, a_op, b_op, a_diag, b_diag, complex(alpha_re, alpha_im), 0, None, out_fill, compute, None)


@_matmul.register_fake
def _(a, b, a_fill, b_fill, a_op, b_op, a_diag, b_diag, alpha_re, alpha_im, out_fill, compute):
    m, k = a.shape[-2:] if a_op in "NR" else (a.shape[-1], a.shape[-2])
    k_of_b, n = b.shape[-2:] if b_op in "NR" else (b.shape[-1], b.shape[-2])
    torch._check(k == k_of_b, lambda: f"matmul: b: op(B) must have as many rows as op(A) has columns, {k}, got {k_of_b} x {n}")
    return a.new_empty((*torch.broadcast_shapes(a.shape[:-2], b.shape[:-2]), m, n))


def _cut(gradient, fill: str, diag: str, like):
    """What an operand's gradient keeps: the fill it was computed in already, no unit diagonal, no broadcast axes."""
    if diag == "unit":
        gradient = gradient.diagonal_scatter(torch.zeros_like(gradient.diagonal(dim1=-2, dim2=-1)), dim1=-2, dim2=-1)
    return gradient.sum_to_size(like.shape) if gradient.shape != like.shape else gradient


def _setup(ctx, inputs, output):
    a, b, *options = inputs
    ctx.save_for_backward(a, b)
    ctx.options = options


def _backward(ctx, gradient):
    """For C = alpha op(A) op(B): d op(A) = conj(alpha) G op(B)^H and d op(B) = conj(alpha) op(A)^H G, where G is cut to C's fill. With A's op moved to the other
    side, both are products of the same kind, cut to A's and B's fill."""
    a, b = ctx.saved_tensors
    a_fill, b_fill, a_op, b_op, a_diag, b_diag, alpha_re, alpha_im, out_fill, compute = ctx.options
    gradient_a = gradient_b = None

    def product(left, right, fill, conj_alpha):
        (x, x_fill, x_op, x_diag), (y, y_fill, y_op, y_diag) = left, right
        return _matmul(x, y, x_fill, y_fill, x_op, y_op, x_diag, y_diag, alpha_re, -alpha_im if conj_alpha else alpha_im, fill, compute)

    def g(op):
        return gradient, out_fill, op, "nonunit"

    if ctx.needs_input_grad[0]:
        def other(op):
            return b, b_fill, op, b_diag

        if a_op == "N":
            gradient_a = product(g("N"), other(_ADJOINT[b_op]), a_fill, True)
        elif a_op == "T":
            gradient_a = product(other(_CONJUGATED[b_op]), g("T"), a_fill, True)
        elif a_op == "C":
            gradient_a = product(other(b_op), g("C"), a_fill, False)
        else:
            gradient_a = product(g("R"), other(_TRANSPOSED[b_op]), a_fill, False)
        gradient_a = _cut(gradient_a, a_fill, a_diag, a)
    if ctx.needs_input_grad[1]:
        def other(op):
            return a, a_fill, op, a_diag

        if b_op == "N":
            gradient_b = product(other(_ADJOINT[a_op]), g("N"), b_fill, True)
        elif b_op == "T":
            gradient_b = product(g("T"), other(_CONJUGATED[a_op]), b_fill, True)
        elif b_op == "C":
            gradient_b = product(g("C"), other(a_op), b_fill, False)
        else:
            gradient_b = product(other(_TRANSPOSED[a_op]), g("R"), b_fill, False)
        gradient_b = _cut(gradient_b, b_fill, b_diag, b)
    return (gradient_a, gradient_b, *[None] * 10)


_matmul.register_autograd(_backward, setup_context=_setup)


@_matmul.register_vmap
def _(info, dims, a, b, *options):
    """One batched product: the mapped axis comes first, with axes of size 1 behind it where the other operand has more."""
    rank = max(x.ndim - (dim is not None) for x, dim in ((a, dims[0]), (b, dims[1])))

    def mapped(x, dim):
        if dim is None:
            return x
        x = x.movedim(dim, 0)
        return x.reshape(x.shape[0], *[1] * (rank - x.ndim + 1), *x.shape[1:])

    return _matmul(mapped(a, dims[0]), mapped(b, dims[1]), *options), 0
