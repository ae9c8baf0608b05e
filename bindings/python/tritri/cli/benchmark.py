"""The command bench: this library beside what people use today."""
from __future__ import annotations

import json
import pathlib
import time

import click
import numpy as np

import tritri

from . import options, units


class Sizes(click.ParamType):
    """Orders of square matrices, such as 256,1024."""

    name = "sizes"

    def convert(self, value, param, ctx):
        if isinstance(value, list):
            return value
        words = value.split(",")
        if not all(word.isascii() and word.isdigit() and 0 < int(word) <= 65536 for word in words):
            self.fail(f"must be numbers from 1 to 65536 with commas between them, got {value!r}", param, ctx)
        return [int(word) for word in words]


def useful_flops(n: int, fills: tuple[str, str, str], dtype: np.dtype) -> float:
    """Operations on elements inside the fills: a multiply and an add for each k that matters to each element of C."""
    i = np.arange(n, dtype=np.float64)
    rows, columns = i[:, None], i[None, :]
    begin, end = np.zeros((1, 1)), np.full((1, 1), float(n))
    for fill, bound, is_left in ((fills[0], rows, True), (fills[1], columns, False)):
        if fill == ("lower" if is_left else "upper"):
            end = np.minimum(end, bound + 1)
        elif fill != "full":
            begin = np.maximum(begin, bound)
    counts = np.broadcast_to(np.maximum(end - begin, 0), (n, n))
    counts = np.tril(counts) if fills[2] == "lower" else np.triu(counts) if fills[2] == "upper" else counts
    return float(counts.sum()) * (8 if dtype.kind == "c" else 2)


def random_matrix(generator, n: int, dtype: np.dtype) -> np.ndarray:
    real = generator.standard_normal((n, n))
    return (real + 1j * generator.standard_normal((n, n)) if dtype.kind == "c" else real).astype(dtype)


def best_time(work, wait, repeat: int) -> float:
    """The shortest of `repeat` timings, after one call that warms up."""
    work()
    wait()
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        wait()
        best = min(best, time.perf_counter() - start)
    return best


def cut(library, product, fill: str):
    return library.tril(product) if fill == "lower" else library.triu(product) if fill == "upper" else product


def filled(x: np.ndarray, fill: str) -> np.ndarray:
    return np.ascontiguousarray(cut(np, x, fill))


def numpy_time(a, b, fills, repeat) -> float:
    """np.tril(a @ b) and its like, with zeros written out as NumPy needs them."""
    left, right = filled(a, fills[0]), filled(b, fills[1])
    return best_time(lambda: cut(np, left @ right, fills[2]), lambda: None, repeat)


def torch_time(a, b, fills, repeat, device) -> float | None:
    """The same with PyTorch on the GPU; None where there is no PyTorch with CUDA."""
    try:
        import torch
    except ImportError:
        return None
    if not torch.cuda.is_available():
        return None
    left, right = (torch.from_numpy(filled(x, fill)).to(device) for x, fill in zip((a, b), fills))
    return best_time(lambda: cut(torch, left @ right, fills[2]), torch.cuda.synchronize, repeat)


def measure(context, n, fills, dtype, compute, algorithm, repeat) -> dict:
    """One line of the table."""
    generator = np.random.default_rng(n)
    a, b = random_matrix(generator, n, dtype), random_matrix(generator, n, dtype)
    with context.upload(a, fills[0]) as x, context.upload(b, fills[1]) as y, context.matrix((n, n), dtype, fills[2]) as out:
        seconds = best_time(lambda: context.multiply(x, y, out=out, compute=compute, algorithm=algorithm), context.synchronize, repeat)
        line = {"n": n, "seconds": seconds, "gflops": useful_flops(n, fills, dtype) / seconds / 1e9, "residual": context.verify(x, y, out, probes=2),
                "plan": context.explain(x, y, out, compute=compute, algorithm=algorithm)}
    if context.device == "cpu":
        other, other_seconds = "numpy", numpy_time(a, b, fills, repeat)
    else:
        other, other_seconds = "torch", torch_time(a, b, fills, repeat, context.device)
        if other_seconds is None:
            other, other_seconds = "numpy", numpy_time(a, b, fills, repeat)
    return {**line, "other": other, "other_seconds": other_seconds, "speedup": other_seconds / seconds}


