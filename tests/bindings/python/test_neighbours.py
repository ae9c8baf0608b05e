"""Sharing the process with NumPy's own BLAS: neither changes what the other computes, whichever is loaded first."""
import ast
import subprocess
import sys

import pytest

SCRIPT = """
import hashlib, sys
import numpy as np

def product(library, n):
    rng = np.random.default_rng(n)
    a, b = np.tril(rng.standard_normal((n, n))), np.tril(rng.standard_normal((n, n)))
    if library == "numpy":
        return hashlib.sha256((a @ b).tobytes()).hexdigest()
    import tritri
    return hashlib.sha256(tritri.multiply(a, b).tobytes()).hexdigest()

print([product(library, n) for library in sys.argv[1:] for n in (34, 500)])
"""


def digests(*libraries):
    done = subprocess.run([sys.executable, "-c", SCRIPT, *libraries], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return ast.literal_eval(done.stdout)


@pytest.mark.parametrize("first, second", [("numpy", "tritri"), ("tritri", "numpy")])
def test_numpy_and_tritri_keep_their_bits_beside_each_other(first, second):
    assert digests(first, second, first) == digests(first) + digests(second) + digests(first)
