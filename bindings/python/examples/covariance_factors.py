"""10,000 small covariance matrices from their Cholesky factors, in one call, with whole and with packed triangles.

The matrices: how the 16 pixels of a 4 x 4 patch of scikit-learn's handwritten digits vary together, for each of 25 places of the patch and 400 random draws of 180
images (a bootstrap). The products L L^T are needed in their lower triangles only.
"""
import sys
import time

import numpy as np
from sklearn.datasets import load_digits

import tritri


def covariances(draws=400, images=180):
    """(25 * draws, 16, 16); a variance of 1e-3 is added to each pixel, so that pixels that are always white do no harm."""
    digits = load_digits().images
    patches = np.lib.stride_tricks.sliding_window_view(digits, (4, 4), axis=(1, 2)).reshape(len(digits), 25, 16)
    random = np.random.default_rng(1797)
    drawn = patches[random.integers(0, len(digits), (draws, images))].transpose(0, 2, 1, 3)
    drawn = drawn - drawn.mean(axis=2, keepdims=True)
    return (drawn.swapaxes(-1, -2) @ drawn / (images - 1) + 1e-3 * np.eye(16)).reshape(-1, 16, 16)


def best_seconds(work, repeat=5):
    work()
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def main():
    covariance = covariances()
    factors = np.linalg.cholesky(covariance)
    rebuilt = tritri.cholesky_reconstruct(factors)
    out = np.zeros_like(rebuilt)
    seconds = best_seconds(lambda: tritri.cholesky_reconstruct(factors, out=out))
    numpy_seconds = best_seconds(lambda: np.matmul(factors, factors.swapaxes(-1, -2), out=out))

    packed = tritri.pack(factors)  # 136 numbers instead of 256
    with tritri.Context() as context:
        triangles = context.upload(packed, fill="lower", packed=16)
        product = context.matrix(factors.shape, fill="lower", packed=True)
        packed_rebuilt = context.multiply(triangles, triangles, b_op="T", out=product).download(packed=True)
        device = context.device

    largest = np.abs(covariance).max()
    worst = max(np.abs(rebuilt - np.tril(covariance)).max(), np.abs(packed_rebuilt - tritri.pack(covariance)).max()) / largest
    right = worst < 1e-14
    print(f"{len(factors)} covariance matrices of 16 pixels rebuilt from their Cholesky factors on {device}: largest error {worst:.1e} of the largest, "
          f"{'right' if right else 'WRONG'}; from NumPy arrays in {seconds * 1e3:.2f} ms, np.matmul {numpy_seconds * 1e3:.2f} ms; "
          f"packed triangles are {packed.nbytes / factors.nbytes:.0%} of the memory")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
