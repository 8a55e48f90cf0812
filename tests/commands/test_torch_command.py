"""The comparison with PyTorch has a run of its own, and no other run takes part of it."""

import subprocess
import sys

import conftest
import pytest
import testing
from book_site import ROOT


@pytest.fixture
def started(monkeypatch):
    """Return what is done for a comparison, with no environment made and no test run."""
    done = []
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
    made, (command, folder) = started
    assert (made.folder, made.lock) == (ROOT / ".bench", ROOT / "requirements-bench.lock")
    assert command[:4] == [str(made.python), "-m", "pytest", "tests/against_torch"]
    assert command[-4:] == ["--draws", "2", "-k", "softmax"]
    assert folder == ROOT


@pytest.mark.parametrize("other", ["--quick", "--no-book", "--report"])
def test_with_another_kind_of_run_it_is_refused(started, monkeypatch, capsys, other):
    monkeypatch.setattr(sys, "argv", ["test.py", "--torch", other])
    with pytest.raises(SystemExit) as ended:
        testing.main()
    assert ended.value.code == 2
    assert "--torch is a run of its own" in capsys.readouterr().err
    assert started == []


def test_other_runs_leave_it_out_and_say_so():
    (name,) = conftest.collect_ignore
    assert any((ROOT / "tests" / name).glob("test_*.py"))
    assert f"tests/{name}" == testing.AGAINST_TORCH
    (line,) = (line for line in conftest.pytest_report_header() if "--torch" in line)
    assert testing.AGAINST_TORCH in line


def test_its_folder_does_not_hide_that_pytorch_is_missing():
    """A folder named torch beside the tests could be imported, and be empty."""
    assert not list((ROOT / "tests").glob("**/torch"))
