"""Options that several commands share."""
from __future__ import annotations

import click

from .._words import ALGORITHMS, COMPUTES, DIAGS, DTYPES, FILLS, OPS


class Number(click.ParamType):
    """A real or complex number, such as 2, -0.5 or 1+2j."""

    name = "number"

    def convert(self, value, param, ctx):
        if isinstance(value, (int, float, complex)):
            return value
        try:
            number = complex(value.replace("i", "j"))
        except ValueError:
            self.fail(f"must be a number such as 2 or 1+2j, got {value!r}", param, ctx)
        return number.real if number.imag == 0 else number


def _choices(words):
    return click.Choice(list(words))


def apply(options):
    """Decorates a command with options, in the order that --help shows them."""
    def decorate(command):
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


FILL_OPTIONS = [
    click.option("--a-fill", type=_choices(FILLS), default="lower", show_default=True, help="Which elements of A exist."),
    click.option("--b-fill", type=_choices(FILLS), default="lower", show_default=True, help="Which elements of B exist."),
]
OPERAND_OPTIONS = FILL_OPTIONS + [
    click.option("--a-op", type=_choices(OPS), default="N", show_default=True, help="Transpose (T), conjugate transpose (C) or conjugate (R) A."),
    click.option("--b-op", type=_choices(OPS), default="N", show_default=True, help="The same for B."),
    click.option("--a-diag", type=_choices(DIAGS), default="nonunit", show_default=True, help="unit: A's diagonal counts as 1."),
    click.option("--b-diag", type=_choices(DIAGS), default="nonunit", show_default=True, help="unit: B's diagonal counts as 1."),
    click.option("--alpha", type=Number(), default=1, show_default=True, help="Factor of the product."),
]
COMPUTE_OPTIONS = [
    click.option("--compute", type=_choices(COMPUTES), default="default", show_default=True, help="How float32 products are computed."),
    click.option("--algorithm", type=_choices(ALGORITHMS), default="auto", show_default=True, help="Own kernels or cuBLAS."),
]
DEVICE_OPTIONS = [
    click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda or cuda:N."),
    click.option("--threads", type=click.IntRange(0, 1024), default=0, show_default=True, help="CPU threads; 0: all."),
]
DTYPE = click.option("--dtype", type=_choices(name for name in DTYPES if name != "bfloat16"), default=None, help="Convert the matrices to this type first.")
JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout, for programs.")
EXPLAIN = click.option("--explain", is_flag=True, help="Also say how the library computes it.")
