"""Fixtures of the comparisons with the frameworks: random generators and seeds.

Only `scripts/test.py --frameworks` collects this folder. These tests do not use the other tests'
`conftest.py`: they run where the frameworks are installed, which is not where the book is built.
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
