"""The help of the commands, and one-sentence errors for missing programs and files."""

import ast
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import sysconfig

import building
import command_lines
import environment
import pytest
import testing
from book_site import ROOT
from packs import command as packs

from mha.practice.random_inputs import LEVELS
from mha.practice.worksheets import TASKS, options


@pytest.fixture
def project(monkeypatch, tmp_path):
    """Return a copy of the project, with an environment that needs no installation."""
    project = tmp_path.resolve() / "project"
    for folder in ("mha", "scripts", "book/_ext"):
        shutil.copytree(ROOT / folder, project / folder)
    locks = ("requirements.lock", "requirements-test.lock")
    for file in ("pyproject.toml", *locks, "_toc.yml", "deno.json", "deno.lock"):
        shutil.copy(ROOT / file, project / file)
    command = [sys.executable, "-m", "venv", "--without-pip", project / ".venv"]
    subprocess.run(command, check=True)
    (packages,) = (project / ".venv").glob("lib/python*/site-packages")
    lines = [str(project), sysconfig.get_path("purelib")]
    (packages / "lent.pth").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setattr(environment, "ROOT", project)
    paths = (project / name for name in (".venv", *locks))
    folder, lock, test_lock = paths
    own = environment.Environment(folder, lock, size="", test_lock=test_lock)
    for part in ("packages", "mha", "tests"):
        (folder / f"{part}-made-from").write_text(own.fingerprint(part), encoding="utf-8")
    return project


def start(folder, *arguments, **variables):
    """Run the Python outside of every virtual environment; `variables` are those of the system."""
    command = [sys._base_executable, *arguments]
    env = os.environ | variables
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


def subcommands(module):
    """Return the names of the subcommands of the command in a module of the scripts."""
    actions = command_lines.make_parser(module)._actions
    return tuple(name for each in actions if each.dest == "what" for name in each.choices)


COMMANDS = {line.prog: subcommands(module) for module, line in command_lines.COMMAND_LINES.items()}
"""The commands that begin with `environment.py`, and their subcommands."""


def test_every_command_of_the_folder_is_listed():
    begin = {
        path.name
        for path in (ROOT / "scripts").glob("*.py")
        if "environment.start(" in path.read_text(encoding="utf-8")
    }
    assert begin == set(COMMANDS)
    assert {"html", "exam", "packs"} < set(COMMANDS["build.py"])


@pytest.mark.parametrize("name", COMMANDS)
def test_help_needs_no_package_and_creates_nothing(name, tmp_path):
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    for file in ("command_line.py", "practice/worksheets/options.py"):
        (tmp_path / "mha" / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "mha" / file, tmp_path / "mha" / file)
    before = sorted(tmp_path.rglob("*"))
    python = ("-S", "-E", "-B")  # no package is found, nothing is compiled
    for command in ((), *((sub,) for sub in COMMANDS[name])):
        for option in ("--help", "-h"):
            done = start(tmp_path, *python, f"scripts/{name}", *command, option)
            assert done.returncode == 0, done.stderr
            assert done.stdout.startswith(" ".join(["usage:", name, *command, "[-h]"]))
    if name != "test.py":  # which gives every other option to pytest
        wrong = start(tmp_path, *python, f"scripts/{name}", *COMMANDS[name][:1], "--no-such")
        assert wrong.returncode == 2, wrong.stderr
        assert wrong.stderr.startswith(f"{name}")
        assert wrong.stderr.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_the_parsers_know_the_names_of_the_modules_that_do_the_work():
    assert set(command_lines.PACKS) == set(packs.PACKS)
    assert tuple(LEVELS) == options.DIFFICULTIES
    assert tuple(TASKS) == options.TASK_NAMES


