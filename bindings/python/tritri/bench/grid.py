"""Which cases there are: the grid of the committed report, a quick one, and one of the user's own."""
from __future__ import annotations

from .contenders import Case
from .products import MODES, SEVEN, Mode, parse

LOWER, OTHERS = SEVEN[0], SEVEN[1:]


def by_dtype(modes) -> list[tuple[Mode, ...]]:
    """Modes of one element type are measured side by side."""
    dtypes = dict.fromkeys(mode.dtype for mode in modes)
    return [tuple(mode for mode in modes if mode.dtype == dtype) for dtype in dtypes]


def cases(products, modes, sizes, packed: bool = False) -> list[Case]:
    """Every product in every mode at every size; sizes are (n, batch). `packed` where a product has triangles, none of them unit."""
    return [Case(product, n, group, batch, packed and product.has_triangles and not product.has_unit)
            for n, batch in sizes for group in by_dtype(modes) for product in map(parse, products)]


def _plain(*sizes: int) -> list[tuple[int, int]]:
    return [(n, 1) for n in sizes]


def _named(*names: str) -> list[Mode]:
    return [MODES[name] for name in names]


# Batches as large as 2^28 bytes per operand in float32, and smaller ones.
BATCHES = {8: (16, 256, 4096, 65536, 262144), 16: (16, 256, 4096, 65536, 262144), 32: (16, 256, 4096, 65536), 64: (16, 256, 4096, 16384), 128: (16, 256, 4096),
           256: (16, 256, 1024), 512: (16, 256), 1024: (4, 16, 64)}
PACKED = (2048, 4096)


def full(on_cpu: bool) -> list[Case]:
    """What the committed report holds, the most telling first."""
    if on_cpu:
        modes = _named("float32", "float64")
        return (cases([LOWER], modes, _plain(1024)) + cases([LOWER], modes, _plain(2048), packed=True) + cases([LOWER], modes, _plain(64, 128, 256, 512))
                + cases(OTHERS, modes, _plain(1024)) + cases([LOWER], modes, [(8, 10000), (32, 10000), (128, 400)]))
    real = _named("float32", "float32-pedantic", "float32-tf32", "float64", "bfloat16", "float16")
    return (cases([LOWER], list(MODES.values()), _plain(1024)) + cases([LOWER], list(MODES.values()), _plain(*PACKED), packed=True)
            + cases([LOWER], list(MODES.values()), _plain(64, 128, 256, 512)) + cases([LOWER], real, _plain(8192), packed=True)
            + cases([LOWER], _named("float32", "float64", "bfloat16"), [(n, batch) for n, batches in BATCHES.items() for batch in batches])
            + cases(OTHERS, _named("float32", "float32-pedantic", "float32-tf32", "float64", "bfloat16", "complex64"), _plain(1024, 4096))
            + cases([LOWER], real, _plain(16384)) + cases([LOWER], _named("complex64", "complex128"), _plain(8192), packed=True))


def quick(on_cpu: bool) -> list[Case]:
    if on_cpu:
        return cases([LOWER], _named("float32", "float64"), _plain(64, 256, 512)) + cases(OTHERS, _named("float64"), _plain(256))
    return (cases([LOWER], _named("float32", "float32-pedantic", "float32-tf32", "float64", "bfloat16"), _plain(256, 1024, 4096)) + cases(OTHERS, _named("float32"), _plain(1024))
            + cases([LOWER], _named("float32"), [(32, 65536)]))
