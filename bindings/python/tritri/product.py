"""tritri.multiply: one product of arrays, whichever library they come from."""
from __future__ import annotations

from functools import lru_cache

from . import _layout
from ._native import native
from ._words import COMPUTES, CONJUGATED, DIAGS, DTYPE_NAMES, FILLS, ITEM_BYTES, OPS, TRANSPOSING, code, scalar
from .arrays import common_family
from .arrays.base import HOST
from .context import Context
from .defaults import default_context


def multiply(a, b, *, a_fill: str = "lower", b_fill: str = "lower", a_op: str = "N", b_op: str = "N", a_diag: str = "nonunit", b_diag: str = "nonunit",
             alpha=1, beta=0, out=None, out_fill: str = "full", compute: str = "default", context: Context | None = None):
    """``alpha * op(a) @ op(b) + beta * out``, reading and computing only what is inside each matrix's fill.

    Parameters
    ----------
    a : array_like, shape (..., m, k)
        NumPy array of any strides, or an array of PyTorch, CuPy, JAX or any library with ``__dlpack__`` or ``__cuda_array_interface__``. With `a_op` ``"T"`` or
        ``"C"`` its shape is (..., k, m). float32, float64, complex64, complex128, float16 or bfloat16.
    b : array_like, shape (..., k, n)
        Of the same kind and dtype as `a`; with `b_op` ``"T"`` or ``"C"`` its shape is (..., n, k). Leading dimensions broadcast.
    a_fill, b_fill : {"lower", "upper", "full"}
        Which elements exist. The others are never read: they may hold anything.
    a_op, b_op : {"N", "T", "C", "R"}
        As is, transpose, conjugate transpose, conjugate; applied after the fill.
    a_diag, b_diag : {"nonunit", "unit"}
        ``"unit"``: the stored diagonal is never read and counts as 1.
    alpha, beta : number
        Complex only for complex dtypes. `beta` needs `out`.
    out : array_like, shape (..., m, n), optional
        Written in place inside `out_fill`, untouched outside it. May be `a` or `b` itself. Default: a new array, zeros outside `out_fill`.
    out_fill : {"full", "lower", "upper"}
        Which part of the product is computed.
    compute : {"default", "pedantic", "tf32", "auto"}
        How float32 products are computed: as accurately as float32 arithmetic by the fastest route; by float32 arithmetic only; with inputs rounded to TF32;
        or as the array library's own setting says (``torch.set_float32_matmul_precision``).
    context : Context, optional
        Default: one kept for the arrays' device. Host arrays may be computed on any context; arrays on a GPU need one on theirs.

    Returns
    -------
    array, shape (..., m, n)
        `out`, or a new array of the same kind on the same device. On a GPU the work is enqueued on the caller's current stream and not awaited.

    Raises
    ------
    TypeError
        For arguments that are no arrays of one kind and dtype, masked arrays, and dtypes that are not listed.
    ValueError
        For shapes, words or numbers that break a rule, and arrays that overlap in part.
    MemoryError
        If host or device memory does not suffice.
    TritriError
        If the device fails or cannot serve the request.

    Examples
    --------
    >>> import numpy as np, tritri
    >>> upper, lower = np.array([[1.0, 2.0], [np.nan, 3.0]]), np.array([[4.0, np.nan], [5.0, 6.0]])
    >>> tritri.multiply(upper, lower, a_fill="upper")
    array([[14., 12.],
           [15., 18.]])
    >>> tritri.multiply(lower, lower, b_op="T", out_fill="lower")
    array([[16.,  0.],
           [20., 61.]])
    """
    family = common_family(a, b, out)
    if family.differentiates(a, b, out):
        from . import torch
        return torch.differentiable(a, b, out=out, beta=beta, context=context, a_fill=a_fill, b_fill=b_fill, a_op=a_op, b_op=b_op, a_diag=a_diag,
                                    b_diag=b_diag, alpha=alpha, out_fill=out_fill, compute=compute)
    return compute_product(family, a, b, a_fill, b_fill, a_op, b_op, a_diag, b_diag, alpha, beta, out, out_fill, compute, context)


