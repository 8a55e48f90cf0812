"""Fixtures of the comparisons with PyTorch: random draws, and tolerances.

Only `scripts/test.py --torch` collects this folder. These tests do not use the other tests'
`conftest.py`: they run where PyTorch is installed, which is not where the book is built.
"""

import numpy as np
import pytest
import torch
from drawn_for_torch import Draw

TOLERANCE = {"float32": 5e-6, "float64": 1e-14}
"""The largest difference of two numbers, relative to one more than the largest number."""


def pytest_addoption(parser):
    parser.addoption(
        "--draws", type=int, default=20, help="how often sizes and numbers are drawn; default: 20"
    )


def pytest_configure():
    torch.backends.mha.set_fastpath_enabled(False)  # it rounds in an order of its own
    torch.set_num_threads(1)  # the arrays are small: sharing them out takes longer than the work


def pytest_report_header(config):
    draws = config.getoption("draws")
    return f"PyTorch {torch.__version__}, NumPy {np.__version__}, {draws} draws a comparison"


def pytest_generate_tests(metafunc):
    """Draw sizes and numbers anew for each seed, in each dtype."""
    if "draw" not in metafunc.fixturenames:
        return
    seeds = range(metafunc.config.getoption("draws"))
    cases = [(seed, dtype) for dtype in TOLERANCE for seed in seeds]
    names = [f"{dtype}-{seed}" for seed, dtype in cases]
    metafunc.parametrize("draw", cases, ids=names, indirect=True)


@pytest.fixture
def draw(request):
    """Return a random generator of sizes and numbers. Its tensors have its dtype."""
    draw = Draw(*request.param)
    torch.set_default_dtype(getattr(torch, draw.dtype))
    yield draw
    torch.set_default_dtype(torch.float32)


@pytest.fixture
def double():
    """Create tensors in double precision by default."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.fixture
def agree(draw):
    """Return a function that asserts that an array of mha equals PyTorch's tensor."""

    def check(own, other):
        wanted = other.detach().numpy()
        assert np.shape(own) == wanted.shape
        if wanted.ndim:
            assert (own.dtype, wanted.dtype) == (draw.dtype, draw.dtype)
        off = np.abs(own - wanted).max() / (TOLERANCE[draw.dtype] * (1 + np.abs(wanted).max()))
        assert off <= 1, f"{off:.3g} of what is allowed in {draw.dtype}:\n{own}\nfor\n{wanted}"

    return check
