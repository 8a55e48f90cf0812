"""The commands' help, and the one sentence for each thing that can be missing."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


@pytest.fixture
def environment(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    import environment

    return environment


@pytest.mark.parametrize("name", ["build.py", "test.py"])
def test_help_explains_the_command(name):
    done = subprocess.run(
        [sys.executable, SCRIPTS / name, "--help"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(f"usage: {name}")
    assert "book" in done.stdout


def test_an_unknown_argument_of_build_gets_a_sentence():
    done = subprocess.run(
        [sys.executable, SCRIPTS / "build.py", "epub"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "invalid choice: 'epub'" in done.stderr


@pytest.mark.parametrize("name", ["build.py", "test.py"])
def test_an_old_python_is_told_so(name, monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    with pytest.raises(SystemExit) as error:
        runpy.run_path(str(SCRIPTS / name), run_name="__main__")
    assert error.value.code == "error: Python 3.11 or newer is wanted, but this is 3.9"


def test_without_root_the_command_is_named(environment, monkeypatch):
    monkeypatch.setattr(environment.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(environment.os, "geteuid", lambda: 1000)
    with pytest.raises(SystemExit) as error:
        environment.system_package("Chromium", "chromium", "fonts-dejavu-core")
    assert error.value.code == (
        "error: Chromium is missing; run: sudo apt-get install chromium fonts-dejavu-core"
    )


def test_outside_debian_the_package_manager_is_named(environment, monkeypatch):
    monkeypatch.setattr(environment.shutil, "which", lambda name: None)
    with pytest.raises(SystemExit) as error:
        environment.system_package("Chromium", "chromium")
    assert error.value.code == (
        "error: Chromium is missing; install it with your system's package manager"
    )


def test_a_chromium_that_is_named_is_taken(environment, monkeypatch, tmp_path):
    program = tmp_path / "my-chromium"
    program.write_text("", encoding="utf-8")
    monkeypatch.setenv("CHROMIUM", str(program))
    assert environment.chromium() == str(program)


def test_a_failing_command_ends_with_its_sentence(environment):
    with pytest.raises(SystemExit) as error:
        environment.run([sys.executable, "-c", "raise SystemExit(3)"], "it failed")
    assert error.value.code == "error: it failed"


def test_the_environment_is_made_anew_when_the_lock_changes(environment, monkeypatch, tmp_path):
    lock = tmp_path / "requirements.lock"
    lock.write_text("a", encoding="utf-8")
    monkeypatch.setattr(environment, "LOCK", lock)
    monkeypatch.setattr(environment, "STAMP", tmp_path / "built-from")
    made = []
    monkeypatch.setattr(environment, "_create", lambda: made.append(1))
    environment.python()
    environment.python()
    assert len(made) == 1
    lock.write_text("b", encoding="utf-8")
    environment.python()
    assert len(made) == 2
