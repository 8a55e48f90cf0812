"""Notebook cells with Jupyter magics are run as Python without the magics."""

import pytest

from mha.grade.notebook_runner import without_magics


@pytest.mark.parametrize(
    ("cell", "left"),
    [
        ("!pip install mha\nx = 1", "pass\nx = 1"),
        ("!pip install \\\n  mha\nx = 1", "pass\nx = 1"),
        ("x = (3\n%x)", "x = (3\n%x)"),
        ("np.exp?\n?np.exp\nx = 1", "pass\npass\nx = 1"),
        ("files = !ls\nhistory = %history\n%time x = 1", "files = []\nhistory = []\nx = 1"),
        ("%timeit f(3)\nx = 1", "pass\nx = 1"),
        ("%%bash\nls", ""),
        ("%%capture out\nx = 1", "x = 1"),
        ("def f(:\n    broken", "def f(:\n    broken"),
    ],
)
def test_magics_are_skipped_and_nothing_else(cell, left):
    assert without_magics(cell) == left
