"""The command bench: this library beside what people use today."""
from __future__ import annotations

import json
import pathlib
import sys

import click

from ..bench import products as known
from . import options, units


class Sizes(click.ParamType):
    """Orders of square matrices, such as 256,1024, or with the size of a batch, such as 64x16384."""

    name = "sizes"

    def convert(self, value, param, ctx):
        if isinstance(value, list):
            return value
        sizes = []
        for word in value.split(","):
            n, times, batch = word.partition("x")
            if not all(part.isascii() and part.isdigit() and 0 < int(part) < 2 ** 24 for part in (n, batch if times else "1")) or int(n) > 65536:
                self.fail(f"must be numbers from 1 to 65536 with commas between them, each perhaps with a batch as in 64x1000, got {value!r}", param, ctx)
            sizes.append((int(n), int(batch) if times else 1))
        return sizes


class Words(click.ParamType):
    """Words with commas between them."""

    name = "words"

    def __init__(self, check):
        self.check = check

    def convert(self, value, param, ctx):
        if isinstance(value, list):
            return value
        try:
            return [self.check(word) for word in value.split(",")]
        except ValueError as wrong:
            self.fail(str(wrong), param, ctx)


def _product(word: str) -> str:
    return known.parse(word).name


def _mode(word: str) -> str:
    if word not in known.MODES:
        raise ValueError(f"must be of {', '.join(known.MODES)}, got {word!r}")
    return word


def check_plot(path: str) -> None:
    """Before any work: whether `plot.draw` could draw there."""
    if pathlib.Path(path).suffix != ".png" or not pathlib.Path(path).parent.is_dir():
        raise click.ClickException(f"--plot: must be a .png in a folder that exists, got {path}")
    try:
        import matplotlib
    except ImportError:
        raise click.ClickException("--plot: needs matplotlib, which is not installed: pip install matplotlib") from None
    matplotlib.use("Agg")


def read(path: str) -> dict:
    try:
        report = json.loads(pathlib.Path(path).read_text())
    except (OSError, ValueError) as wrong:
        raise click.ClickException(f"--from: cannot be read: {wrong}") from None
    if not isinstance(report, dict) or not {"lines", "limits", "broken", "machine"} <= report.keys():
        raise click.ClickException(f"--from: must be a report of `tritri bench --json`, which {path} is not")
    return report


def select(report: dict, products, modes, sizes) -> dict:
    """A report with the chosen lines only."""
    def wanted(line):
        return ((not products or line["product"] in products) and (not modes or any(mode in modes for mode in line["modes"]))
                and (not sizes or (line["n"], line["batch"]) in sizes))
    return {**report, "lines": [{**line, "modes": [mode for mode in line["modes"] if not modes or mode in modes]} for line in report["lines"] if wanted(line)]}


def measured(products, modes, sizes, packed, device, threads, repeat, peers, grid_name, accuracy, limit) -> dict:
    """A new report."""
    from rich.console import Console
    from rich.progress import Progress

    from ..bench import accuracy as errors
    from ..bench import grid, run
    machine = run.machine_for(device, threads)
    grids = {"report": grid.full, "quick": grid.quick}
    if grid_name:
        cases = grids[grid_name](machine.on_cpu)
    elif accuracy:
        cases = []
    else:
        cases = grid.cases(products or known.SEVEN[:1], [known.MODES[name] for name in modes or ("float32", "float64")],
                           sizes or [(n, 1) for n in ((64, 256, 512, 1024) if machine.on_cpu else (256, 1024, 4096))], packed)
    repeat = repeat or machine.repeat
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        report = run.describe(machine, "tritri " + " ".join(sys.argv[1:]), repeat)
        task = progress.add_task("limits", total=len(cases) or 1)

        def step(case):
            progress.update(task, description=case.title, advance=0 if case is cases[0] else 1)

        report.update(run.go_through(machine, cases, repeat, peers, limit, step))
        if accuracy or grid_name:
            modes = [known.MODES[name] for name in modes or (known.MODES if accuracy or grid_name == "report" else ("float32", "float64"))]
            orders = [n for n, _ in sizes or ()] or ([64, 256, 1024] if machine.on_cpu else [256, 1024, 4096])
            report["accuracy"] = errors.measure(machine, modes, orders, lambda title: progress.update(task, description=f"accuracy: {title}"))
    machine.close()
    return report


