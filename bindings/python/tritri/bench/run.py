"""Goes through a grid and writes down what was found."""
from __future__ import annotations

import datetime
import json
import math
import os
import sys
import time

import tritri

from . import reference
from .contenders import OURS, Absent, Case, Contender

SAMPLED_ROWS = 32


def machine_for(device: str, threads: int):
    """The machine behind a device name, as `tritri.Context` takes it."""
    from .host import HostMachine
    with tritri.Context(device, threads=threads) as context:
        where = context.device
    if where != "cpu":
        try:
            import torch
            if torch.cuda.is_available():
                from .cuda import CudaMachine
                return CudaMachine(where)
        except ImportError:
            pass
    return HostMachine(where, threads)


def sampled_rows(n: int, count: int = SAMPLED_ROWS) -> list[int]:
    """Evenly spread, the first and the last among them."""
    return sorted({round(i * (n - 1) / max(1, count - 1)) for i in range(count)})


def errors(machine, case: Case, rows: reference.Rows, sampled, computed) -> tuple[float, float, float]:
    """Of the sampled rows of a result: the relative error in the 2-norm, and largest and root mean square of |error| over |A| |B|; NaN stays NaN."""
    xp, out = machine.xp, case.product.out
    wrong = machine.inside(rows.difference(machine.widen(computed[sampled])), sampled, out)
    scale = machine.inside(rows.scale, sampled, out)
    size = xp.abs(wrong)
    if float(xp.where(scale == 0, size, 0 * scale).sum()) != 0:  # a structural zero that is none
        return float("inf"), float("inf"), float("inf")
    held = scale > 0
    ratio = (size / xp.where(held, scale, 1 + 0 * scale))[held]
    return reference.norm(xp, wrong) / reference.norm(xp, machine.inside(rows.high, sampled, out)), float(ratio.max()), float((ratio ** 2).mean()) ** 0.5


def contenders_of(machine, case: Case, sets, peers) -> tuple[list[Contender], list[tuple[str, str, str]]]:
    """Ours in each mode and every peer that can take part; and who cannot, why and where."""
    present, absent = [], []
    for mode in case.modes:
        present.append(machine.ours(case, mode, sets, "auto"))
        if "algorithm=cublas" in present[-1].detail:
            present.append(machine.ours(case, mode, sets, "kernel"))
        if case.packed:
            present.append(machine.packed(case, mode, sets))
    # float32 and float32-pedantic mean the same to the vendors' libraries, and not to Triton, which has three TF32 products for the first.
    plain = [tuple(mode for mode in case.modes if mode.compute != "tf32"), tuple(mode for mode in case.modes if mode.compute == "tf32")]
    for name, make in machine.peers():
        if peers is not None and not any(word in name.lower() for word in peers):
            continue
        for modes in [(mode,) for mode in case.modes] if name == "Triton" else [modes for modes in plain if modes]:
            try:
                present.append(make(case, sets, modes))
            except Absent as why:
                absent.append((name, str(why), case.title))
            except (RuntimeError, MemoryError) as wrong:  # its library or the memory gave up: that is its own affair
                absent.append((name, f"failed: {type(wrong).__name__}: {str(wrong).splitlines()[0][:200]}", case.title))
    return present, absent


def measure(machine, case: Case, repeat: int, peers=None) -> tuple[list[dict], list[tuple[str, str, str]]]:
    """One line for each contender, and who was absent, why and where."""
    sets = machine.sets(case)
    contenders, absent = contenders_of(machine, case, sets, peers)
    machine.time(contenders, repeat)
    sampled = sampled_rows(case.n)
    rows, lines = machine.rows(case, sets, sampled), []
    flops = case.product.useful_flops(case.n, case.dtype) * case.batch
    for contender in contenders:
        error, worst, _ = errors(machine, case, rows, sampled, machine.result(case, contender))
        times = sorted(contender.samples)
        median = times[len(times) // 2]
        line = {"product": case.product.name, "dtype": case.dtype, "modes": [mode.name for mode in contender.modes], "n": case.n, "batch": case.batch,
                "peer": contender.name, "ms": 1e3 * median, "min_ms": 1e3 * times[0], "max_ms": 1e3 * times[-1],
                "spread": (times[9 * len(times) // 10] - times[len(times) // 10]) / median, "samples": len(times), "useful_tflops": flops / median * 1e-12,
                "error": error, "worst": worst}
        if contender.detail:
            line["detail"] = contender.detail
        if contender.name.startswith(OURS):
            bound = contender.modes[0].bound(case.n)
            line.update(bound=bound, right=worst <= bound)  # not so for NaN
        lines.append({key: number(value) if isinstance(value, float) else value for key, value in line.items()})
    return lines, absent


def number(x: float) -> float | None:
    """Five digits; JSON has no NaN and no Inf."""
    return float(f"{x:.5g}") if math.isfinite(x) else None


def dumps(report: dict) -> str:
    """JSON with a line for each entry of a list."""
    parts = []
    for key, value in report.items():
        text = json.dumps(value)
        if isinstance(value, list) and value:
            text = "[\n" + ",\n".join(json.dumps(entry) for entry in value) + "\n]"
        parts.append(f"{json.dumps(key)}: {text}")
    return "{" + ",\n".join(parts) + "}"


def describe(machine, command: str, repeat: int) -> dict:
    """What a report says before its lines."""
    return {"command": command, "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), **_commit(), "machine": machine.description,
            "where": machine.context.device, "threads": machine.threads, "python": sys.version.split()[0], "repeat": repeat, "method": machine.how,
            "columns": {"ms": "median", "spread": "(90th - 10th percentile) / median", "useful_tflops": "operations inside the fills over the median",
                        "error": "2-norm over sampled rows, relative, against more than float64", "worst": "largest |error| / (|A| |B|) of an element"}}


def _commit() -> dict:
    """Of the environment that runs a benchmark of a checkout; an installed package does not know it."""
    commit = os.environ.get("TRITRI_COMMIT")
    return {"commit": commit} if commit else {}


def go_through(machine, cases, repeat: int, peers=None, limit: float | None = None, step=lambda case: None) -> dict:
    """The lines of a grid. After `limit` seconds no further case is begun, and the report says which were left out."""
    start, lines, took, absent, left_out, broken = time.monotonic(), [], [], {}, [], []
    modes = list(dict.fromkeys(mode for case in cases for mode in case.modes))
    limits = machine.limits(modes)
    for case in cases:
        step(case)
        begun = time.monotonic()
        if limit is not None and begun - start > limit:
            left_out.append(case.title)
            continue
        try:
            found, missing = measure(machine, case, repeat, peers)
        except (RuntimeError, MemoryError) as wrong:
            broken.append({"case": case.title, "why": f"{type(wrong).__name__}: {wrong}"})
            continue
        lines += found
        took.append({"case": case.title, "seconds": round(time.monotonic() - begun, 2)})
        for name, why, where in missing:
            absent.setdefault((name, why), []).append(where)
    missed = [{"peer": name, "why": why, "cases": where} for (name, why), where in absent.items()]
    return {"limits": limits, "lines": lines, "absent": missed, "left_out": left_out, "broken": broken, "cases": took, "seconds": round(time.monotonic() - start, 1)}
