"""A report as a picture: time and fraction of the limit over n, one line for each contender, one column for each mode."""
from __future__ import annotations

from matplotlib import pyplot

from .contenders import OURS
from .report import Lines, fraction

# One look for each contender, in every picture.
STYLES = {OURS: ("#c0392b", "o", 2.2), "cuBLAS GEMM": ("#1f4e79", "s", 1.2), "cuBLAS TRMM": ("#2e86c1", "v", 1.2), "cuBLAS blocked": ("#17a589", "D", 1.2),
          "PyTorch": ("#ca6f1e", "x", 1.2), "Triton": ("#7d3c98", "^", 1.2), "NumPy": ("#ca6f1e", "x", 1.2), "OpenBLAS GEMM": ("#1f4e79", "s", 1.2),
          "OpenBLAS TRMM": ("#2e86c1", "v", 1.2)}
COLUMNS = 4


def choose(lines: Lines, product: str) -> list[str]:
    """The modes that a picture without a wish shows: those with most to tell, as many as fit."""
    found = lines.values(1, product=product, batch=1)
    liked = [mode for mode in ("float32", "float32-tf32", "float64", "bfloat16") if mode in found]
    return (liked + [mode for mode in found if mode not in liked])[:COLUMNS]


def draw(report: dict, path: str, modes=None) -> None:
    lines = Lines(report)
    product = lines.values(0, batch=1)[0]
    modes = modes or choose(lines, product)
    figure, axes = pyplot.subplots(2, len(modes), figsize=(3.6 * len(modes) + 0.6, 6), layout="constrained", squeeze=False, sharex="col")
    seen = {}
    for (above, below), mode in zip(zip(*axes), modes):
        sizes = sorted(lines.values(2, product=product, mode=mode, batch=1))
        by_peer = {}
        for n in sizes:
            for line in lines.cells[product, mode, n, 1]:
                by_peer.setdefault(line["peer"], []).append(line)
        for peer, found in by_peer.items():
            color, marker, width = STYLES.get(peer, ("#7f8c8d", ".", 1.0))
            look = {"color": color, "marker": marker, "linewidth": width, "markersize": 4, "zorder": 3 if peer == OURS else 2}
            seen[peer], = above.loglog([line["n"] for line in found], [line["ms"] for line in found], **look)
            parts = [(line["n"], fraction(report, line, mode)) for line in found]
            below.semilogx(*zip(*[(n, 100 * part) for n, part in parts if part is not None] or [((), ())]), **look)
        above.set_title(mode)
        below.set_ylim(0, 105)
        below.set_xlabel("n")
        below.set_xticks(sizes, labels=[str(n) for n in sizes], rotation=60, fontsize=8)
        for axis in (above, below):
            axis.minorticks_off()
            axis.grid(alpha=0.3)
    axes[0][0].set_ylabel("ms")
    axes[1][0].set_ylabel("% of the limit")
    figure.suptitle(f"{product} on {report['machine']['device']}")
    figure.legend(seen.values(), seen.keys(), loc="outside lower center", ncols=min(len(seen), 7), frameon=False, fontsize=9)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
