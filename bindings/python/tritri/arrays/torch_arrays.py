"""PyTorch tensors, on the CPU and on CUDA devices. Imported when the first tensor arrives."""
from __future__ import annotations

import torch

from .._words import DTYPES
from .base import HOST, LEGACY_STREAM, Family, View, refuse_dtype

CODES = {getattr(torch, name): code for name, code in DTYPES.items()}
TORCH_DTYPES = {code: dtype for dtype, code in CODES.items()}

# The raw handle without a Stream object around it, which costs several microseconds.
_raw_stream = getattr(torch._C, "_cuda_getCurrentRawStream", None) or (lambda index: torch.cuda.current_stream(index).cuda_stream)


class TorchFamily(Family):
    kind = "torch.Tensor"

    def differentiates(self, a, b, out):
        return torch.is_grad_enabled() and (a.requires_grad or b.requires_grad or (out is not None and out.requires_grad))

    def view(self, x, name, writable=False):
        code = CODES.get(x.dtype)
        if code is None:
            refuse_dtype(name, str(x.dtype), f"pass {name}.to(torch.float64)")
        if x.is_cuda:
            place = x.get_device()
        elif x.is_cpu:
            place = HOST
        else:
            raise TypeError(f"multiply: {name}: must be on the CPU or a CUDA device, got {x.device}")
        if x.layout is not torch.strided:
            raise TypeError(f"multiply: {name}: must be a dense tensor, got {x.layout}: pass {name}.to_dense()")
        strides = None if x.is_neg() else x.stride()
        return View(x.data_ptr(), tuple(x.shape), strides, code, place, x.is_conj(), x)

    def compact(self, x):
        return x.detach().resolve_neg().resolve_conj().clone(memory_format=torch.contiguous_format)

    def empty(self, like, shape, dtype, zero, context):
        return (torch.zeros if zero else torch.empty)(shape, dtype=like.dtype, device=like.device)

    def store(self, out, values, fill):
        if fill == "full":
            out.copy_(values)
            return
        every = torch.ones(values.shape[-2:], dtype=torch.bool, device=values.device)
        out.copy_(torch.where(every.tril() if fill == "lower" else every.triu(), values, out))

    def stream(self, view):
        return _raw_stream(view.place) or LEGACY_STREAM, None

    def tf32_allowed(self, view):
        return view.place != HOST and torch.get_float32_matmul_precision() != "highest"


FAMILY = TorchFamily()
