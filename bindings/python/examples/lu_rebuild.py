"""Rebuilds a matrix from its LU factors. LAPACK keeps both in one array: the unit lower factor below the diagonal, the upper one on and above it. The
product reads that array as both operands and never looks at the other factor's elements.
"""
import sys

import numpy as np
import scipy.linalg

import tritri


def main():
    n = 500
    matrix = np.random.default_rng(7).standard_normal((n, n))
    lu, pivots = scipy.linalg.lu_factor(matrix)
    before = lu.copy()
    rebuilt = tritri.lu_reconstruct(lu, pivots)

    residual = np.linalg.norm(rebuilt - matrix) / np.linalg.norm(matrix)
    right = residual < 1e-13 and np.array_equal(lu, before)
    print(f"{n} x {n} matrix rebuilt from the one array that holds both LU factors: relative residual {residual:.1e}, {'right' if right else 'WRONG'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