def show(report: dict, explain: bool) -> None:
    from rich.console import Console
    from rich.table import Table

    from ..bench.report import Lines, fraction, is_ours, tiny
    console, lines = Console(), Lines(report)
    if not console.is_terminal:
        console.width = max(console.width, 110)
    if report["lines"]:
        console.print(f"{report['machine']['device']}, medians of {report['repeat']}")
    for product, mode, batched in dict.fromkeys((key[0], key[1], key[3] > 1) for key in lines.cells):
        table = Table(title=f"{product}, {mode}", title_justify="left")
        for heading in ("n", "who", "time", "spread", "useful rate", "of limit", "speed-up", "error"):
            table.add_column(heading, justify="left" if heading == "who" else "right", no_wrap=True)
        for (n, batch), cell in ((key[2:], cell) for key, cell in lines.cells.items() if key[:2] == (product, mode) and (key[3] > 1) == batched):
            ours = lines.ours(product, mode, n, batch)
            for line in cell:
                part = fraction(report, line, mode)
                table.add_row((f"{n} x {batch}" if batch > 1 else str(n)) if line is cell[0] else "", line["peer"], units.duration(line["ms"] * 1e-3), f"{100 * line['spread']:.0f} %",
                              units.rate(line["useful_tflops"] * 1e12, 1), "" if part is None else f"{100 * part:.0f} %",
                              "" if is_ours(line) or ours is None else f"{line['ms'] / ours['ms']:.2f} x", tiny(line["error"]), end_section=line is cell[-1])
        console.print(table)
    if report.get("accuracy"):
        table = Table(title="largest and rms |error| / (|A| |B|)")
        for heading in ("mode", "input", "n", "rms", "largest", "bound", "verdict"):
            table.add_column(heading, justify="left" if heading in ("mode", "input", "verdict") else "right")
        for line in report["accuracy"]:
            numbers = [tiny(line[key]) if key in line else "" for key in ("rms", "max", "bound")]
            table.add_row(line["mode"], line["input"], str(line["n"]), *numbers, {True: "right", False: "WRONG", None: line.get("why", "")}[line["right"]])
        console.print(table)
    for line in report["lines"] if explain else ():
        if "detail" in line:
            click.echo(f"{line['product']}, {', '.join(line['modes'])}, n = {line['n']}, {line['peer']}: {line['detail']}")
    for absent in report["absent"]:
        click.echo(f"absent: {absent['peer']}: {absent['why']} ({len(absent['cases'])} cases, the first {absent['cases'][0]})")
    if report["left_out"]:
        click.echo(f"left out when the time was up: {'; '.join(report['left_out'])}")


@click.command(epilog="\b\nExample:\n  tritri bench --products lower*lower,lower*full --modes float32 --sizes 512,1024 --plot bench.png\n"
                      "  tritri bench --report --json > report.json\n  tritri bench --from report.json --markdown --plot report.png")
@click.option("--products", type=Words(_product), help=f"Which products, such as {','.join(known.SEVEN[:4])}; T transposes, =FILL cuts the result.  [default: lower*lower]")
@click.option("--modes", type=Words(_mode), help=f"Types and modes, of {','.join(known.MODES)}.  [default: float32,float64]")
@click.option("--sizes", type=Sizes(), help="Orders n of the matrices, up to 65536; 64x16384 is a batch.")
@click.option("--packed", is_flag=True, help="Also with every triangle packed, where none is unit.")
@click.option("--report", "grid_name", flag_value="report", help="The grid of the committed report, accuracy included.")
@click.option("--quick", "grid_name", flag_value="quick", help="A small one.")
@click.option("--accuracy", is_flag=True, help="Errors beside the bound that they obey, instead of times.")
@click.option("--peers", type=Words(str.lower), help="Only those with one of these words in their names, such as gemm,triton; none: ours alone.")
@options.apply(options.DEVICE_OPTIONS)
@click.option("--repeat", type=click.IntRange(1, 1000), help="Samples of each.  [default: 20 on a GPU with PyTorch, else 7]")
@click.option("--limit", type=click.FloatRange(min=0), help="Begin no further case after so many seconds.")
@click.option("--from", "source", help="Show this saved report instead of measuring.")
@click.option("--plot", help="Draw time and fraction of the limit over n into this PNG file.")
@click.option("--markdown", is_flag=True, help="Tables for a README on stdout.")
@options.EXPLAIN
@options.JSON
def bench(products, modes, sizes, packed, grid_name, accuracy, peers, device, threads, repeat, limit, source, plot, markdown, explain, as_json):
    """Times triangular products of random matrices beside NumPy and OpenBLAS, or on a GPU beside cuBLAS, PyTorch and Triton, with the error of each.

    Exit code 1 if a result of this library is not within its bound.
    """
    from ..bench.report import markdown as tables
    from ..bench.report import wrong
    from ..bench.run import dumps
    if plot:
        check_plot(plot)
    if grid_name and (products or sizes or modes or packed):
        raise click.ClickException(f"--{grid_name}: is a grid of its own, got --products, --modes, --sizes or --packed as well")
    report = select(read(source), products, modes, sizes) if source else measured(products, modes, sizes, packed, device, threads, repeat, peers, grid_name, accuracy, limit)
    if plot:
        from ..bench.plot import draw
        if all(line["batch"] > 1 for line in report["lines"]):
            raise click.ClickException("--plot: needs times of single matrices, got a report without")
        draw(report, plot, modes)
    if as_json:
        click.echo(dumps(report))
    elif markdown:
        click.echo(tables(report), nl=False)
    elif not (source and plot):
        show(report, explain)
    found = wrong(report)
    for line in found:
        click.echo(f"tritri: wrong: {line}", err=True)
    return 1 if found else 0
