"""The numbers on the built pages of the book's second half are PyTorch's too, to the last digit."""

import importlib

import pytest
from printed_pages import PAGES, Page

CHAPTERS = (
    "order", "decoding", "depth", "cost", "learning", "small-model", "real-heads", "bugs",
)  # fmt: skip


@pytest.mark.parametrize("name", CHAPTERS)
def test_printed_numbers(name, record_property):
    """Each is worked from the inputs alone, by a program that knows nothing of mha's."""
    if not PAGES.is_dir():
        pytest.fail(f"{PAGES} is not there; run scripts/build.py first", pytrace=False)
    page = Page(f"transformer/{name}")
    importlib.import_module(f"chapters.{name.replace('-', '_')}").numbers(page)
    record_property(name, page.counted())
    assert not page.wrong, "\n".join(page.wrong)
