"""The book's own Sphinx extensions, apart from a build: see test_build.py for the whole."""

import doctest

import pytest
from extensions import load


def test_examples_in_docstrings_hold():
    result = doctest.testmod(load("failed_cells"))
    assert result.attempted >= 2
    assert result.failed == 0


def test_a_failure_outside_any_cell_has_no_line():
    assert load("failed_cells").locate("# Page", "DeadKernelError: Kernel died") == (
        None,
        "DeadKernelError: Kernel died",
    )


@pytest.fixture
def sources(tmp_path):
    for name in ("mha/a.py", "mha/examples/b.toml", "book/_ext/c.py", "requirements.lock"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("one", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "name", ["mha/a.py", "mha/examples/b.toml", "book/_ext/c.py", "requirements.lock"]
)
def test_numbers_are_outdated_when_what_they_come_from_changes(sources, name):
    fingerprint = load("fresh_numbers").fingerprint
    before = fingerprint(sources)
    assert fingerprint(sources) == before
    (sources / name).write_text("two", encoding="utf-8")
    assert fingerprint(sources) != before
    (sources / name).write_text("one", encoding="utf-8")
    assert fingerprint(sources) == before


def test_numbers_are_not_outdated_by_what_they_do_not_come_from(sources):
    fingerprint = load("fresh_numbers").fingerprint
    before = fingerprint(sources)
    (sources / "README.md").write_text("two", encoding="utf-8")
    (sources / "mha" / "a.pyc").write_text("two", encoding="utf-8")
    assert fingerprint(sources) == before
