"""The package as a whole: importing, missing libraries, types, documentation that runs, examples."""
import doctest
import importlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest

import tritri

ROOT = pathlib.Path(__file__).resolve().parents[3]
PACKAGE = pathlib.Path(tritri.__file__).parent


def python(code, **environment):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env={**os.environ, **environment})


def test_import_is_quick_and_starts_nothing():
    code = """
import sys, time
import numpy
start = time.perf_counter()
import tritri
took = time.perf_counter() - start
heavy = [name for name in ("torch", "jax", "cupy", "click", "rich", "scipy", "ml_dtypes", "matplotlib", "numpy.ma") if name in sys.modules]
maps = open("/proc/self/maps").read()
print(took, heavy, "libcuda.so" in maps)
"""
    runs = [python(code).stdout.strip().split(" ", 1) for _ in range(5)]
    assert min(float(took) for took, _ in runs) < 0.060
    assert {rest for _, rest in runs} == {"[] False"}


def copy_of_the_package(folder):
    shutil.copytree(PACKAGE, folder / "python" / "tritri", ignore=shutil.ignore_patterns("__pycache__", "libtritri*"))
    return folder / "python"


@pytest.mark.skipif(any(PACKAGE.glob("libtritri*")), reason="the library lies beside the extension module here")
def test_B8_a_missing_library_is_named_with_the_places_searched(tmp_path):
    place = copy_of_the_package(tmp_path)
    done = python("import tritri", PYTHONPATH=str(place), LD_LIBRARY_PATH="/nowhere/special")
    last = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 1 and last.startswith("ImportError: tritri: libtritri.so.0: must be found")
    for searched in (place / "tritri", tmp_path / "lib", "/nowhere/special", "system's library folders"):
        assert str(searched) in last


def test_B8_a_library_for_another_platform(tmp_path):
    place = copy_of_the_package(tmp_path)
    (place / "tritri" / "libtritri.so.0").write_bytes(b"\x7fELF" + bytes(2000))
    last = python("import tritri", PYTHONPATH=str(place), LD_LIBRARY_PATH="").stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: tritri: libtritri.so.0: must be found and be built for this platform") and str(place / "tritri") in last


def test_B8_a_missing_extension_module(tmp_path):
    place = copy_of_the_package(tmp_path)
    (place / "tritri" / "_tritri.abi3.so").unlink()
    last = python("import tritri", PYTHONPATH=str(place), LD_LIBRARY_PATH="").stderr.strip().splitlines()[-1]
    assert "tritri: _tritri.abi3.so: must be in the package's folder" in last and str(place / "tritri") in last


@pytest.mark.parametrize("name", ["tritri", "tritri.product", "tritri.context", "tritri.matrix", "tritri.helpers", "tritri.torch"])
def test_doctests(name):
    if name == "tritri.torch":
        pytest.importorskip("torch")
    module = importlib.import_module(name)
    result = doctest.testmod(module)
    assert result.failed == 0
    assert result.attempted > 0 or name == "tritri.matrix"


def test_every_public_thing_has_a_docstring_with_its_parameters():
    for name in tritri.__all__:
        thing = getattr(tritri, name)
        assert thing.__doc__, name
    for function in (tritri.multiply, tritri.lauum, tritri.lu_reconstruct, tritri.cholesky_reconstruct, tritri.pack, tritri.unpack):
        assert "Parameters\n" in function.__doc__ and "Returns\n" in function.__doc__ and "shape" in function.__doc__ and ">>>" in function.__doc__
        assert "return" in function.__annotations__ or function in (tritri.multiply, tritri.lauum, tritri.lu_reconstruct, tritri.cholesky_reconstruct)
    assert (PACKAGE / "py.typed").is_file()


def test_the_signature_of_multiply_is_the_contract():
    import inspect
    parameters = inspect.signature(tritri.multiply).parameters
    assert {name: p.default for name, p in parameters.items() if p.kind is p.KEYWORD_ONLY} == {
        "a_fill": "lower", "b_fill": "lower", "a_op": "N", "b_op": "N", "a_diag": "nonunit", "b_diag": "nonunit", "alpha": 1, "beta": 0, "out": None,
        "out_fill": "full", "compute": "default", "context": None}
    assert list(parameters)[:2] == ["a", "b"]


def blocks(language):
    text = (ROOT / "bindings" / "python" / "README.md").read_text()
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


@pytest.mark.parametrize("index", range(len(blocks("python"))))
def test_the_page_for_newcomers_runs(index, tmp_path, monkeypatch):
    code = blocks("python")[index]
    if "torch" in code:
        pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    exec(compile(code, f"README.md, Python block {index}", "exec"), {"__name__": "__main__"})


def test_the_page_for_newcomers_command_line(tmp_path):
    pytest.importorskip("click")
    pytest.importorskip("rich")
    np.save(tmp_path / "L.npy", np.tril(np.arange(1.0, 10).reshape(3, 3)))
    command = f"{sys.executable} -m tritri "
    scripts = [block for block in blocks("console") if "tritri " in block]
    assert scripts
    for block in scripts:
        for line in block.splitlines():
            if line.startswith("$ tritri "):
                subprocess.run(command + line[len("$ tritri "):], shell=True, check=True, cwd=tmp_path, stdout=subprocess.DEVNULL, timeout=300)


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "bindings" / "python" / "examples").glob("*.py")))
def test_examples(name):
    for module in {"digits_rbf.py": ["sklearn"], "torch_tril.py": ["torch"]}.get(name, ["scipy"]):
        pytest.importorskip(module)
    done = subprocess.run([sys.executable, ROOT / "bindings" / "python" / "examples" / name], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "right" in done.stdout and "WRONG" not in done.stdout


def test_examples_fail_when_the_answer_is_wrong(tmp_path):
    pytest.importorskip("scipy")
    spoil = "import tritri, runpy, sys; right = tritri.lu_reconstruct; tritri.lu_reconstruct = lambda *a: right(*a) * 1.01; "
    done = python(spoil + f"sys.exit(runpy.run_path({str(ROOT / 'bindings/python/examples/lu_rebuild.py')!r})['main']())")
    assert done.returncode == 1 and "WRONG" in done.stdout


def test_calls_are_cheap(cpu):
    a = np.eye(8)
    best = min(_timed(lambda: tritri.multiply(a, a, context=cpu)) for _ in range(200))
    assert best < 200e-6


def _timed(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