def compute_product(family, a, b, a_fill, b_fill, a_op, b_op, a_diag, b_diag, alpha, beta, out, out_fill, compute, context):
    """multiply, once the family is known and nobody wants gradients."""
    codes = _codes if type(alpha) in _EXACT and type(beta) in _EXACT else _codes.__wrapped__
    try:
        options, properties = codes(a_fill, b_fill, out_fill, a_op, b_op, a_diag, b_diag, alpha, beta, compute)
    except TypeError:  # a word that cannot be looked up: say which
        options, properties = _codes.__wrapped__(a_fill, b_fill, out_fill, a_op, b_op, a_diag, b_diag, alpha, beta, compute)
    if options[6] == _AUTO:
        options = (*options[:6], COMPUTES["tf32" if family.tf32_allowed(a) else "default"], 0)
    reads_out = options[4] != 0 or options[5] != 0
    fresh = None  # a result made for the plain way, which could not take these arrays
    if family.plain and (out is not None or not reads_out) and not family.is_lazy(a, b, out):
        done, result = _plain_product(family, a, b, options, properties, out, out_fill, context)
        if done:
            return result
        fresh = result if out is None else None
    op_a, op_b = options[:2]

    a_view, b_view = family.view(a, "multiply: a"), family.view(b, "multiply: b")
    for name, view in (("a", a_view), ("b", b_view)):
        if len(view.shape) < 2:
            raise ValueError(f"multiply: {name}: must have at least 2 dimensions, got shape {tuple(view.shape)}")
    _check_beside(b_view, a_view, "b")

    m, k = a_view.shape[-2:] if op_a not in TRANSPOSING else a_view.shape[:-3:-1]
    k_of_b, n = b_view.shape[-2:] if op_b not in TRANSPOSING else b_view.shape[:-3:-1]
    if k != k_of_b:
        raise ValueError(f"multiply: b: op(B) must have as many rows as op(A) has columns, {k}, got {k_of_b} x {n}")
    batch = _layout.broadcast("multiply", a_view.shape[:-2], b_view.shape[:-2])
    shape = (*batch, m, n)
    context = _context_for(a_view.place, context, family)

    if out is None:
        if reads_out:
            raise ValueError("multiply: beta: needs out, whose former values it scales, got out=None")
        result = family.empty(a, shape, a_view.dtype, out_fill != "full", context) if fresh is None else fresh
    else:
        result = out
    out_view = family.view(result, "multiply: out", True)
    _check_beside(out_view, a_view, "out")
    if tuple(out_view.shape) != shape:
        raise ValueError(f"multiply: out: must have shape {shape}, got {tuple(out_view.shape)}")

    if out is not None and out_view.strides is not None and _layout.overlaps(shape, out_view.strides):
        raise ValueError(f"multiply: out: elements must lie apart, got shape {shape} with strides {tuple(out_view.strides)}")
    if 0 in shape:
        return result if out is not None else family.finish(result, a, (a_view, b_view, out_view), context)
    out_lines = _layout.matrix_lines(out_view.shape, out_view.strides)
    if out_lines is None or out_view.conj:  # no leading dimension describes it: compute beside it
        temporary = family.compact(out) if reads_out else family.empty(a, shape, a_view.dtype, True, context)
        compute_product(family, a, b, a_fill, b_fill, a_op, b_op, a_diag, b_diag, alpha, beta, temporary, out_fill, compute, context)
        family.store(out, temporary, out_fill)
        return out
    a, a_view, a_lines, op_a = _with_lines(family, a, a_view, "a", op_a)
    b, b_view, b_lines, op_b = _with_lines(family, b, b_view, "b", op_b)

    count, strides, steps = 1, (0, 0, 0), ((0, 0, 0),)
    if batch:
        operands = [(view.shape, view.strides) for view in (a_view, b_view, out_view)]
        count, strides, steps = _layout.walk(batch, operands, _layout.extent(m, n, out_lines))
        if out is not None and len(steps) > 1:  # the library sees one step at a time, and cannot refuse an overlap with a later one
            a, b = family.compact(a), family.compact(b)
            a_view, b_view = family.view(a, "multiply: a"), family.view(b, "multiply: b")
            a_lines, b_lines = _layout.matrix_lines(a_view.shape, a_view.strides), _layout.matrix_lines(b_view.shape, b_view.strides)
            operands = [(view.shape, view.strides) for view in (a_view, b_view, out_view)]
            count, strides, steps = _layout.walk(batch, operands, _layout.extent(m, n, out_lines))
    views = (a_view, b_view, out_view)
    options = (op_a, op_b, *options[2:])
    a_desc, b_desc, out_desc = [_layout.descriptor(view.dtype, fill, diag, view.shape, lines, count if stride else 1, stride)
                                for view, fill, diag, lines, stride in zip(views, properties, (*properties[3:], DIAGS["nonunit"]), (a_lines, b_lines, out_lines), strides)]
    item = ITEM_BYTES[a_view.dtype]
    on_host = a_view.place == HOST
    call = native.tritri_multiply_host if on_host else native.multiply_device
    stream, owner = (context._home, None) if on_host else family.stream(a_view.place, a_view)
    with context._lock:
        handle = context._use(stream, owner)
        for step_a, step_b, step_out in steps:
            call(handle, options, a_desc, a_view.address + step_a * item, b_desc, b_view.address + step_b * item, out_desc, out_view.address + step_out * item)
    return result if out is not None else family.finish(result, a, views, context)


