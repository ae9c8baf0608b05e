"""PyTorch tensors, on the CPU and on CUDA devices. Imported when the first tensor arrives."""
from __future__ import annotations

import torch

from .._words import DTYPES
from .base import HOST, LEGACY_STREAM, Family, View, argument_of, refuse_dtype

CODES = {getattr(torch, name): code for name, code in DTYPES.items()}
TORCH_DTYPES = {code: dtype for dtype, code in CODES.items()}

# The raw handle without a Stream object around it, which costs several microseconds.
_raw_stream = getattr(torch._C, "_cuda_getCurrentRawStream", None) or (lambda index: torch.cuda.current_stream(index).cuda_stream)


class TorchFamily(Family):
    kind = "torch.Tensor"
    reader = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)  # from PyTorch 2.10 on
    plain = reader is not None

    def differentiates(self, a, b, out):
        return (a.requires_grad or b.requires_grad or (out is not None and out.requires_grad)) and torch.is_grad_enabled()

    def place(self, x):
        return x.get_device()  # -1, which is HOST, on the CPU

    def is_lazy(self, a, b, out):
        return a.is_neg() or a.is_conj() or b.is_neg() or b.is_conj() or (out is not None and (out.is_neg() or out.is_conj()))

    def view(self, x, where, writable=False):
        code = CODES.get(x.dtype)
        if code is None:
            refuse_dtype(where, str(x.dtype), f"pass {argument_of(where)}.to(torch.float64)")
        if x.is_cuda:
            place = x.get_device()
        elif x.is_cpu:
            place = HOST
        else:
            raise TypeError(f"{where}: must be on the CPU or a CUDA device, got {x.device}")
        if x.layout is not torch.strided:
            raise TypeError(f"{where}: must be a dense tensor, got {x.layout}: pass {argument_of(where)}.to_dense()")
        strides = None if x.is_neg() else x.stride()
        try:
            address = x.data_ptr()
        except RuntimeError:
            raise TypeError(f"{where}: must have memory of its own, got a tensor of torch.func: use tritri.torch.matmul") from None
        return View(address, tuple(x.shape), strides, code, place, x.is_conj(), x)

    def compact(self, x):
        return x.detach().resolve_neg().resolve_conj().clone(memory_format=torch.contiguous_format)

    def empty(self, like, shape, dtype, zero, context):
        if like.is_conj() or like.is_neg():  # new_empty would first make a copy of it
            return (torch.zeros if zero else torch.empty)(shape, dtype=like.dtype, device=like.device)
        return like.new_zeros(shape) if zero else like.new_empty(shape)

    def store(self, out, values, fill):
        if fill == "full":
            out.copy_(values)
            return
        every = torch.ones(values.shape[-2:], dtype=torch.bool, device=values.device)
        out.copy_(torch.where(every.tril() if fill == "lower" else every.triu(), values, out))

    def stream(self, place, view):
        return _raw_stream(place) or LEGACY_STREAM, None

    def tf32_allowed(self, x):
        return x.dtype is torch.float32 and x.is_cuda and torch.get_float32_matmul_precision() != "highest"


FAMILY = TorchFamily()
