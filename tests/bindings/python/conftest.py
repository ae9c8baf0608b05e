import numpy as np
import pytest

import tritri


@pytest.fixture
def rng():
    return np.random.default_rng(20240229)


@pytest.fixture(scope="module")
def context():
    """A context on the device that the tests run on."""
    with tritri.Context() as context:
        yield context


@pytest.fixture(scope="module")
def cpu():
    with tritri.Context("cpu") as context:
        yield context
