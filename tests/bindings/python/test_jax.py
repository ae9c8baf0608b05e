"""JAX arrays in host memory. GPU arrays are in test_gpu_arrays.py."""
import numpy as np
import pytest
from oracle import assert_close, product, random

jax = pytest.importorskip("jax", reason="needs JAX")
import jax.numpy as jnp

import tritri


@pytest.fixture(autouse=True)
def on_the_cpu():
    jax.config.update("jax_enable_x64", True)
    with jax.default_device(jax.devices("cpu")[0]):
        yield


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(5, 5), (2, 5, 5), (0, 5, 5)])
def test_jax_arrays(rng, dtype, shape):
    a, b = random(rng, shape, dtype), random(rng, (5, 5), dtype)
    result = tritri.multiply(jnp.asarray(a), jnp.asarray(b), b_op="C", b_fill="upper")
    assert isinstance(result, jax.Array) and result.dtype == dtype
    assert_close(np.asarray(result), product(a, b, b_op="C", b_fill="upper"), k=5)


def test_bfloat16():
    a = jnp.arange(16).reshape(4, 4).astype(jnp.bfloat16)
    result = tritri.multiply(a, a)
    assert result.dtype == jnp.bfloat16
    assert np.array_equal(np.asarray(result, np.float64), np.tril(np.arange(16.0).reshape(4, 4)) @ np.tril(np.arange(16.0).reshape(4, 4)).round())


def test_inputs_are_not_written(rng):
    a = jnp.asarray(random(rng, (6, 6), "float64"))
    before = np.asarray(a).tobytes()
    tritri.multiply(a, a)
    assert np.asarray(a).tobytes() == before


def test_out_is_refused_since_arrays_are_immutable():
    a = jnp.eye(3)
    with pytest.raises(TypeError, match="out: must be writable, got a jax.Array, which is immutable"):
        tritri.multiply(a, a, out=a)


def test_tracers_are_refused_with_advice():
    with pytest.raises(TypeError, match="use jax.pure_callback"):
        jax.jit(lambda x: tritri.multiply(x, x))(jnp.eye(3))
