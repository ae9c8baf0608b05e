"""Reads tests/bindings/vectors/vectors.txt (its README.md says what the lines mean)."""
import pathlib
from dataclasses import dataclass, field

import numpy as np

PATH = pathlib.Path(__file__).resolve().parents[1] / "vectors" / "vectors.txt"


@dataclass
class Operand:
    rows: int
    cols: int
    fill: str
    diag: str
    order: str
    ld: int
    storage: str = "strided"
    batch_count: int = 1
    batch_stride: int = 0
    data: np.ndarray = None

    def view(self):
        """The rows x cols matrix inside the buffer, padding left out, or the batch of them; strided storage only."""
        size, strides = self.data.itemsize, (self.ld, 1) if self.order == "row" else (1, self.ld)
        if self.batch_count == 1:
            return np.lib.stride_tricks.as_strided(self.data, (self.rows, self.cols), [step * size for step in strides])
        return np.lib.stride_tricks.as_strided(self.data, (self.batch_count, self.rows, self.cols), [step * size for step in (self.batch_stride, *strides)])


@dataclass
class Case:
    name: str
    dtype: np.dtype = None
    ops: tuple = ()
    alpha: complex = 1
    beta: complex = 0
    compute: str = "default"
    operands: dict = field(default_factory=dict)
    expected: np.ndarray = None
    tolerance: float = 0
    refused: str = None


def _numbers(words, dtype):
    numbers = np.array([float(word) for word in words])
    if dtype.kind == "c":
        pairs = np.empty(len(numbers) // 2, np.complex128)
        pairs.real, pairs.imag = numbers[0::2], numbers[1::2]
        numbers = pairs
    return numbers.astype(dtype)


def read(path=PATH):
    cases = []
    for line in path.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        key, *words = line.split(" ")
        case = cases[-1] if cases else None
        if key == "case":
            cases.append(Case(words[0]))
        elif key == "dtype":
            case.dtype = np.dtype(words[0])
        elif key == "ops":
            case.ops = tuple(words)
        elif key in ("alpha", "beta"):
            value = complex(float(words[0]), float(words[1]))
            setattr(case, key, value if value.imag else value.real)
        elif key == "compute":
            case.compute = words[0]
        elif key in ("a", "b", "c"):
            case.operands[key] = Operand(int(words[0]), int(words[1]), words[2], words[3], words[4], *map(int, words[5:6]), *words[6:7], *map(int, words[7:]))
        elif key.endswith("_data"):
            case.operands[key[0]].data = _numbers(words, case.dtype)
        elif key == "expected":
            case.expected = _numbers(words, case.dtype)
        elif key == "tolerance":
            case.tolerance = float(words[0])
        elif key == "refused":
            case.refused = line.split(" ", 1)[1]
        elif key != "end":
            raise ValueError(f"{path}: unknown line: {line}")
    return cases
