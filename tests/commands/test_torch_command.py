"""The comparison with PyTorch has a run of its own, and no other run takes part of it."""

import subprocess
import sys

import pytest
import testing
from book_site import ROOT


@pytest.fixture
def started(monkeypatch):
    """Return what is done for a comparison: no environment made, no page built, no test run."""
    done = []
    monkeypatch.setattr(testing, "build_html", lambda: done.append("pages"))
    monkeypatch.setattr(testing.environment.Environment, "update", lambda own: done.append(own))

    def run(command, **options):
        done.append((command, options["cwd"]))
        return subprocess.CompletedProcess(command, returncode=3)

    monkeypatch.setattr(testing.subprocess, "run", run)
    return done


def test_it_makes_its_environment_and_hands_arguments_and_result_on(started, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["test.py", "--torch", "--draws", "2", "-k", "softmax"])
    with pytest.raises(SystemExit) as ended:
        testing.main()
    assert ended.value.code == 3
    made, pages, (command, folder) = started
    assert pages == "pages"
    assert (made.folder, made.lock) == (ROOT / ".frameworks", ROOT / "requirements-frameworks.lock")
    assert command[:4] == [str(made.python), "-m", "pytest", "tests/against_torch"]
    assert command[-4:] == ["--draws", "2", "-k", "softmax"]
    assert folder == ROOT


def test_the_frameworks_run_in_the_same_environment_without_the_pages(started, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["test.py", "--frameworks", "-k", "Llama"])
    with pytest.raises(SystemExit) as ended:
        testing.main()
    assert ended.value.code == 3
    made, (command, _) = started
    assert made.folder == ROOT / ".frameworks"
    assert command[3] == "tests/against_frameworks"
    assert command[-2:] == ["-k", "Llama"]
