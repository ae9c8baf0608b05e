"""What a report says: fractions of the limit, speed-ups, and tables of them."""
from __future__ import annotations

from .contenders import OURS, PACKED
from .products import BOUND_WORDS, MODES, parse


def limit_seconds(report: dict, product: str, mode: str, n: int, batch: int) -> float | None:
    """The least time that this report's machine can need: the product's operations at the rate of a large GEMM, its elements at the rate of a copy."""
    limits = report["limits"]
    rate = limits.get("flops_per_second", {}).get(mode)
    if rate is None:
        return None
    what, dtype = parse(product), MODES[mode].dtype
    return batch * max(what.useful_flops(n, dtype) / rate, what.least_bytes(n, dtype) / limits["bytes_per_second"])


def fraction(report: dict, line: dict, mode: str) -> float | None:
    """Of the limit that a line reaches."""
    limit = limit_seconds(report, line["product"], mode, line["n"], line["batch"])
    return None if limit is None else limit / (line["ms"] * 1e-3)


def is_ours(line: dict) -> bool:
    return line["peer"].startswith(OURS)


# Each peer in one letter, for tables.
LETTERS = {"cuBLAS GEMM": "G", "cuBLAS batched GEMM": "G", "cuBLAS TRMM": "M", "cuBLAS blocked": "B", "PyTorch": "P", "Triton": "T", "NumPy": "N", "OpenBLAS GEMM": "G", "OpenBLAS TRMM": "M"}


class Lines:
    """A report's lines by product, mode and size."""

    def __init__(self, report: dict):
        self.report = report
        self.cells = {}  # (product, mode, n, batch): lines, ours first
        for line in report["lines"]:
            for mode in line["modes"]:
                self.cells.setdefault((line["product"], mode, line["n"], line["batch"]), []).append(line)

    def line(self, who: str, *key) -> dict | None:
        return next((line for line in self.cells.get(key, ()) if line["peer"] == who), None)

    def ours(self, *key) -> dict | None:
        return self.line(OURS, *key)

    def best_peer(self, *key) -> dict | None:
        return min((line for line in self.cells.get(key, ()) if not is_ours(line)), key=lambda line: line["ms"], default=None)

    def values(self, position: int, **fixed) -> list:
        """What a part of the keys takes on, in the report's order."""
        names = ("product", "mode", "n", "batch")
        return list(dict.fromkeys(key[position] for key in self.cells if all(key[names.index(name)] == value for name, value in fixed.items())))

    def cell(self, product: str, mode: str, n: int, batch: int) -> str:
        """Such as ".285 (3.6x B, 62 %)": our milliseconds, how many times those the fastest peer takes, its letter, and the fraction of the limit."""
        ours, peer = self.ours(product, mode, n, batch), self.best_peer(product, mode, n, batch)
        if ours is None:
            return ""
        part, beside = fraction(self.report, ours, mode), []
        if peer:
            beside.append(f"{short(peer['ms'] / ours['ms'], 2)}x {LETTERS[peer['peer']]}")
        if part is not None:
            beside.append(f"{100 * part:.0f} %")
        return short(ours["ms"]) + (f" ({', '.join(beside)})" if beside else "")


def short(number: float, digits: int = 3) -> str:
    """So many digits, no zero before the point."""
    text = f"{number:.0f}" if number >= 10 ** (digits - 1) else f"{float(f'{number:.{digits}g}'):.6f}".rstrip("0").rstrip(".")
    return text[1:] if text.startswith("0.") else text


def tiny(number: float | None) -> str:
    """Such as 1.2e-07; what JSON cannot hold was no number."""
    return "NaN" if number is None else f"{number:.1e}"


def table(headings, rows) -> str:
    """In Markdown."""
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in (headings, ["---"] * len(headings), *rows))