def _plain_product(family, a, b, options, properties, out, out_fill, context):
    """The usual product in one native call that reads the arrays itself: whether it could, and `out` or the result it made. Strides, sizes, broadcasting
    and what is wrong take a closer look, and have written nothing."""
    place = family.place(a)
    if place != family.place(b) or a.ndim < 2 or b.ndim < 2:
        return False, None
    context = _context_for(place, context, family)
    if out is None:
        a_shape, b_shape = a.shape, b.shape
        m, k = a_shape[-2:] if options[0] not in TRANSPOSING else a_shape[:-3:-1]
        k_of_b, n = b_shape[-2:] if options[1] not in TRANSPOSING else b_shape[:-3:-1]
        if k != k_of_b:
            return False, None
        shape = (m, n) if len(a_shape) == len(b_shape) == 2 else (*_layout.broadcast("multiply", a_shape[:-2], b_shape[:-2]), m, n)
        out = family.empty(a, shape, None, out_fill != "full", context)
    stream, owner = (context._home, None) if place == HOST else family.stream(place, None)
    with context._lock:
        done = native.multiply_plain(context._use(stream, owner), family.reader, options, properties, place, a, b, out)
    return done, out


_AUTO = -1  # beside the library's compute modes: ask the array library
_EXACT = {int, float, complex}  # numbers that never change, so that what they stand for may be kept


@lru_cache(maxsize=256)
def _codes(a_fill, b_fill, out_fill, a_op, b_op, a_diag, b_diag, alpha, beta, compute):
    """What a call's words and numbers stand for: the tuple of tritri_multiply_options, and the fills of a, b and out with the diags of a and b."""
    def look(words, name, word):
        return code(words, "multiply", name, word)

    return ((look(OPS, "a_op", a_op), look(OPS, "b_op", b_op), *scalar("multiply", "alpha", alpha), *scalar("multiply", "beta", beta),
             look({**COMPUTES, "auto": _AUTO}, "compute", compute), 0),
            (look(FILLS, "a_fill", a_fill), look(FILLS, "b_fill", b_fill), look(FILLS, "out_fill", out_fill), look(DIAGS, "a_diag", a_diag), look(DIAGS, "b_diag", b_diag)))


def _check_beside(view, a_view, name):
    if view.dtype != a_view.dtype:
        raise TypeError(f"multiply: {name}: dtype must be a's {DTYPE_NAMES[a_view.dtype]}, got {DTYPE_NAMES[view.dtype]}: convert one of them")
    if view.place != a_view.place:
        where = ["the CPU" if place == HOST else f"cuda:{place}" for place in (a_view.place, view.place)]
        raise ValueError(f"multiply: {name}: must be on a's device, {where[0]}, got {where[1]}")


def _context_for(place, context, family) -> Context:
    if context is None:
        return default_context(None if place == HOST and family.kind == "numpy.ndarray" else place)
    if not isinstance(context, Context):
        raise TypeError(f"multiply: context: must be a tritri.Context or None, got {type(context).__name__}")
    if place != HOST and context._place != place:
        raise ValueError(f"multiply: context: must be on the arrays' device cuda:{place}, got one on {context.device}")
    return context


def _with_lines(family, x, view, name, op):
    """The operand in a layout that the library knows: copied if it must be, conjugation moved into op."""
    lines = _layout.matrix_lines(view.shape, view.strides)
    if lines is None:
        x = family.compact(x)
        view = family.view(x, f"multiply: {name}")
        lines = _layout.matrix_lines(view.shape, view.strides)
    return x, view, lines, CONJUGATED[op] if view.conj else op
