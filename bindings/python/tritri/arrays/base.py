"""What the product asks of an array library."""
from __future__ import annotations

HOST = -1  # the place of arrays in host memory; others are CUDA device indices
LEGACY_STREAM = 1  # the handle of CUDA's legacy default stream, whose usual name, 0, means the context's own stream here


class View:
    """Where an array's elements are."""

    __slots__ = ("address", "shape", "strides", "dtype", "place", "conj", "keep")

    def __init__(self, address, shape, strides, dtype, place, conj=False, keep=None):
        self.address = address
        self.shape = shape
        self.strides = strides  # in elements; None: not whole elements, or not aligned
        self.dtype = dtype      # tritri_dtype
        self.place = place
        self.conj = conj        # the elements are the conjugates of what is stored
        self.keep = keep        # what must live as long as the address is used


class Family:
    """One array library. Every method takes that library's arrays."""

    kind = ""
    plain = False  # whether native.multiply_plain can read such arrays, by `reader`
    reader = None  # the capsule with DLPack's C functions of the type, or None for NumPy's own

    def differentiates(self, a, b, out) -> bool:
        """Whether the library wants gradients of this product."""
        return False

    def view(self, x, where: str, writable: bool = False) -> View:
        """The array's view. where: "function: argument", as messages begin."""
        raise NotImplementedError

    def compact(self, x):
        """A row-major copy."""
        raise NotImplementedError

    def empty(self, like, shape, dtype: int, zero: bool, context):
        """A new row-major array beside `like`, zeros if asked."""
        raise NotImplementedError

    def store(self, out, values, fill: str) -> None:
        """Copies what is inside the fill of `values` into `out`."""
        raise NotImplementedError

    def place(self, x) -> int:
        """The view's place. For families with plain arrays."""
        return HOST

    def is_lazy(self, a, b, out) -> bool:
        """Whether the values of an array are not quite those in its memory. For families with plain arrays."""
        return False

    def stream(self, place: int, view: View | None):
        """The caller's current stream on a device: (handle, what keeps it alive)."""
        return LEGACY_STREAM, None

    def tf32_allowed(self, x) -> bool:
        """Whether x is float32 and the library's own setting takes TF32 for products of such arrays."""
        return False

    def finish(self, result, like, views, context):
        """The result as the caller gets it."""
        return result


def argument_of(where: str) -> str:
    """The argument in "function: argument", for advice on what to pass."""
    return where.rpartition(" ")[2]


def refuse_dtype(where: str, got: str, advice: str):
    raise TypeError(f"{where}: dtype must be float32, float64, complex64, complex128, float16 or bfloat16, got {got}: {advice}")
