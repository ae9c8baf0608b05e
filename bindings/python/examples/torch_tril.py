"""A layer that keeps the lower triangle of a product, as causal scores do, written with torch.tril and with tritri.torch.matmul: the same values, the
same gradients, and their times. Uses the GPU if PyTorch sees one.
"""
import sys
import time

import torch

import tritri.torch


class Scores(torch.nn.Module):
    """tril(q k^T)."""

    def __init__(self, triangular: bool):
        super().__init__()
        self.triangular = triangular

    def forward(self, q, k):
        if self.triangular:
            return tritri.torch.matmul(q, k, a_fill="full", b_fill="full", b_op="T", out_fill="lower")
        return torch.tril(torch.matmul(q, k.mT))


def run(layer, q, k):
    q, k = q.clone().requires_grad_(), k.clone().requires_grad_()
    scores = layer(q, k)
    scores.square().sum().backward()
    return scores.detach(), q.grad, k.grad


def seconds(layer, q, k):
    def wait():
        if q.is_cuda:
            torch.cuda.synchronize()

    best = float("inf")
    for _ in range(6):
        wait()
        start = time.perf_counter()
        layer(q, k)
        wait()
        best = min(best, time.perf_counter() - start)
    return best


def main():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    n = 4096 if device == "cuda" else 768
    generator = torch.Generator().manual_seed(3)
    q, k = (torch.randn(n, n, generator=generator).to(device) for _ in range(2))
    ours, theirs = Scores(True), Scores(False)
    right = all(torch.linalg.norm(x - y) <= 1e-5 * torch.linalg.norm(y) for x, y in zip(run(ours, q, k), run(theirs, q, k)))
    fast, slow = seconds(ours, q, k), seconds(theirs, q, k)
    print(f"tril(q k^T), {n} x {n} float32 on {device}: values and gradients {'right' if right else 'WRONG'}, "
          f"{fast * 1e3:.2f} ms, torch.tril(torch.matmul(...)) {slow * 1e3:.2f} ms")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
