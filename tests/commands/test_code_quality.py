"""Linters and types are clean, the lock is safe, and no file names a machine or a registry."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mha import load_example, trace

ROOT = Path(__file__).resolve().parents[2]
TOOLS = Path(sys.executable).parent
DENO = f"--config={ROOT / 'tests' / 'javascript' / 'deno.json'}"
LOCKS = {"requirements.lock": 50, "requirements-bench.lock": 20, "requirements-mutants.lock": 50}
"""The files of pinned packages, and the fewest entries that each has."""


def run_tool(command, cache):
    """Run a tool of the environment on the project; what it keeps for the next time is left out."""
    return subprocess.run(
        [TOOLS / command[0], *command[1:]],
        cwd=ROOT,
        env=os.environ | {"DENO_DIR": str(cache), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check"],
        ["ruff", "format", "--check"],
        pytest.param(["mypy"], marks=pytest.mark.slow),
        pytest.param(["lint-imports", "--no-cache"], marks=pytest.mark.slow),
        ["deno", "lint", DENO, "book/_static", "mha", "scripts"],
        pytest.param(
            ["deno", "check", DENO, "book/_static", "mha", "scripts"], marks=pytest.mark.slow
        ),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_tool_finds_nothing(command, tmp_path):
    done = run_tool(command, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "code", "finding"),
    [
        ("lint", "export const f = (x) => x == 1;", "eqeqeq"),
        ("check", "/** @param {string | null} x */\nexport const f = (x) => x.length;", "TS18047"),
        ("check", "export const f = (x) => x;", "TS7006"),
        ("check", "window.mhaProgress.setRight(1);", "TS2345"),
    ],
)
def test_a_fault_in_a_script_is_found(command, code, finding, tmp_path):
    (tmp_path / "fault.js").write_text(code, encoding="utf-8")
    types = map(str, (ROOT / "mha" / "widgets" / "static").glob("*.d.ts"))
    done = run_tool(["deno", command, DENO, str(tmp_path / "fault.js"), *types], tmp_path / "cache")
    assert done.returncode == 1
    assert finding in done.stdout + done.stderr


def test_importing_mha_needs_numpy_alone():
    others = ("matplotlib", "scipy", "IPython")
    code = f"import sys, mha; print([m for m in {others} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(("file", "least"), LOCKS.items())
def test_every_locked_package_has_a_version_and_hashes(file, least):
    lock = (ROOT / file).read_text(encoding="utf-8")
    entries = re.split(r"\n(?=[a-z])", lock[lock.index("\n", lock.rindex("#    see")) + 1 :])
    assert len(entries) > least
    for entry in entries:
        assert re.match(r"[a-z0-9._-]+==\S+ ", entry), entry[:80]
        assert "--hash=sha256:" in entry, entry[:80]


def test_no_file_names_a_registry_or_a_folder_of_one_machine():
    files = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\n")
    hosts = "|".join(
        ["py" + r"pi\.org", r"python" + r"hosted", r"registry\." + "npmjs", "index-" + "url"]
    )
    folders = "|".join("/" + name + "/" for name in ("work", "root", "home"))
    pattern = re.compile(f"{hosts}|(?<![\\w.]){folders}")
    found = []
    for name in filter(None, files):
        path = ROOT / name
        if path.suffix in (".woff2", ".png", ".js", ".npy", ".npz", ".gz") or not path.is_file():
            continue
        if pattern.search(path.read_text(encoding="utf-8")):
            found.append(name)
    assert found == []


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_files_that_the_documents_name_exist(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#]+)\)", text)
    paths = re.findall(r"`((?:book|mha|scripts|tests)/[\w./-]*)`", text)
    assert len(paths) > 3
    for target in [*links, *paths]:
        assert (ROOT / target).exists() or "NAME" in target, target


def test_the_example_of_the_contributing_guide_works(tmp_path, monkeypatch):
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (tmp_path / "dogs-bark.toml").write_text(
        re.search(r"```toml\n(.*?)```", text, re.DOTALL).group(1), encoding="utf-8"
    )
    monkeypatch.setattr("mha.examples.resources.files", lambda package: tmp_path)
    run = trace(load_example("dogs-bark"))
    assert run.output.shape == (2, 2)


def lines_of_code(function):
    """Return how long a function is without its docstring, which says what it promises."""
    first, *_ = function.body
    documented = ast.get_docstring(function, clean=False) is not None
    docstring = first.end_lineno - first.lineno + 1 if documented else 0
    return function.end_lineno - function.lineno + 1 - docstring


def test_no_module_is_above_450_lines_and_no_function_above_40():
    over = []
    for folder in ("mha", "scripts", "book/_ext", "tests"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            name, text = path.relative_to(ROOT), path.read_text(encoding="utf-8")
            if (lines := len(text.splitlines())) > 450:
                over.append(f"{name}: {lines} lines")
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    length = lines_of_code(node)
                    if length > 40:
                        over.append(f"{name}:{node.lineno}: {node.name} has {length} lines")
    for folder in ("mha", "scripts", "book/_static"):
        for path in sorted((ROOT / folder).rglob("*.js")):
            if (lines := len(path.read_text(encoding="utf-8").splitlines())) > 450:
                over.append(f"{path.relative_to(ROOT)}: {lines} lines")
    assert over == [], "\n".join(over)
