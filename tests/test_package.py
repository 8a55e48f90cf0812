"""The wheel holds the package and nothing else, and works with NumPy alone."""

import email
import pkgutil
import re
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from book_site import ROOT
from bundling import PUBLISHED
from wheel_only import run

import mha

README = (ROOT / "README.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

USER = """\
import numpy as np

import mha
from mha import Place, attention_weights, load_example, origin, tables, trace

run = trace(load_example("cat-sat"))
reveal_type(attention_weights(np.eye(2), np.eye(2)))
reveal_type(run.weights)
reveal_type(origin(run, Place("scores", 0, 0, 0)).evaluate())
reveal_type(tables.stage_table(run, "weights").rows)
reveal_type(mha.examine(attention_weights).ok)
"""


@pytest.fixture(scope="module")
def metadata_files(wheel):
    """Return the metadata files of the wheel by name."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.startswith("mha-")]
        return {Path(name).name: archive.read(name) for name in names}


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(wheel, metadata_files):
    listed = run("git", "ls-files", "-co", "--exclude-standard", "mha", cwd=ROOT).split("\n")
    files = {name for name in listed if name and (ROOT / name).exists()}
    files |= {path.relative_to(ROOT).as_posix() for path in PUBLISHED.iterdir()}  # git ignores it
    with zipfile.ZipFile(wheel) as archive:
        assert {name for name in archive.namelist() if not name.startswith("mha-")} == files
    assert metadata_files.keys() == {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "LICENSE"}


def test_the_metadata_are_those_of_the_project_which_requires_numpy_alone(metadata_files):
    metadata = email.message_from_bytes(metadata_files["METADATA"])
    assert metadata["Version"] == mha.__version__ == PROJECT["version"]
    assert metadata["License-Expression"] == "MIT AND Apache-2.0"
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata.get_payload(decode=True).decode("utf-8").strip() == README.strip()
    required = metadata.get_all("Requires-Dist")
    assert [line for line in required if "extra ==" not in line] == ["numpy>=2.0,<3"]
    assert set(metadata.get_all("Provides-Extra")) == set(PROJECT["optional-dependencies"])


def test_the_entry_point_finds_the_renderer_of_figures(metadata_files):
    place = re.search(rb"figures ?= ?(\S+)", metadata_files["entry_points.txt"])[1].decode()
    assert pkgutil.resolve_name(place).handle_mime


def test_the_example_of_the_readme_runs_where_there_is_only_numpy(wheel_only, tmp_path):
    (tmp_path / "README.md").write_text(README, encoding="utf-8")
    assert README.count(">>> ") > 3
    run(wheel_only, "-W", "error", "-m", "doctest", "README.md", cwd=tmp_path)


def test_a_user_s_program_is_typed(wheel_only, tmp_path):
    (tmp_path / "user.py").write_text(USER, encoding="utf-8")
    said = run(
        *(sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir=cache"),
        *("--python-executable", wheel_only, "user.py"),
        cwd=tmp_path,
    )
    weights, stage, number, rows, is_right = re.findall(r'Revealed type is "(.*)"', said)
    assert weights.startswith("numpy.ndarray[")
    assert stage.startswith("numpy.ndarray[")
    assert "float" in number
    assert rows.count("tuple[") == 2
    assert "Any" not in number + rows
    assert is_right == "builtins.bool" or is_right == "bool"


def test_every_public_name_is_there_once():
    assert len(set(mha.__all__)) == len(mha.__all__)
    for name in mha.__all__:
        assert getattr(mha, name) is not None
    with pytest.raises(AttributeError, match=r"^module 'mha' has no attribute 'nothing'$"):
        mha.nothing  # noqa: B018
