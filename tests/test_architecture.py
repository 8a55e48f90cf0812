"""The page on the architecture says what is: its layers, its files and its example."""

import doctest
import re
import tomllib

from book_site import ROOT

PAGE = ROOT / "docs" / "architecture.md"
TEXT = PAGE.read_text(encoding="utf-8")
TOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]


def layers_of_the_page():
    """Return the folders of each row of the table, from the highest layer to the lowest."""
    section = TEXT.split("## The folders, highest layer first")[1].split("\n## ")[0]
    first_cells = re.findall(r"^\| (`[^|]*`) \|", section, re.MULTILINE)
    return [re.findall(r"`mha/(\w+)(?:/|\.py)`", cell) for cell in first_cells]


def test_the_table_is_the_contract_of_import_linter():
    (contract,) = (c for c in TOOLS["importlinter"]["contracts"] if c.get("containers") == ["mha"])
    assert contract["exhaustive"] is True
    assert layers_of_the_page() == [layer.split(" | ") for layer in contract["layers"]]


def test_the_table_has_every_folder_and_module():
    folders = {path.parent.name for path in (ROOT / "mha").glob("*/__init__.py")}
    modules = {path.stem for path in (ROOT / "mha").glob("*.py")} - {"__init__"}
    assert {name for row in layers_of_the_page() for name in row} == folders | modules


def test_the_example_of_the_page_runs():
    done = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert done.attempted > 8
    assert done.failed == 0
