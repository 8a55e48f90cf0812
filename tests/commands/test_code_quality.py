"""Linters and types are clean, the lock file is safe, and no file names a machine or registry."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from book_site import ROOT

TOOLS = Path(sys.executable).parent
DOCS = [f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")]
SCRIPTS = ["mha/widgets/src", "scripts", "tests/typescript"]


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check"],
        ["ruff", "format", "--check"],
        pytest.param(["mypy"], marks=pytest.mark.slow),
        pytest.param(["lint-imports", "--no-cache"], marks=pytest.mark.slow),
        ["deno", "lint", *SCRIPTS],
        ["deno", "check", *SCRIPTS[:1]],
        pytest.param(["deno", "check", *SCRIPTS[1:]], marks=pytest.mark.slow),
    ],
    ids=lambda command: " ".join(command[:3]),
)
def test_tool_finds_nothing(command):
    own = {"DENO_DIR": str(Path(sys.prefix) / "deno"), "NO_COLOR": "1", "PYTHONPATH": "book/_ext"}
    command = [TOOLS / command[0], *command[1:]]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | own, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_file_names_a_registry_or_a_folder_of_one_machine():
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    files = subprocess.check_output(command, cwd=ROOT, text=True).split("\n")
    # In parts, or this file would name them.
    hosts = ("py" + r"pi\.org", "python" + "hosted", r"registry\." + "npmjs", "index-" + "url")
    folders = "|".join(f"/{name}/" for name in ("work", "root", "home"))
    pattern = re.compile(f"{'|'.join(hosts)}|(?<![\\w.]){folders}")
    binary = (".woff2", ".png", ".js", ".npy", ".npz", ".gz")
    texts = [ROOT / name for name in files if name and not name.endswith(binary)]
    found = [path for path in texts if path.is_file() and pattern.search(path.read_text("utf-8"))]
    assert found == []


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", *DOCS])
def test_files_that_the_documents_name_exist(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#]+)\)", text)
    paths = re.findall(r"`((?:book|mha|scripts|tests)/[\w./-]*)`", text)
    for target in paths:
        is_made = target == "mha/widgets/published"  # by the first command that bundles the scripts
        assert (ROOT / target).exists() or "NAME" in target or is_made, target
    for target in links:
        assert (ROOT / name).parent.joinpath(target).exists(), target
