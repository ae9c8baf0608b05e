"""The command line: what it prints, what it writes, how it exits."""
import json
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
from oracle import FILLS, OPS, assert_close, product, random

pytest.importorskip("click")
pytest.importorskip("rich")


@pytest.fixture
def tritri(tmp_path):
    def run(*words, code=0, **environment):
        done = subprocess.run([sys.executable, "-m", "tritri", *map(str, words)], capture_output=True, text=True, cwd=tmp_path, timeout=120,
                              env={**os.environ, "COLUMNS": "120", **environment})
        assert done.returncode == code, done.stdout + done.stderr
        if code == 2 and words:
            assert done.stdout == "" and len(done.stderr.strip().splitlines()) == 1 and done.stderr.startswith("tritri: "), done.stderr
        return done
    return run


@pytest.fixture
def files(tmp_path, rng):
    a, b = random(rng, (6, 6), "float64"), random(rng, (6, 6), "float64")
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", b)
    return a, b


def test_info(tritri):
    text = tritri("info").stdout
    assert re.search(r"^tritri \d+\.\d+\.\d+$", text, re.M) and re.search(r"cpu .* GiB free of .* GiB", text)
    report = json.loads(tritri("info", "--json").stdout)
    assert report["devices"][0]["kind"] == "cpu" and report["devices"][0]["memory_total"] > 0


@pytest.mark.parametrize("command", ["info", "multiply", "verify", "bench"])
def test_help_has_an_example(tritri, command):
    text = tritri(command, "--help").stdout
    assert re.search(rf"Example:\n\s+tritri {command} ", text)


def test_help_and_version(tritri):
    assert "Example:" in tritri("--help").stdout
    assert "Usage:" in tritri(code=2).stdout
    assert re.search(r"version \d+\.\d+\.\d+", tritri("--version").stdout)


@pytest.mark.parametrize("a_fill", FILLS)
@pytest.mark.parametrize("out_fill", FILLS)
def test_multiply_fills(tritri, files, tmp_path, a_fill, out_fill):
    tritri("multiply", "a.npy", "b.npy", "-o", "c.npy", "--a-fill", a_fill, "--out-fill", out_fill)
    assert_close(np.load(tmp_path / "c.npy"), product(*files, a_fill=a_fill, out_fill=out_fill))


@pytest.mark.parametrize("op", OPS)
def test_multiply_ops_diags_and_numbers(tritri, tmp_path, rng, op):
    a, b, c = (random(rng, (4, 4), "complex128") for _ in range(3))
    for name, x in zip("abc", (a, b, c)):
        np.save(tmp_path / f"{name}.npy", x)
    tritri("multiply", "a.npy", "b.npy", "-o", "d.npy", "--a-op", op, "--b-diag", "unit", "--alpha", "1+2j", "--beta", "-0.5i", "--c", "c.npy")
    assert_close(np.load(tmp_path / "d.npy"), product(a, b, a_op=op, b_diag="unit", alpha=1 + 2j, beta=-0.5j, out=c))


def test_multiply_json_and_explain(tritri, files):
    report = json.loads(tritri("multiply", "a.npy", "b.npy", "-o", "c.npy", "--json", "--explain", "--device", "cpu").stdout)
    assert report["shape"] == [6, 6] and report["dtype"] == "float64" and report["device"] == "cpu" and report["seconds"] > 0
    assert report["plan"].startswith("device=cpu")
    text = tritri("multiply", "a.npy", "b.npy", "-o", "c.npy", "--explain").stdout
    assert text.startswith("c.npy: 6 x 6 float64 (288 B), computed on ") and "flops=" in text


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_matrix_market(tritri, tmp_path, rng, dtype):
    io = pytest.importorskip("scipy.io")
    a = np.tril(random(rng, (5, 5), dtype))
    io.mmwrite(tmp_path / "a.mtx", a)
    tritri("multiply", "a.mtx", "a.mtx", "-o", "c.mtx")
    assert_close(np.asarray(io.mmread(tmp_path / "c.mtx")), product(a, a), k=50)


def test_sparse_and_integer_matrix_market(tritri, tmp_path):
    pytest.importorskip("scipy.io")
    (tmp_path / "a.mtx").write_text("%%MatrixMarket matrix coordinate integer general\n2 2 3\n1 1 4\n2 1 5\n2 2 6\n")
    tritri("multiply", "a.mtx", "a.mtx", "-o", "c.npy")
    assert np.array_equal(np.load(tmp_path / "c.npy"), [[16, 0], [50, 36]])


