"""What every machine shares: a case, its inputs, and who competes in it."""
from __future__ import annotations

import dataclasses
from typing import Callable

from .products import ITEM, Mode, Product

OURS = "tritri"
PACKED = f"{OURS} packed"


class Absent(Exception):
    """Why a peer does not take part: one sentence without a full stop."""


@dataclasses.dataclass(frozen=True)
class Case:
    """One product of one size, in modes of one element type that are measured side by side."""

    product: Product
    n: int
    modes: tuple[Mode, ...]
    batch: int = 1
    packed: bool = False  # also with the triangles packed

    @property
    def dtype(self) -> str:
        return self.modes[0].dtype

    @property
    def title(self) -> str:
        size = f"n = {self.n}" + (f" x {self.batch}" if self.batch > 1 else "")
        return f"{self.product.name}, {self.dtype}, {size}"

    def operand_bytes(self) -> int:
        return self.n * self.n * self.batch * ITEM[self.dtype]


@dataclasses.dataclass
class Sets:
    """Sets of inputs and outputs, each array of shape (sets, [batch,] n, n).

    `a`, `b` and `c` are ours: NaN wherever nothing may be read. Peers read zeros there (ones on a unit diagonal) from `a_zero` and `b_zero`, and find zeros in `c_zero`.
    """

    a: object
    b: object
    c: object
    a_zero: object
    b_zero: object
    c_zero: object

    def __len__(self) -> int:
        return len(self.a)


@dataclasses.dataclass
class Contender:
    """Who computes the product: one call for each set, which gives the result (ours: also what lies outside C's fill, unspecified)."""

    name: str
    modes: tuple[Mode, ...]           # which of the case's modes its arithmetic serves
    calls: list[Callable[[], object]]
    before: Callable[[], None] | None = None  # outside the time, before each sample
    detail: str = ""                  # the plan, the block size
    dense: Callable[[object], object] = lambda c: c  # what a call gives as a matrix with all its elements
    samples: list[float] = dataclasses.field(default_factory=list)  # seconds of one product each


MOST_SETS = 4096  # of matrices so small that the host's work on each would take longer than theirs


def count_of_sets(case: Case, cache_bytes: int) -> int:
    """So many that no set is still in the cache when its turn comes again; at least two, unless one alone fills the cache many times over."""
    each = 3 * case.operand_bytes()
    return min(MOST_SETS, max(1 if each > 16 * cache_bytes else 2, -(-2 * cache_bytes // each)))


def groups_of(calls: list, size: int) -> list[list]:
    """Groups of so many calls, which samples take in turn: every set in its turn, round and round if there are fewer."""
    if size >= len(calls):
        return [[calls[i % len(calls)] for i in range(size)]]
    return [calls[i:i + size] for i in range(0, len(calls) - size + 1, size)]
