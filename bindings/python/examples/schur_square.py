"""Squares a matrix through its complex Schur form A = Z T Z^H: T is upper triangular, so that T T costs n^3/3 multiplications and its zeros
stay exact; then A^2 = Z T^2 Z^H. Functions of matrices are computed this way.
"""
import sys

import numpy as np
import scipy.linalg

import tritri


def main():
    n = 150
    matrix = np.random.default_rng(11).standard_normal((n, n))
    schur, basis = scipy.linalg.schur(matrix, output="complex")
    square = tritri.multiply(schur, schur, a_fill="upper", b_fill="upper")
    half_way = tritri.multiply(basis, square, a_fill="full", b_fill="upper")
    result = half_way @ basis.conj().T

    residual = np.linalg.norm(result - matrix @ matrix) / np.linalg.norm(matrix @ matrix)
    right = residual < 1e-12 and not np.tril(square, -1).any()
    print(f"{n} x {n} matrix squared through its complex Schur form: relative residual {residual:.1e}, exact zeros below the diagonal, "
          f"{'right' if right else 'WRONG'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
