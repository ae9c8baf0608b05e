"""Threads and processes: the GIL is released, contexts take turns, forks compute."""
import gc
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from oracle import assert_close, product, random

import tritri


def long_product(cpu, rng, seconds):
    """A call that takes about that long on this machine."""
    n = 512
    x = cpu.upload(random(rng, (n, n), "float64"))
    while True:
        out = cpu.matrix((n, n))
        start = time.perf_counter()
        cpu.multiply(x, x, out=out)
        took = time.perf_counter() - start
        if took > seconds / 8 or n >= 6144:
            break
        n = int(n * 1.6)
        x = cpu.upload(random(rng, (n, n), "float64"))
    batch = max(1, round(seconds / took))
    many = cpu.wrap(np.broadcast_to(x.download(), (batch, n, n)))
    results = cpu.matrix((batch, n, n))
    return lambda: cpu.multiply(many, many, out=results)


def test_B7_a_second_thread_keeps_running(rng):
    with tritri.Context("cpu", threads=1) as context:
        work = long_product(context, rng, 2.0)
        stop, ticks = threading.Event(), []

        def tick():
            while not stop.is_set():
                ticks.append(time.perf_counter())
                time.sleep(0.005)

        ticker = threading.Thread(target=tick)
        ticker.start()
        start = time.perf_counter()
        work()
        end = time.perf_counter()
        stop.set()
        ticker.join()
    during = [t for t in ticks if start < t < end]
    assert end - start > 0.3
    assert len(during) > (end - start) / 0.005 / 8
    assert max(np.diff([start, *during, end])) < 0.5 * (end - start)


@pytest.mark.parametrize("call", ["upload", "download", "verify"])
def test_the_gil_is_released_in(call, cpu, rng):
    array = random(rng, (3000, 3000), "float64")
    matrix = cpu.upload(array)
    calls = {"upload": lambda: matrix.update(array), "download": lambda: matrix.download(array), "verify": lambda: cpu.verify(matrix, matrix, cpu.upload(array), probes=4)}
    count, stop = [0], threading.Event()

    def spin():
        while not stop.is_set():
            count[0] += 1
            time.sleep(0.0001)

    switch = sys.getswitchinterval()
    sys.setswitchinterval(5)  # only a call that lets go of the GIL lets the other thread on
    spinner = threading.Thread(target=spin)
    try:
        spinner.start()
        before, start = count[0], time.perf_counter()
        while count[0] == before and time.perf_counter() - start < 4:  # a busy machine may keep the other thread waiting
            calls[call]()
        after = count[0]
    finally:
        sys.setswitchinterval(switch)
        stop.set()
    spinner.join()
    assert after > before


def test_eight_threads_with_a_context_each(rng):
    a = random(rng, (33, 33), "float64")
    want = product(a, a)

    def work(_):
        with tritri.Context("cpu", threads=1) as context:
            x = context.upload(a, fill="lower")
            return [context.multiply(x, x).download() for _ in range(50)][-1]

    with ThreadPoolExecutor(8) as pool:
        for got in pool.map(work, range(8)):
            assert_close(got, want)


def test_eight_threads_on_one_context_take_turns(context, rng):
    arrays = [random(rng, (24, 24), "float64") for _ in range(8)]

    def work(a):
        for _ in range(50):
            x = context.upload(a, fill="lower")
            got = context.multiply(x, x).download()
        return got

    with ThreadPoolExecutor(8) as pool:
        for a, got in zip(arrays, pool.map(work, arrays)):
            assert_close(got, product(a, a))


def test_eight_threads_without_a_context(rng):
    arrays = [random(rng, (24, 24), "complex64") for _ in range(8)]

    def work(a):
        return [tritri.multiply(a, a) for _ in range(100)][-1]

    with ThreadPoolExecutor(8) as pool:
        for a, got in zip(arrays, pool.map(work, arrays)):
            assert_close(got, product(a, a))


def test_errors_belong_to_their_thread(cpu):
    def work(n):
        good, bad = np.zeros((n, n)), np.zeros((n + 1, n + 1))
        for _ in range(100):
            with pytest.raises(ValueError, match=f"op\\(A\\) has columns, {n}, got {n + 1} x {n + 1}"):
                tritri.multiply(good, bad)
            with pytest.raises(ValueError, match=f"alpha_im must be 0 for float64, got {n}"):
                tritri.multiply(good, good, alpha=complex(1, n))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(2, 10)))


def test_collecting_on_other_threads_is_safe(cpu):
    def work(_):
        for _ in range(200):
            cpu.multiply(cpu.upload(np.eye(8)), cpu.upload(np.eye(8)))
            gc.collect(0)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("n", [7, 8, 200])
def test_L3_fork_after_a_product(n):
    """In a process of its own, since a CUDA context of this one would not survive a fork."""
    import subprocess
    code = f"""
import os, sys, numpy as np, tritri
a = np.tril(np.arange({n * n}, dtype=float).reshape({n}, {n}) % 7)
want = a @ a
assert np.array_equal(tritri.multiply(a, a), want)
child = os.fork()
if child == 0:
    os._exit(0 if np.array_equal(tritri.multiply(a, a), want) else 1)
status = os.waitpid(child, 0)[1]
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 99)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120, env={**os.environ, "TRITRI_DEVICE": "cpu"})


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_L3_fork_while_a_thread_is_inside_a_call():
    import subprocess
    code = """
import os, signal, sys, threading, time, numpy as np, tritri
context, large, small = tritri.Context("cpu", threads=1), np.ones((3000, 3000)), np.eye(5)
threading.Thread(target=tritri.multiply, args=(large, large), kwargs={"context": context}).start()
while context._lock.acquire(blocking=False):  # until it is inside
    context._lock.release()
    time.sleep(0)
child = os.fork()
if child == 0:
    signal.alarm(60)
    os._exit(0 if np.array_equal(tritri.multiply(small, small, context=context), small) else 1)
status = os.waitpid(child, 0)[1]
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 99)
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=120, env={**os.environ, "TRITRI_DEVICE": "cpu"})


def test_L7_exit_with_everything_open():
    import subprocess
    code = "import numpy as np, tritri; c = tritri.Context(); m = c.upload(np.eye(3)); r = c.multiply(m, m); tritri.multiply(np.eye(2), np.eye(2)); c.me = c"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stderr == ""
