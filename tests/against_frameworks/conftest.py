"""Layers of the frameworks, with random numbers: what each has, and what it gives.

No other run collects this folder, and these tests use nothing of the other tests' `conftest.py`:
they run where the frameworks are, which is not where the book is built.
"""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import numpy as np
import pytest
import torch


def pytest_configure():
    torch.set_num_threads(1)  # the arrays are small: sharing them out takes longer than the work
    torch.set_grad_enabled(False)


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(7)
