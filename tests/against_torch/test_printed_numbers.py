"""What chapters print of no single run is PyTorch's too, to the last digit.

Whatever belongs to a run is in `test_numbers_of_runs.py`.
"""

import importlib

import pytest
from printed_pages import PAGES, Page

CHAPTERS = [
    *(f"mechanism/{name}" for name in (
        "what-attention-does", "self-attention", "multi-head-attention",
    )),
    *(f"transformer/{name}" for name in (
        "order", "decoding", "depth", "cost", "learning", "small-model", "real-heads", "bugs",
        "your-own-attention", "since-2023",
    )),
]  # fmt: skip


@pytest.mark.parametrize("name", CHAPTERS)
def test_printed_numbers(name):
    """Each is worked from the inputs alone, by a program that knows nothing of mha's."""
    if not PAGES.is_dir():
        pytest.fail(f"{PAGES} is not there; run scripts/build.py first", pytrace=False)
    page = Page(name)
    program = name.rpartition("/")[2].replace("-", "_")
    importlib.import_module(f"chapters.{program}").numbers(page)
    assert not page.wrong, "\n".join(page.wrong)