def show(lines, title: str) -> None:
    from rich.console import Console
    from rich.table import Table
    table = Table(title=title)
    for heading in ("n", "tritri", "useful rate", "instead of", "time", "speed-up", "residual"):
        table.add_column(heading, justify="right")
    for line in lines:
        table.add_row(str(line["n"]), units.duration(line["seconds"]), units.rate(line["gflops"] * 1e9, 1), line["other"], units.duration(line["other_seconds"]),
                      f"{line['speedup']:.2f} x", f"{line['residual']:.1e}")
    Console().print(table)


def check_plot(path: str) -> None:
    """Before any work: whether `draw` could draw there."""
    if pathlib.Path(path).suffix != ".png" or not pathlib.Path(path).parent.is_dir():
        raise click.ClickException(f"--plot: must be a .png in a folder that exists, got {path}")
    try:
        import matplotlib
    except ImportError:
        raise click.ClickException("--plot: needs matplotlib, which is not installed: pip install matplotlib") from None
    matplotlib.use("Agg")


def draw(lines, title: str, path: str) -> None:
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(6, 4), layout="constrained")
    sizes = [line["n"] for line in lines]
    axes.loglog(sizes, [line["seconds"] * 1e3 for line in lines], "o-", label="tritri")
    axes.loglog(sizes, [line["other_seconds"] * 1e3 for line in lines], "s--", label=lines[0]["other"])
    axes.set(title=title, xlabel="n", ylabel="ms")
    axes.set_xticks(sizes, labels=list(map(str, sizes)), minor=False)
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


@click.command(epilog="\b\nExample:\n  tritri bench --sizes 512,1024,2048 --dtype float32 --plot bench.png")
@click.option("--sizes", type=Sizes(), default="256,512,1024", show_default=True, help="Orders of the square matrices.")
@click.option("--dtype", type=click.Choice(["float32", "float64", "complex64", "complex128"]), default="float64", show_default=True, help="Element type.")
@options.apply(options.FILL_OPTIONS)
@click.option("--out-fill", type=click.Choice(["full", "lower", "upper"]), default="lower", show_default=True, help="Which part of the product is computed.")
@options.apply(options.COMPUTE_OPTIONS + options.DEVICE_OPTIONS)
@click.option("--repeat", type=click.IntRange(1, 1000), default=5, show_default=True, help="Timings of each, of which the best counts.")
@click.option("--plot", help="Also draw the times into this PNG file.")
@options.EXPLAIN
@options.JSON
def bench(sizes, dtype, a_fill, b_fill, out_fill, compute, algorithm, device, threads, repeat, plot, explain, as_json):
    """Times products of random triangular matrices beside NumPy's tril(a @ b), or PyTorch's on a GPU."""
    from rich.console import Console
    from rich.progress import Progress
    if plot:
        check_plot(plot)
    console = Console(stderr=True)
    fills, lines = (a_fill, b_fill, out_fill), []
    with tritri.Context(device, threads=threads) as context:
        title = f"{a_fill} x {b_fill} to {out_fill}, {dtype}, {context.device} ({context.device_info['name']})"
        with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
            task = progress.add_task("timing", total=len(sizes))
            for n in sizes:
                progress.update(task, description=f"n = {n}")
                lines.append(measure(context, n, fills, np.dtype(dtype), compute, algorithm, repeat))
                progress.advance(task)
        device = context.device
    if plot:
        draw(lines, title, plot)
    if as_json:
        click.echo(json.dumps({"device": device, "dtype": dtype, "a_fill": a_fill, "b_fill": b_fill, "out_fill": out_fill, "lines": lines}))
        return
    show(lines, title)
    if explain:
        for line in lines:
            click.echo(f"n = {line['n']}: {line['plan']}")