def test_dtype_converts(tritri, tmp_path):
    np.save(tmp_path / "n.npy", np.array([[4, 0], [5, 6]]))
    tritri("multiply", "n.npy", "n.npy", "-o", "c.npy", "--dtype", "float32")
    assert np.load(tmp_path / "c.npy").dtype == np.float32


def test_verify_right_and_wrong(tritri, files, tmp_path):
    tritri("multiply", "a.npy", "b.npy", "-o", "c.npy")
    assert tritri("verify", "a.npy", "b.npy", "c.npy").stdout.startswith("right: relative residual")
    report = json.loads(tritri("verify", "a.npy", "b.npy", "c.npy", "--json").stdout)
    assert report["passed"] is True and report["residual"] <= report["tolerance"]
    c = np.load(tmp_path / "c.npy")
    c[5, 0] += 1
    np.save(tmp_path / "c.npy", c)
    assert tritri("verify", "a.npy", "b.npy", "c.npy", code=1).stdout.startswith("WRONG")
    assert json.loads(tritri("verify", "a.npy", "b.npy", "c.npy", "--json", code=1).stdout)["passed"] is False
    assert tritri("verify", "a.npy", "b.npy", "c.npy", "--tolerance", 100).stdout.startswith("right")
    c[5, 0] = np.nan
    np.save(tmp_path / "c.npy", c)
    assert json.loads(tritri("verify", "a.npy", "b.npy", "c.npy", "--json", code=1).stdout)["residual"] == "inf"
    tritri("verify", "a.npy", "b.npy", "c.npy", "--c-fill", "upper")


def test_bench(tritri):
    report = json.loads(tritri("bench", "--sizes", "16,8x4", "--repeat", 2, "--json", "--device", "cpu", "--products", "upper*upper,lowerT*lower=lower", "--modes", "float64").stdout)
    assert {(line["product"], line["n"], line["batch"]) for line in report["lines"]} == {(name, *size) for name in ("upper*upper", "lowerT*lower=lower") for size in ((16, 1), (8, 4))}
    for line in report["lines"]:
        assert line["ms"] > 0 and line["error"] < 1e-14 and line["samples"] == 2
        assert line["peer"] != "tritri" or line["right"] is True and line["detail"].startswith("device=cpu")
    assert report["command"].startswith("tritri bench --sizes") and report["machine"]["device"] and report["repeat"] == 2
    assert {"peer": "OpenBLAS GEMM", "why": "OpenBLAS has no batches"}.items() <= next(absent for absent in report["absent"] if "GEMM" in absent["peer"]).items()


def test_bench_shows_tables_again(tritri, tmp_path):
    table = tritri("bench", "--sizes", "32", "--repeat", 1, "--explain", "--modes", "complex64", "--device", "cpu").stdout
    assert "speed-up" in table and "lower*lower, complex64, n = 32, tritri: device=cpu" in table
    (tmp_path / "saved.json").write_text(tritri("bench", "--sizes", "8,16", "--repeat", 1, "--device", "cpu", "--json").stdout)
    shown = tritri("bench", "--from", "saved.json", "--modes", "float32").stdout
    assert "lower*lower, float32" in shown and "float64" not in shown
    markdown = tritri("bench", "--from", "saved.json", "--markdown").stdout
    assert "|  | n = 8 | n = 16 |" in markdown and "| float64 | " in markdown


def test_bench_peers(tritri):
    lines = json.loads(tritri("bench", "--sizes", "8", "--repeat", 1, "--json", "--device", "cpu", "--peers", "none").stdout)["lines"]
    assert {line["peer"] for line in lines} == {"tritri"}


def test_bench_accuracy(tritri):
    report = json.loads(tritri("bench", "--accuracy", "--sizes", "40", "--modes", "float32,float64", "--json", "--device", "cpu").stdout)
    assert report["lines"] == [] and len(report["accuracy"]) == 14 and all(line["right"] for line in report["accuracy"])
    assert "verdict" in tritri("bench", "--accuracy", "--sizes", "40", "--modes", "float64", "--device", "cpu").stdout


def test_bench_on_a_gpu(tritri):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    report = json.loads(tritri("bench", "--sizes", "64,256", "--modes", "float32,float32-tf32,float64,bfloat16,complex64", "--products", "lower*lower,lowerT*lower=lower", "--repeat", 2,
                               "--json", "--device", "cuda").stdout)
    assert report["broken"] == [] and {"cuBLAS GEMM", "cuBLAS TRMM", "cuBLAS blocked", "PyTorch", "tritri"} <= {line["peer"] for line in report["lines"]}
    assert not any(absent["why"].startswith("failed") for absent in report["absent"])
    for line in report["lines"]:
        assert line["error"] < {"float32": 1e-6, "float64": 1e-14, "complex64": 1e-6, "bfloat16": 1e-2}[line["dtype"]] or line["modes"] == ["float32-tf32"], line


