"""The commands info, multiply and verify, and the group that holds them all."""
from __future__ import annotations

import json
import math
import time

import click
import numpy as np

import tritri as package

from . import files, options, units
from .benchmark import bench


def example(*lines: str) -> str:
    """The example that ends a command's --help, kept line by line."""
    return "\b\nExample:\n" + "\n".join("  " + line for line in lines)


@click.group(no_args_is_help=True, context_settings={"help_option_names": ["-h", "--help"]},
             epilog=example("tritri multiply L.npy L.npy -o square.npy --out-fill lower"))
@click.version_option(package.__version__, prog_name="tritri")
def tritri():
    """Products of triangular matrices, on the CPU and on NVIDIA GPUs."""


@tritri.command(epilog=example("tritri info --json"))
@options.JSON
def info(as_json):
    """Says which version this is and which devices it can use."""
    found = package.devices()
    if as_json:
        click.echo(json.dumps({"version": package.__version__, "devices": found}))
        return
    click.echo(f"tritri {package.__version__}")
    for device in found:
        name = device["kind"] if device["kind"] == "cpu" else f"{device['kind']}:{device['index']}"
        click.echo(f"  {name:8} {device['name']}, {units.byte_size(device['memory_free'])} free of {units.byte_size(device['memory_total'])}")
        click.echo(f"           {device['details']}")


@tritri.command(epilog=example("tritri multiply L.npy U.mtx --b-fill upper -o product.npy", "tritri multiply L.npy L.npy --b-op C --out-fill lower -o A.npy"))
@click.argument("a")
@click.argument("b")
@click.option("-o", "--output", required=True, help="Where the product goes: .npy or .mtx.")
@options.apply(options.OPERAND_OPTIONS)
@click.option("--beta", type=options.Number(), default=0, show_default=True, help="Factor of the matrix in --c.")
@click.option("--c", "c_file", help="The matrix that --beta scales.")
@click.option("--out-fill", type=click.Choice(["full", "lower", "upper"]), default="full", show_default=True, help="Which part of the product is computed.")
@options.apply(options.COMPUTE_OPTIONS + options.DEVICE_OPTIONS)
@options.DTYPE
@options.EXPLAIN
@options.JSON
def multiply(a, b, output, a_fill, b_fill, a_op, b_op, a_diag, b_diag, alpha, beta, c_file, out_fill, compute, algorithm, device, threads, dtype, explain,
             as_json):
    """Multiplies the matrices in the files A and B (.npy or Matrix Market .mtx)."""
    if beta != 0 and c_file is None:
        raise click.ClickException(f"--beta: needs --c, the matrix that it scales, got --beta {beta} alone")
    files.check_writable(output)
    left, right = files.read(a, dtype), files.read(b, dtype)
    with package.Context(device, threads=threads) as context:
        with context.upload(left, a_fill, a_diag) as x, context.upload(right, b_fill, b_diag) as y:
            out = context.upload(files.read(c_file, dtype), out_fill) if c_file else None
            start = time.perf_counter()
            product = context.multiply(x, y, a_op=a_op, b_op=b_op, alpha=alpha, beta=beta, out=out, out_fill=out_fill, compute=compute, algorithm=algorithm)
            context.synchronize()
            seconds = time.perf_counter() - start
            result = product.download()
            plan = context.explain(x, y, product, a_op=a_op, b_op=b_op, alpha=alpha, beta=beta, compute=compute, algorithm=algorithm) if explain else None
            device = context.device
    files.write(output, result)
    if as_json:
        report = {"output": output, "shape": list(result.shape), "dtype": str(result.dtype), "device": device, "seconds": seconds}
        click.echo(json.dumps({**report, "plan": plan} if explain else report))
        return
    click.echo(f"{output}: {' x '.join(map(str, result.shape))} {result.dtype} ({units.byte_size(result.nbytes)}), computed on {device} in {units.duration(seconds)}")
    if explain:
        click.echo(plan)


@tritri.command(epilog=example("tritri verify L.npy L.npy square.npy --c-fill lower"))
@click.argument("a")
@click.argument("b")
@click.argument("c")
@options.apply(options.OPERAND_OPTIONS)
@click.option("--c-fill", type=click.Choice(["full", "lower", "upper"]), default="full", show_default=True, help="Which part of C is checked.")
@click.option("--probes", type=click.IntRange(1, 1024), default=8, show_default=True, help="Random vectors to try.")
@click.option("--tolerance", type=float, default=None, help="Largest relative residual. Default: 10 sqrt(k) times the type's epsilon.")
@options.apply(options.DEVICE_OPTIONS)
@options.DTYPE
@options.JSON
def verify(a, b, c, a_fill, b_fill, a_op, b_op, a_diag, b_diag, alpha, c_fill, probes, tolerance, device, threads, dtype, as_json):
    """Checks that the file C holds alpha op(A) op(B). Exit code 1 if it does not."""
    left, right, product = (files.read(name, dtype) for name in (a, b, c))
    with package.Context(device, threads=threads) as context:
        x, y, z = context.upload(left, a_fill, a_diag), context.upload(right, b_fill, b_diag), context.upload(product, c_fill)
        residual = context.verify(x, y, z, a_op=a_op, b_op=b_op, alpha=alpha, probes=probes)
    if tolerance is None:
        tolerance = 10 * math.sqrt(max(1, left.shape[-1])) * float(np.finfo(left.dtype).eps)
    passed = bool(residual <= tolerance)
    if as_json:
        click.echo(json.dumps({"residual": residual if math.isfinite(residual) else str(residual), "tolerance": tolerance, "passed": passed}))
    else:
        click.echo(f"{'right' if passed else 'WRONG'}: relative residual {residual:.3g}, tolerance {tolerance:.3g}")
    return 0 if passed else 1


tritri.add_command(bench)
