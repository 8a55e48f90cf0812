"""The page on the architecture agrees with the code: its layers, its files and its example."""

import doctest
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from book_site import ROOT

PAGE = ROOT / "docs" / "architecture.md"
TEXT = PAGE.read_text(encoding="utf-8")
TOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]


def layers_of_the_page():
    """Return the folders in each row of the page's table, from the highest layer to the lowest."""
    section = TEXT.split("## Packages, highest layer first")[1].split("\nAround `mha`")[0]
    first_cells = re.findall(r"^\| (`[^|]*`) \|", section, re.MULTILINE)
    return [re.findall(r"`mha/(\w+)(?:/|\.py)`", cell) for cell in first_cells]


def test_the_table_is_the_contract_of_import_linter():
    (contract,) = (c for c in TOOLS["importlinter"]["contracts"] if c.get("containers") == ["mha"])
    assert contract["exhaustive"] is True
    assert layers_of_the_page() == [layer.split(" | ") for layer in contract["layers"]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "upper", "contract"),
    [
        ("import mha", "mha", "above all of them"),
        ("from mha import trace", "mha", "above all of them"),
        ("import mha.widgets.own", "mha.widgets.own", "only from lower folders"),
    ],
)
def test_the_contracts_see_an_import_inside_a_function(line, upper, contract, tmp_path):
    for package in ("mha", "book/_ext/byhand"):
        for path in (ROOT / package).rglob("*.py"):
            target = tmp_path / path.relative_to((ROOT / package).parent)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    with (tmp_path / "mha/core/softmax.py").open("a", encoding="utf-8") as file:
        file.write(f"\n\ndef upward() -> None:\n    {line}\n")
    done = subprocess.run(
        [
            Path(sys.executable).parent / "lint-imports",
            "--no-cache",
            "--config",
            ROOT / "pyproject.toml",
        ],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"{contract} BROKEN" in done.stdout
    assert f"mha.core.softmax -> {upper} (l." in done.stdout


def test_the_table_of_byhand_is_the_contract_of_import_linter():
    (contract,) = (
        c for c in TOOLS["importlinter"]["contracts"] if c.get("containers") == ["byhand"]
    )
    rows = TEXT.split("| package of `byhand` | contents |\n| --- | --- |\n")[1].split("\n\n")[0]
    first_cells = [row.split(" | ")[0] for row in rows.splitlines()]
    listed = [{*re.findall(r"`(\w+)(?:/|\.py)`", cell)} for cell in first_cells]
    assert listed == [{*layer.split(" | ")} for layer in contract["layers"]]


def test_the_table_has_every_folder_and_module():
    folders = {path.parent.name for path in (ROOT / "mha").glob("*/__init__.py")}
    modules = {path.stem for path in (ROOT / "mha").glob("*.py")} - {"__init__"}
    assert {name for row in layers_of_the_page() for name in row} == folders | modules


def test_the_example_of_the_page_runs():
    done = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert done.attempted > 8
    assert done.failed == 0