def test_commands_go_on_inside_the_environment_and_explain_themselves(project):
    for name in ("check.py", "test.py", "build.py worksheet"):
        done = start(project, *f"scripts/{name} --help".split())
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(f"usage: {name}")
    done = start(project, "scripts/check.py", "no-such-page")
    assert done.returncode == 1
    assert "no-such-page" in done.stderr
    other = project / "other" / "mha"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("raise ValueError", encoding="utf-8")
    variables = {"PYTHONPATH": str(other.parent), "PYTHONWARNINGS": "error"}
    assert start(project, "scripts/check.py", "no-such-page", **variables).stderr == done.stderr
    (project / "deno.json").write_text("{}", encoding="utf-8")  # the scripts are to be bundled
    done = start(project, "scripts/check.py", "no-such-page")
    assert done.returncode == 1
    assert re.fullmatch(r"error: \.venv is damaged \(.*deno.*\); delete .*\n", done.stderr)
    done = start(project, "scripts/build.py", "mobi")
    assert done.returncode == 2
    assert done.stderr.startswith("build.py: argument what: invalid choice: 'mobi' (choose from ")
    assert done.stderr.count("\n") == 1


OLD = "import sys, runpy; sys.version_info = (3, 9, 2); runpy.run_path('build.py', {}, '__main__')"
TOLD = "import sys, environment; sys.excepthook = environment.exit_in_one_sentence; "


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (OLD, "Python 3.11 or newer is wanted, but this is 3.9\n"),
        (f"{TOLD}raise KeyboardInterrupt", "interrupted; what was built before is as it was"),
        (f"{TOLD}import a_lost_one", ".venv is damaged (No module named 'a_lost_one'); delete th"),
    ],
)
def test_where_a_command_cannot_go_on_it_says_so_in_one_sentence(code, sentence):
    done = start(ROOT / "scripts", "-c", code)
    assert done.returncode != 0
    assert done.stderr.startswith(f"error: {sentence}")
    assert done.stderr.count("\n") == 1