def test_bench_of_a_wrong_library_fails(tritri, tmp_path):
    report = json.loads(tritri("bench", "--sizes", "8", "--repeat", 1, "--device", "cpu", "--json").stdout)
    report["lines"][0]["right"] = False
    (tmp_path / "wrong.json").write_text(json.dumps(report))
    assert "tritri: wrong: lower*lower, float32, n = 8" in tritri("bench", "--from", "wrong.json", code=1).stderr


def test_bench_plot(tritri, tmp_path):
    pytest.importorskip("matplotlib")
    (tmp_path / "saved.json").write_text(tritri("bench", "--sizes", "8,16,4x3", "--repeat", 1, "--plot", "times.png", "--json", "--device", "cpu").stdout)
    assert tritri("bench", "--from", "saved.json", "--plot", "again.png").stdout == ""
    for name in ("times.png", "again.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
    for size in ("9", "4x3"):
        assert "--plot: needs times of single matrices" in tritri("bench", "--from", "saved.json", "--sizes", size, "--plot", "none.png", code=2).stderr


def test_multiply_and_verify_batches(tritri, tmp_path):
    random = np.random.default_rng(1)
    a, b = random.standard_normal((5, 6, 6)), random.standard_normal((6, 6))
    np.save(tmp_path / "A.npy", a)
    np.save(tmp_path / "B.npy", b)
    assert "5 x 6 x 6 float64" in tritri("multiply", "A.npy", "B.npy", "--b-fill", "upper", "--a-op", "T", "-o", "C.npy").stdout
    c = np.load(tmp_path / "C.npy")
    assert np.allclose(c, np.tril(a).swapaxes(1, 2) @ np.triu(b))
    tritri("verify", "A.npy", "B.npy", "C.npy", "--b-fill", "upper", "--a-op", "T")
    c[3, 2, 1] += 1e-3
    np.save(tmp_path / "C.npy", c)
    tritri("verify", "A.npy", "B.npy", "C.npy", "--b-fill", "upper", "--a-op", "T", code=1)
    np.save(tmp_path / "B.npy", np.ones((4, 6, 6)))
    assert "must broadcast with a's (5,), got (4,)" in tritri("multiply", "A.npy", "B.npy", "-o", "D.npy", code=2).stderr
    assert "Matrix Market holds one matrix" in tritri("multiply", "A.npy", "A.npy", "-o", "D.mtx", code=2).stderr


@pytest.mark.parametrize("value, text", [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (2 ** 30, "1.0 GiB"), (150 * 2 ** 40, "150.0 TiB")])
def test_byte_size(value, text):
    from tritri.cli.units import byte_size
    assert byte_size(value) == text


@pytest.mark.parametrize("value, text", [(2e-9, "2 ns"), (1.5e-5, "15 us"), (0.0123, "12.3 ms"), (3.0, "3 s")])
def test_duration(value, text):
    from tritri.cli.units import duration
    assert duration(value) == text


WRONG = [
    (["frobnicate"], "No such command"),
    (["multiply", "a.npy"], "Missing argument"),
    (["multiply", "a.npy", "b.npy"], "--output"),
    (["multiply", "a.npy", "none.npy", "-o", "c.npy"], "none.npy: must be a file, which it is not"),
    (["multiply", "a.npy", "b.txt", "-o", "c.npy"], "b.txt: must end in .npy or .mtx, got '.txt'"),
    (["multiply", "a.npy", "b.npy", "-o", "c.png"], "c.png: must end in .npy or .mtx"),
    (["multiply", "a.npy", "b.npy", "-o", "none/c.npy"], "none/c.npy: must be in a folder that exists"),
    (["multiply", "a.npy", "wide.npy", "-o", "c.npy"], "op(B) must have as many rows"),
    (["multiply", "a.npy", "integers.npy", "-o", "c.npy"], "integers.npy: must hold float32, float64, complex64, complex128 or float16, got int64: pass --dtype float64"),
    (["multiply", "a.npy", "broken.npy", "-o", "c.npy"], "broken.npy: cannot be read"),
    (["multiply", "a.npy", "vector.npy", "-o", "c.npy"], "vector.npy: must hold a matrix, got 1 dimensions"),
    (["multiply", "a.npy", "single.npy", "-o", "c.npy"], "dtype"),
    (["multiply", "a.npy", "b.npy", "-o", "c.npy", "--a-fill", "diagonal"], "--a-fill"),
    (["multiply", "a.npy", "b.npy", "-o", "c.npy", "--alpha", "x"], "must be a number such as 2 or 1+2j, got 'x'"),
    (["multiply", "a.npy", "b.npy", "-o", "c.npy", "--alpha", "1j"], "alpha_im must be 0"),
    (["multiply", "a.npy", "b.npy", "-o", "c.npy", "--beta", "2"], "--beta: needs --c"),
    (["multiply", "a.npy", "b.npy", "-o", "c.npy", "--device", "quantum"], "must be 'auto', 'cpu', 'cuda' or 'cuda:N', got 'quantum'"),
    (["multiply", "a.npy", "b.npy", "-o", "c.npy", "--device", "cuda:4095"], "CUDA device"),
    (["multiply", "a.npy", "b.npy", "-o", "c.npy", "--threads", "-1"], "--threads"),
    (["multiply", "a.npy", "b.npy", "-o", "c.npy", "--algorithm", "cublas", "--device", "cpu"], "CUBLAS"),
    (["verify", "a.npy", "b.npy", "wide.npy"], "must be 6 x 6"),
    (["verify", "a.npy", "b.npy", "c.npy", "--probes", "0"], "--probes"),
    (["bench", "--sizes", "big"], "must be numbers from 1 to 65536"),
    (["bench", "--plot", "none/p.png"], "--plot: must be a .png in a folder that exists, got none/p.png"),
    (["bench", "--plot", "p.txt"], "--plot: must be a .png in a folder that exists, got p.txt"),
    (["bench", "--sizes", "0"], "must be numbers from 1 to 65536"),
    (["bench", "--sizes", "8x"], "must be numbers from 1 to 65536"),
    (["bench", "--products", "lower*lower,middle*lower"], "must be such as lower*lower, unit-lower*upper or lowerT*lower=lower (of lower, upper and full), got 'middle*lower'"),
    (["bench", "--modes", "float8"], "must be of float32, float32-pedantic, float32-tf32"),
    (["bench", "--quick", "--sizes", "8"], "--quick: is a grid of its own"),
    (["bench", "--from", "none.json"], "--from: cannot be read"),
    (["bench", "--from", "broken.npy"], "--from: cannot be read"),
    (["bench", "--from", "other.json"], "--from: must be a report of `tritri bench --json`"),
    (["info", "--nonsense"], "No such option"),
]


@pytest.mark.parametrize("words, sentence", WRONG, ids=lambda x: "_".join(x)[:60] if isinstance(x, list) else None)
def test_wrong_requests_are_one_line_and_exit_code_2(tritri, files, tmp_path, words, sentence):
    np.save(tmp_path / "wide.npy", np.zeros((5, 6)))
    np.save(tmp_path / "integers.npy", np.zeros((6, 6), int))
    np.save(tmp_path / "vector.npy", np.zeros(6))
    np.save(tmp_path / "single.npy", np.zeros((6, 6), np.float32))
    (tmp_path / "broken.npy").write_bytes(b"not an array")
    (tmp_path / "other.json").write_text("{}")
    assert sentence in tritri(*words, code=2).stderr
    assert not (tmp_path / "c.npy").exists()


def without(tmp_path, *names):
    """A folder that hides packages."""
    hidden = pathlib.Path(tmp_path) / "hidden"
    for name in names:
        (hidden / name).mkdir(parents=True)
        (hidden / name / "__init__.py").write_text(f"raise ImportError('no {name}', name={name!r})")
    return os.pathsep.join([str(hidden), os.environ.get("PYTHONPATH", "")])


def test_without_click(tritri, tmp_path):
    assert "pip install click rich" in tritri("info", code=2, PYTHONPATH=without(tmp_path, "click")).stderr


def test_without_scipy(tritri, files, tmp_path):
    path = without(tmp_path, "scipy")
    assert "c.mtx: Matrix Market files need scipy" in tritri("multiply", "a.npy", "b.npy", "-o", "c.mtx", code=2, PYTHONPATH=path).stderr
    tritri("multiply", "a.npy", "b.npy", "-o", "c.npy", PYTHONPATH=path)


def test_without_matplotlib(tritri, tmp_path):
    wrong = tritri("bench", "--sizes", "8", "--plot", "p.png", code=2, PYTHONPATH=without(tmp_path, "matplotlib")).stderr
    assert "--plot: needs matplotlib" in wrong