def markdown(report: dict) -> str:
    """The tables of a report, for a README."""
    lines, machine = Lines(report), report["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items() if version)
    peers = list(dict.fromkeys(line["peer"] for line in report["lines"] if not is_ours(line)))
    parts = [f"{machine['device']}, {versions}; commit {report.get('commit', '')[:7] or 'not recorded'}, {report['date'][:10]}, `{report['command']}`. Medians of {report['repeat']}: "
             f"{report['method']}. In brackets: the time of the fastest peer in the same run ({', '.join(f'{LETTERS[peer]}: {peer}' for peer in peers)}), as a "
             "multiple of ours (below 1: it is faster), and the fraction of the limit that ours reaches: the useful operations at the rate of a large GEMM of the type in the same run (float32: a third of TF32's), or every element moved once at "
             "the rate of a copy, whichever takes longer."]
    if report["left_out"]:
        parts[0] += f" Left out when the time was up: {len(report['left_out'])} of the grid's cases."
    first = next(iter(lines.values(0, batch=1)), None)
    if first:
        sizes = sorted(lines.values(2, product=first, batch=1))
        modes = lines.values(1, product=first, batch=1)
        parts.append(f"`{first}`, n x n, C full with its zeros; milliseconds:")
        parts.append(table(["", *(f"n = {n}" for n in sizes)], [[mode, *(lines.cell(first, mode, n, 1) for n in sizes)] for mode in modes]))
    others = [product for product in lines.values(0, batch=1) if product != first]
    if others:
        modes = lines.values(1, product=others[0], batch=1)
        for n in sorted(lines.values(2, product=others[0], batch=1)):
            parts.append(f"The other products, n = {n}; milliseconds:")
            parts.append(table(["", *modes], [[f"`{product}`", *(lines.cell(product, mode, n, 1) for mode in modes)] for product in others]))
    parts += _packed_tables(lines) + _batch_tables(lines)
    if report.get("accuracy"):
        parts.append(accuracy_markdown(report["accuracy"]))
    return "\n\n".join(parts) + "\n"


def _packed_tables(lines: Lines) -> list[str]:
    found = {key: line for key in lines.cells for line in [lines.line(PACKED, *key)] if line}
    if not found:
        return []
    sizes, kinds = sorted({key[2] for key in found}), list(dict.fromkeys(key[:2] for key in found))
    rows = []
    for product, mode in kinds:
        lines_of = [(found.get((product, mode, n, 1)), lines.ours(product, mode, n, 1)) for n in sizes]
        rows.append([f"`{product}`, {mode}", *(f"{short(packed['ms'])} ({short(packed['ms'] / ours['ms'], 3)}x)" if packed and ours else "" for packed, ours in lines_of)])
    return ["Every triangle packed, the result's too; milliseconds, and as a multiple of the same product's time from and to whole rows:",
            table(["", *(f"n = {n}" for n in sizes)], rows)]


def _batch_tables(lines: Lines) -> list[str]:
    parts = []
    for product, mode in dict.fromkeys(key[:2] for key in lines.cells if key[3] > 1):
        shapes = [key[2:] for key in lines.cells if key[:2] == (product, mode) and key[3] > 1]
        sizes, batches = sorted({n for n, _ in shapes}), sorted({batch for _, batch in shapes})
        parts += [f"Batches of `{product}`, {mode}, C full; milliseconds:",
                  table(["", *(f"{batch} of them" for batch in batches)], [[f"n = {n}", *(lines.cell(product, mode, n, batch) for batch in batches)] for n in sizes])]
    return parts


def accuracy_markdown(accuracy: list[dict]) -> str:
    sizes = sorted({line["n"] for line in accuracy if "rms" in line})
    kinds = list(dict.fromkeys(line["input"] for line in accuracy if "rms" in line))
    edges = list(dict.fromkeys(line["input"] for line in accuracy if "rms" not in line))
    found = {(line["mode"], line["input"], line["n"] if "rms" in line else None): line for line in accuracy}
    rows = []
    for mode in dict.fromkeys(line["mode"] for line in accuracy):
        row = [mode]
        for kind in kinds:
            line = found[mode, kind, sizes[-1]]
            row.append(f"{tiny(line['rms'])} / {tiny(line['max'])}")
        row.append(f"{BOUND_WORDS[mode]} = {tiny(found[mode, kinds[0], sizes[-1]]['bound'])}")
        row += [_verdict(found[mode, edge, None]) for edge in edges]
        rows.append(row)
    every = all(line["right"] is not False for line in accuracy)
    lead = (f"Errors of `lower*lower`, rms / largest |error| over (|A| |B|) of an element against more than float64, k = n = {sizes[-1]}, and the bound that each element is held to "
            f"(u: half the distance from 1 to the next number, u32 float32's); {'all' if every else 'NOT ALL'} {len(accuracy)} measurements, n = "
            f"{', '.join(map(str, sizes))}, are within it. \"Graded\" inputs differ by powers of two, up to 2^20 either way in float32. Then inputs at the ends of the range:")
    return lead + "\n\n" + table(["", *kinds, "bound", *edges], rows)


def _verdict(line: dict) -> str:
    return {True: "right", False: "WRONG", None: "rounded" if "rounds" in line.get("why", "") else "not defined"}[line["right"]]


def wrong(report: dict) -> list[str]:
    """Cases that ended in an error, and our lines that are not within their bound."""
    return ([f"{broken['case']}: {broken['why']}" for broken in report["broken"]]
            + [f"{line['product']}, {line['modes'][0]}, n = {line['n']}" for line in report["lines"] if line.get("right") is False]
            + [f"{line['mode']}, {line['input']}, n = {line['n']}" for line in report.get("accuracy", ()) if line["right"] is False])
