"""The words that Python callers use for the library's enumerations."""
from __future__ import annotations

from ._native import native as n

FILLS = {"full": n.TRITRI_FILL_FULL, "lower": n.TRITRI_FILL_LOWER, "upper": n.TRITRI_FILL_UPPER}
OPS = {"N": n.TRITRI_OP_NONE, "T": n.TRITRI_OP_TRANSPOSE, "C": n.TRITRI_OP_CONJ_TRANSPOSE, "R": n.TRITRI_OP_CONJ}
DIAGS = {"nonunit": n.TRITRI_DIAG_NON_UNIT, "unit": n.TRITRI_DIAG_UNIT}
ORDERS = {"row": n.TRITRI_ORDER_ROW, "column": n.TRITRI_ORDER_COLUMN}
COMPUTES = {"default": n.TRITRI_COMPUTE_DEFAULT, "pedantic": n.TRITRI_COMPUTE_PEDANTIC, "tf32": n.TRITRI_COMPUTE_TF32}
ALGORITHMS = {"auto": n.TRITRI_ALGORITHM_AUTO, "kernel": n.TRITRI_ALGORITHM_KERNEL, "cublas": n.TRITRI_ALGORITHM_CUBLAS}
DTYPES = {"float32": n.TRITRI_FLOAT32, "float64": n.TRITRI_FLOAT64, "complex64": n.TRITRI_COMPLEX64, "complex128": n.TRITRI_COMPLEX128,
          "float16": n.TRITRI_FLOAT16, "bfloat16": n.TRITRI_BFLOAT16}
DTYPE_NAMES = {code: name for name, code in DTYPES.items()}
FILL_NAMES = {code: name for name, code in FILLS.items()}
DIAG_NAMES = {code: name for name, code in DIAGS.items()}
ITEM_BYTES = {n.TRITRI_FLOAT32: 4, n.TRITRI_FLOAT64: 8, n.TRITRI_COMPLEX64: 8, n.TRITRI_COMPLEX128: 16, n.TRITRI_FLOAT16: 2, n.TRITRI_BFLOAT16: 2}

ROW, COLUMN = n.TRITRI_ORDER_ROW, n.TRITRI_ORDER_COLUMN
STRIDED, PACKED = n.TRITRI_STORAGE_STRIDED, n.TRITRI_STORAGE_PACKED
CPU, CUDA = n.TRITRI_DEVICE_CPU, n.TRITRI_DEVICE_CUDA

# The op that also conjugates what is stored.
CONJUGATED = {n.TRITRI_OP_NONE: n.TRITRI_OP_CONJ, n.TRITRI_OP_CONJ: n.TRITRI_OP_NONE,
              n.TRITRI_OP_TRANSPOSE: n.TRITRI_OP_CONJ_TRANSPOSE, n.TRITRI_OP_CONJ_TRANSPOSE: n.TRITRI_OP_TRANSPOSE}
TRANSPOSING = (n.TRITRI_OP_TRANSPOSE, n.TRITRI_OP_CONJ_TRANSPOSE)


def code(words: dict[str, int], function: str, argument: str, word) -> int:
    """The enumerator that a word stands for, or a ValueError that lists the words."""
    try:
        return words[word]
    except (KeyError, TypeError):
        *most, last = map(repr, words)
        raise ValueError(f"{function}: {argument}: must be {', '.join(most)} or {last}, got {word!r}") from None


def scalar(function: str, argument: str, value) -> tuple[float, float]:
    """Real and imaginary part of a number."""
    if type(value) is float:
        return value, 0.0
    if not isinstance(value, (str, bytes)):
        try:
            number = complex(value)
            return number.real, number.imag
        except (TypeError, ValueError):
            pass
        except OverflowError:
            raise ValueError(f"{function}: {argument}: must fit in a float64, got {value!r}"[:200]) from None
    raise TypeError(f"{function}: {argument}: must be a number, got {type(value).__name__}")