def test_without_root_the_command_is_named(monkeypatch):
    monkeypatch.setattr(environment.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(environment.os, "geteuid", lambda: 1000)
    wanted = "^error: Chromium is missing; run: sudo apt-get install chromium fonts-dejavu-core$"
    with pytest.raises(SystemExit, match=wanted):
        environment.system_package("Chromium", "chromium", "fonts-dejavu-core")


@pytest.fixture
def own(monkeypatch, tmp_path):
    """Return an environment with empty locks, and the list of what is installed."""
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    locks = [tmp_path / name for name in ("a.lock", "b.lock")]
    for file in (*locks, tmp_path / "pyproject.toml"):
        file.touch()
    own = environment.Environment(tmp_path / "own", locks[0], size="", test_lock=locks[1])
    create = environment.venv.create
    monkeypatch.setattr(environment.venv, "create", lambda folder, **_: create(folder))  # no pip
    done = []
    monkeypatch.setattr(type(own), "_pip", lambda self, what, *options: done.append(what))
    return own, done


BOOK, MHA, TESTS = "the packages of a.lock", "mha", "the packages of b.lock"


def test_each_part_of_the_environment_is_made_anew_when_its_inputs_change(own):
    own, done = own
    file = {path.name: path for path in own.lock.parent.iterdir() if path.is_file()}
    for changed, for_tests, expected in (
        ("a.lock", False, [BOOK, MHA]),
        (None, False, []),
        (None, True, [TESTS]),
        (None, True, []),
        ("pyproject.toml", False, [MHA]),
        ("b.lock", False, []),
        (None, True, [TESTS]),
        ("a.lock", True, [BOOK, MHA, TESTS]),
    ):
        if changed:
            file[changed].write_text(file[changed].read_text() + "# changed\n", encoding="utf-8")
        assert own.update(for_tests=for_tests) == bool(expected)
        assert done == expected
        done.clear()


def test_a_set_up_that_fails_or_is_killed_keeps_the_last_environment(monkeypatch, own):
    own, done = own
    own.update()
    (own.folder / "kept").touch()
    old = own.lock.read_text(encoding="utf-8")
    own.lock.write_text("# changed\n", encoding="utf-8")

    def stop(self, what, *options):
        environment.fail(f"{what} could not be installed")

    with monkeypatch.context() as patched:
        patched.setattr(type(own), "_pip", stop)
        with pytest.raises(SystemExit, match=r"^error: the packages of a\.lock could not be inst"):
            own.update()
    assert (own.folder / "kept").exists()
    assert not own.before.exists()
    # Killed: the new folder is not complete, and the last one has its temporary name.
    own.folder.rename(own.before)
    own.folder.mkdir()
    own.lock.write_text(old, encoding="utf-8")
    done.clear()
    own.update()
    assert (own.folder / "kept").exists()
    assert not own.before.exists()
    assert done == []


def test_an_environment_that_cannot_be_read_is_called_damaged(monkeypatch, own):
    own, _done = own
    monkeypatch.setattr(environment, "BOOK", own)
    monkeypatch.setattr(environment.sys, "excepthook", environment.sys.excepthook)
    monkeypatch.setattr(environment.sys, "path", [])

    def refuse(self, *, for_tests):
        raise PermissionError(13, "Permission denied", "bin/python")

    monkeypatch.setattr(type(own), "update", refuse)
    with pytest.raises(SystemExit, match=r"^error: .*damaged \(bin/python: Permission denied\)"):
        environment.enter()


@pytest.mark.parametrize(
    ("error", "wanted"),
    [
        (
            PermissionError(13, "Permission denied", str(ROOT / "book" / "index.md")),
            r"book/index\.md cannot be read: Permission denied",
        ),
        (OSError(28, "No space left on device"), "_build cannot be read or written: No space left"),
        (
            OSError(28, "No space left", "a.html"),
            "error: a.html cannot be read or written: No space left",
        ),
        (
            shutil.Error([("a", "b.html", "[Errno 28] full")]),
            "error: a cannot be copied to b.html: ",
        ),
    ],
)
def test_an_unwritable_folder_is_named(error, wanted):
    with pytest.raises(SystemExit, match=wanted), building._errors_in_one_sentence():
        raise error


@pytest.mark.parametrize(
    ("chosen", "wanted"),
    [
        (["tests/widgets/test_latent_browser.py"], ["chromium"]),
        (["tests/book/test_search.py"], ["pages"]),
        (["tests/book/test_pdf.py", "tests/core/test_positions.py"], ["pages", "PDF"]),
        (["tests/core/test_positions.py", "-k", "no_such_test"], None),
    ],
    ids=lambda argument: " ".join(map(str, argument or [])),
)
def test_only_what_the_chosen_tests_need_is_made(chosen, wanted, monkeypatch):
    made = []
    monkeypatch.setattr(environment, "chromium", lambda: made.append("chromium"))
    monkeypatch.setattr(environment, "system_package", lambda *names: None)
    monkeypatch.setattr(testing, "build_html", lambda: made.append("pages"))
    monkeypatch.setattr(testing.printing, "print_all", lambda *arguments: made.append("PDF"))
    if wanted is None:
        with pytest.raises(SystemExit, match=f"no test is chosen by: {re.escape(chosen[0])} -"):
            testing.collect_marks(chosen, dict(os.environ))
    else:
        testing.make_inputs(testing.collect_marks(chosen, dict(os.environ)))
        assert made == wanted


def test_nothing_outside_the_tests_imports_a_package_of_the_tests_lock():
    """Otherwise the book would build only where the tests have run."""
    needed, tests = (
        set(re.findall(r"^([a-z0-9-]+)==", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE))
        for name in ("requirements.lock", "requirements-test.lock")
    )
    assert {"pytest", "playwright"} <= tests - needed
    only_tests = {
        module
        for module, names in importlib.metadata.packages_distributions().items()
        if {re.sub(r"[-_.]+", "-", name).lower() for name in names} <= tests - needed
    }
    importers = {
        path.relative_to(ROOT).as_posix()
        for folder in ("mha", "scripts", "book/_ext")
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else node.names)
        if str(getattr(name, "name", name)).partition(".")[0] in only_tests
    }
    # A fixture of the users' own pytest, and a bench.
    assert importers == {"mha/examine/fixture.py", "scripts/bench_explorer.py"}
