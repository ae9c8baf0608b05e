"""The contexts behind `tritri.multiply`."""
from __future__ import annotations

import threading

from .arrays.base import HOST
from .context import Context


class _OfThread(threading.local):
    """On the CPU each thread has its own, so that threads run in parallel."""

    def __init__(self):
        self.cpu = None


_of_thread = _OfThread()
_cuda: dict[int, Context] = {}  # shared by all threads: each holds a workspace on its card
_lock = threading.Lock()
_best: int | None = None        # the place that "auto" came to


def default_context(place: int | None) -> Context:
    """The context that a product uses when the caller gives none. `place` None: the best device."""
    global _best
    if place is None:
        place = _best
    if place is None:
        context = Context("auto")
        _best = place = context._place
        if place == HOST:
            _of_thread.cpu = context
        else:
            with _lock:
                _cuda.setdefault(place, context)
    if place == HOST:
        if _of_thread.cpu is None:
            _of_thread.cpu = Context("cpu")
        return _of_thread.cpu
    context = _cuda.get(place)
    if context is None:
        with _lock:
            context = _cuda.get(place)
            if context is None:
                context = _cuda[place] = Context(f"cuda:{place}")
    return context
