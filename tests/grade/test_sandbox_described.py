"""What runs in the sandbox is described, and nothing runs where no sandbox can be made."""

import os
import platform
import re
import shutil
import sys
from pathlib import Path

import pytest
from book_site import ROOT

from mha.grade import sandbox
from mha.grade.__main__ import main

STATEMENTS = {
    "what runs": r"\bcode (?:of \w+ notebooks? )?runs on (?:this|your) machine\b",
    "inside what": r"\bsandbox\b(?:[^.]*\bbubblewrap\b[^.]*\bLinux\b|\. On Linux bubblewrap makes)",
    "what it cannot reach": r"\b(?:cannot|without)\b[^.]* network\b[^.]* your files\b",
    "what happens without a sandbox": r"\bnothing runs\b",
}


def help_of_command(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    return capsys.readouterr().out


@pytest.mark.parametrize(
    "source", ["--help", "README.md", "book/teaching.md", "book/reference/examine.md"]
)
def test_what_runs_inside_what_and_what_it_cannot_reach_is_said(source, capsys):
    text = help_of_command(capsys) if source == "--help" else (ROOT / source).read_text("utf-8")
    words = " ".join(text.replace("*", "").split())
    assert [what for what, said in STATEMENTS.items() if not re.search(said, words)] == []


@pytest.mark.parametrize(
    ("system", "machine", "reason"),
    [
        ("darwin", "x86_64", "bubblewrap, which makes it, needs Linux"),
        ("win32", "AMD64", "bubblewrap, which makes it, needs Linux"),
        ("linux", "riscv64", "the system calls of riscv64 are not known"),
    ],
)
def test_on_an_unknown_system_nothing_runs_and_a_container_is_named(
    system, machine, reason, tmp_path, monkeypatch, capsys
):
    started = []
    monkeypatch.setattr(sandbox, "Popen", lambda *command, **_: started.append(command))
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(platform, "machine", lambda: machine)
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.ipynb").write_text("{}", encoding="utf-8")
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(sys, "platform", system)
        with pytest.raises(SystemExit) as stopped:
            main([str(folder)])
    said = capsys.readouterr().err
    assert stopped.value.code == 2
    assert f"no sandbox can be made for the notebooks: {reason}; use a container: `" in said
    assert "docker run --rm --network none" in said
    assert said.count("\n") == 1
    assert started == []
    assert [path.name for path in Path(tmp_path).iterdir()] == ["in"]


APT = """#!/bin/sh
echo "$@" >> {called}
[ "$2" = install ] && printf '#!/bin/sh\nexit 7\n' > {bwrap} && /bin/chmod +x {bwrap}
exit 0
"""


@pytest.mark.parametrize("user", [0, 1000])
def test_a_missing_bubblewrap_is_installed_for_root_alone(user, tmp_path, monkeypatch, capsys):
    called, bwrap, apt = (tmp_path / name for name in ("called", "bwrap", "apt-get"))
    apt.write_text(APT.format(called=called, bwrap=bwrap), encoding="utf-8")
    apt.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: user)
    with pytest.raises(ValueError, match="no sandbox can be made") as refused:
        sandbox.Sandbox([])
    if user == 0:
        assert "bwrap ends with 7" in str(refused.value)
        assert called.read_text(encoding="utf-8").splitlines() == [
            "-qq update",
            "-qq install -y --no-install-recommends bubblewrap",
        ]
        assert "Installing bubblewrap" in capsys.readouterr().err
    else:
        assert "bubblewrap is missing (sudo apt-get install bubblewrap)" in str(refused.value)
        assert not called.exists()
