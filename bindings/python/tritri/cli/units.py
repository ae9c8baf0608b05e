"""Numbers for people."""
from __future__ import annotations


def byte_size(count: float) -> str:
    """Such as "139.8 GiB"."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(count) < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def duration(seconds: float) -> str:
    """Such as "1.23 ms"."""
    for limit, unit in ((1e-6, "ns"), (1e-3, "us"), (1, "ms")):
        if seconds < limit:
            return f"{seconds / limit * 1000:.3g} {unit}"
    return f"{seconds:.3g} s"


def rate(flops: float, seconds: float) -> str:
    """Such as "12.3 GFLOP/s", of useful operations."""
    per_second = flops / seconds if seconds > 0 else 0.0
    return f"{per_second / 1e12:.3g} TFLOP/s" if per_second >= 1e12 else f"{per_second / 1e9:.3g} GFLOP/s"
