"""Grading of a folder with correct, wrong, cheating and hostile notebooks, and other files."""

import csv
import io
import os
import platform
import re
import signal
import socket
import struct
import subprocess
import sys
import time
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from hostile import DISRUPTIVE, KINDS, REACHED, attempt
from student_submissions import CHEATS, STYLES, WRONG, filled_notebook, notebook
from wheel_only import run

from mha.command_line import in_one_line
from mha.grade.__main__ import main
from mha.grade.grading import find_imports
from mha.grade.sandbox import ARCHITECTURES, FCNTL, REFUSED, SET_LEASE, seccomp_program
from mha.grade.submissions import find_submissions, read_cells
from mha.practice.notebook_steps import STEPS
from mha.practice.worksheets import Student

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="a sandbox needs Linux"),
]

ROOT = Path(__file__).resolve().parents[2]
SECRET = "nobody guesses this, nor tries it out"
RUNS = b"-m\0mha.grade.notebook_runner"
STUBBORN = "while True:\n    try:\n        while True: pass\n    except BaseException: pass"

ODD = {
    "empty.ipynb": (b"", "The file is empty."),
    "text.ipynb": (b"def scale(): pass", "The file is not a Jupyter notebook of version 4."),
    "deep.ipynb": (b"[" * 100_000, "The file is not a Jupyter notebook"),
    "old.ipynb": (b'{"worksheets": [], "nbformat": 3}', "not a Jupyter notebook of version 4"),
    "picture.png": (b"\x89PNG\r\n\xff", "it is not text in UTF-8"),
    "prose.ipynb": (notebook().encode(), "has no code cell"),
    os.fsdecode(b"no-\xff-text.ipynb"): (b"", "The file is empty."),
}
"""Files that are not notebooks, and a part of the remark on each."""

WRONG_IN = []
"""Wrong steps by notebook, each with at most one version of a step: name by step."""
for name, (step, _, _) in WRONG.items():
    place = next((place for place in WRONG_IN if step not in place), {})
    if not place:
        WRONG_IN.append(place)
    place[step] = name

if platform.machine() != "x86_64":
    KINDS = {
        kind: {name: body for name, body in bodies.items() if "syscall(" not in body}
        for kind, bodies in KINDS.items()
    }


class Surroundings:
    """A folder of submissions, and the files and sockets that no notebook may access."""

    def __init__(self, around):
        self.around = around
        self.folder, self.secret, self.canary = (
            around / name for name in ("handed in", "secret.txt", "teacher.txt")
        )
        self.folder.mkdir()
        self.secret.write_text(SECRET, encoding="utf-8")
        self.canary.write_text("the teacher's", encoding="utf-8")
        kinds = (socket.AF_INET, socket.SOCK_STREAM), (socket.AF_INET, socket.SOCK_DGRAM)
        self.listening = [socket.socket(*kind) for kind in kinds]
        self.listening[0].bind(("127.0.0.1", 0))
        self.port = self.listening[0].getsockname()[1]
        self.listening[1].bind(("127.0.0.1", self.port))
        self.unix = str(Path(os.path.relpath(around)) / "u")
        for name in (self.unix, f"\0{around / 'u'}"):
            self.listening.append(socket.socket(socket.AF_UNIX))
            self.listening[-1].bind(name)
        for each in self.listening:
            if each.type == socket.SOCK_STREAM:
                each.listen()
            each.setblocking(False)

    def set_up(self):
        """Return a cell that tells a hostile notebook the paths of all targets."""
        mate = self.folder / "right-loops.ipynb"
        return (
            "import os\nimport numpy as np\n"
            f"secret, folder, classmate = {str(self.secret)!r}, {str(self.folder)!r}, {str(mate)!r}"
            f"\ncanary, package, port = {str(self.canary)!r}, {str(ROOT / 'mha')!r}, {self.port}\n"
            f"unix = {str(self.around / 'u')!r}\n"
        )

    def fill(self):
        """Write all submissions into the folder."""
        notebooks = STYLES | {"=SUM(A1)": notebook(STUBBORN, STUBBORN + "\n1")}
        for i, names in enumerate(WRONG_IN):
            steps = {step: WRONG[name][1] for step, name in names.items()}
            notebooks[f"wrong-{i}"] = filled_notebook(**steps)
        for name, cells in CHEATS.items():
            own = [cell.replace("{package}", str(ROOT / "mha")) for cell in cells]
            notebooks[name] = notebook(*own)
        for kind, bodies in KINDS.items():
            notebooks[f"hostile-{kind}"] = notebook(self.set_up(), *map(attempt, bodies.values()))
        for name, cells in DISRUPTIVE.items():
            notebooks[f"disruptive-{name}"] = notebook(*cells)
        moodle = "Emmy Noether_17_assignsubmission_file"
        files = {
            f"{moodle}/one/a.ipynb": filled_notebook(),
            "two/a.ipynb": filled_notebook(),
            "two/b.ipynb": "{}",
        }
        files |= {f"{name}.ipynb": text for name, text in notebooks.items()} | {".DS_Store": ""}
        for name, text in files.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_text(text, encoding="utf-8")
        for name, (contents, _) in ODD.items():
            (self.folder / name).write_bytes(contents)
        (self.folder / "nobody").mkdir()
        (self.folder / "link-to-secret.ipynb").symlink_to(self.secret)
        (self.folder / "link-to-mate.ipynb").symlink_to(self.folder / "right-loops.ipynb")
        (self.folder / "link-to-folder").symlink_to(self.folder / moodle)
        (self.folder / "link-inside").mkdir()
        (self.folder / "link-inside" / "a.ipynb").symlink_to(self.folder / "right-loops.ipynb")
        os.mkfifo(self.folder / "pipe.ipynb")


@pytest.fixture(scope="module")
def surroundings(tmp_path_factory):
    """Grade the folder, and return its surroundings."""
    around = Surroundings(tmp_path_factory.mktemp("week 1"))
    around.fill()
    around.files = snapshot(around.around)
    listed = around.around / "class.csv"
    listed.write_text("name,id\nEmmy Noether,e17\nSofja Kowalewskaja,s1\n", encoding="utf-8")
    secret = str(around.secret)
    printed = io.StringIO()
    with redirect_stdout(printed):
        main([str(around.folder), "--class", str(listed), "--secret", secret, "--seconds", "4"])
    around.printed = printed.getvalue()
    yield around
    for each in around.listening:
        each.close()


@pytest.fixture(scope="module")
def graded(surroundings):
    """Return the rows of the table by file name, each with the text of its report."""
    target = surroundings.around / "handed in-graded"
    rows = table(target)
    for row in rows:
        row["text"] = (target / "reports" / row["report"]).read_text(encoding="utf-8")
    return {row["file"].removeprefix("'").removesuffix(".ipynb"): row for row in rows}


def table(target):
    """Return the rows of the table of grades in a folder."""
    with (target / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def snapshot(folder):
    """Return the modification time and the contents of each file below a folder."""
    return {
        path: (path.lstat().st_mtime_ns, path.is_file() and path.read_bytes())
        for path in folder.rglob("*")
    }


def test_students_without_a_notebook_are_not_counted_as_graded(surroundings, graded):
    rows = table(surroundings.around / "handed in-graded")
    without = [row for row in rows if not row["file"]]
    assert without
    counted = f"Graded: {len(rows) - len(without)}; without a notebook: {len(without)}."
    assert counted in surroundings.printed
    for row in without:
        assert (row["points"], row["ran"]) == ("0", "")
    assert "0 of 8 points, no notebook." in graded[""]["text"]


# ---- Right, wrong and cheating ----


@pytest.mark.parametrize("name", STYLES)
def test_a_right_notebook_has_all_points_in_any_style(graded, name):
    row = graded[name]
    assert [step.name for step in STEPS if row[step.name] != "1"] == [], row
    assert (row["points"], row["of"], row["ran"]) == ("8", "8", "in a sandbox")


@pytest.mark.parametrize("place", range(len(WRONG_IN)))
def test_a_wrong_step_costs_one_point_and_is_explained(graded, place):
    row, names = graded[f"wrong-{place}"], WRONG_IN[place]
    assert {step.name for step in STEPS if row[step.name] != "1"} == set(names)
    for step, name in names.items():
        words = row[f"{step}, in words"]
        assert words.startswith("Not yet: ")
        assert WRONG[name][2] in words
        assert words.partition('"')[0] in row["text"]
        found, _, wanted = words.partition(" is wanted")[0].rpartition(", ")
        assert not found.endswith(f" {wanted}"), words


@pytest.mark.parametrize("name", CHEATS)
def test_a_cheating_notebook_has_no_point(graded, name):
    assert graded[name]["points"] == "0", graded[name]


def test_imports_that_no_step_needs_are_named(graded):
    assert graded["imports-reference"]["look"].endswith('It imports "mha"')
    assert '"sys, mha"' in graded["puts-mha-back"]["look"]
    of_none = "The name of the file matches no student in the list."
    for name in ("right-as-asked", "right-einsum", "wrong-0"):
        assert graded[name]["look"] == of_none


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        ("import numpy as np, math\nfrom numpy import exp\nfrom math import inf", []),
        ("from mha.practice.notebook_steps import check", []),
        ("from mha.practice.steps import check", []),
        ("from mha.practice.notebook_steps import check, STEPS_BY_NAME", ["mha"]),
        ("import numpy as np, os\nx = 1; import socket", ["os", "socket"]),
        ("if True: import ctypes.util as c, mmap", ["ctypes", "mmap"]),
        ("__import__('os')", ["__import__"]),
        ("# import nothing else\nimportant = 1", []),
    ],
)
def test_modules_that_a_cell_imports_openly(cell, names):
    assert find_imports([cell]) == names


# ---- Hostile ----


@pytest.mark.parametrize(
    ("kind", "number"),
    [
        pytest.param(kind, number, id=f"{kind}-{name}")
        for kind, bodies in KINDS.items()
        for number, name in enumerate(bodies, 2)
    ],
)
def test_no_attempt_reaches_anything(graded, kind, number):
    row = graded[f"hostile-{kind}"]
    assert "code cell 1 " not in row["notebook"].casefold()
    remark = re.search(rf"Code cell {number} (.*?)(?=Code cell \d|$)", row["notebook"])
    assert remark is None or REACHED not in remark[1]
    assert row["points"] == "0"


@pytest.mark.parametrize("name", DISRUPTIVE)
def test_a_disruptive_notebook_is_a_short_row_without_points(graded, name):
    row = graded[f"disruptive-{name}"]
    assert row["points"] == "0"
    assert REACHED not in row["text"]
    assert all(len(cell) < 2000 for cell in row.values())
    assert all(cell.isprintable() for name, cell in row.items() if name != "text")
    outside_code = re.sub(r"`[^`\n]*`", "", row["text"])
    assert len(re.findall("points", outside_code)) == 1
    assert "0 of 8 points, in a sandbox." in outside_code
    assert "Right" not in outside_code
    assert row["text"].isascii() or "\u202e" not in row["text"]


def test_nothing_around_a_hostile_notebook_is_read_changed_or_reached(surroundings, graded):
    for row in graded.values():
        assert SECRET not in "".join(row.values())
    for name, row in graded.items():
        if name.startswith(("hostile", "disruptive")):
            assert "right-loops" not in "".join(row.values())
    outside = {
        path for path in snapshot(surroundings.around) if "handed in-graded" not in str(path)
    }
    assert outside == {*surroundings.files, surroundings.around / "class.csv"}
    now = snapshot(surroundings.around)
    changed = [
        path
        for path in surroundings.files
        if path.is_file() and now[path] != surroundings.files[path]
    ]
    assert changed == []
    for each in surroundings.listening:
        with pytest.raises(BlockingIOError):
            each.recv(1) if each.type == socket.SOCK_DGRAM else each.accept()


def family(pid):
    """Return the descendants of a process."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, fields = path.read_text().rsplit(")", 1)
        except OSError:
            continue
        if fields.split()[0] != "Z":
            parents[int(name.split()[0])] = int(fields.split()[1])
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def test_no_process_is_left(graded):
    assert [pid for pid in family(os.getpid()) if RUNS in cmdline(pid)] == []


def cmdline(pid):
    """Return the command line of a process, empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def test_everything_ends_with_a_killed_grader(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    asleep = "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\n" + STUBBORN
    (folder / "a.ipynb").write_text(notebook(asleep), encoding="utf-8")
    command = [sys.executable, "-m", "mha.grade", str(folder), "--seconds", "99"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as grader:
        until = time.monotonic() + 60
        while not any(RUNS in cmdline(pid) for pid in family(grader.pid)):
            assert time.monotonic() < until
            time.sleep(0.05)
        time.sleep(0.5)
        below = family(grader.pid)
        os.kill(grader.pid, signal.SIGKILL)
        grader.wait()
    while any(RUNS in cmdline(pid) for pid in below):
        assert time.monotonic() < until, "a process of the sandbox outlives the grader"
        time.sleep(0.05)


# ---- Files and students ----


@pytest.mark.parametrize("name", ODD)
def test_a_file_that_is_no_notebook_is_a_row(graded, name):
    row = graded[in_one_line(name).removesuffix(".ipynb")]
    assert row["points"] == "0"
    assert ODD[name][1] in row["notebook"]
    assert row["notebook"] in row["text"]


def test_a_folder_of_many_levels_is_refused_alone(tmp_path, monkeypatch):
    deep = tmp_path / "deep"
    deep.mkdir()
    monkeypatch.chdir(deep)
    for _ in range(1900):
        os.mkdir("d")
        os.chdir("d")
    # Since Python 3.12, folders are walked without recursion.
    with pytest.raises(ValueError, match=r"has too many levels of folders|has no notebook"):
        read_cells(deep)
    while Path.cwd() != deep:  # pytest could not delete it
        os.chdir("..")
        os.rmdir("d")


@pytest.mark.parametrize("name", ["link-to-secret", "link-to-mate", "link-to-folder", "pipe"])
def test_no_link_is_followed(graded, name):
    assert graded[name]["notebook"].startswith("The submission is a link or a device")


def test_no_link_in_a_folder_is_followed(graded):
    assert graded["link-inside"]["notebook"].startswith("The submission is a link or a device")


def test_a_folder_is_a_submission_and_a_missing_student_is_a_row(graded):
    emmy = graded["Emmy Noether_17_assignsubmission_file"]
    assert (emmy["student"], emmy["id"], emmy["points"]) == ("Emmy Noether", "e17", "8")
    assert (
        graded["two"]["notebook"] == 'The folder has 2 notebooks; one is wanted. "a.ipynb, b.ipynb"'
    )
    assert graded["nobody"]["notebook"] == "The folder has no notebook; one is wanted."
    missing = graded[""]
    assert (missing["student"], missing["points"]) == ("Sofja Kowalewskaja", "0")
    assert missing["notebook"] == "Nothing was handed in."


def found(folder, students, *names):
    """Return the submission of each file by its name, for a list of students."""
    listed = [Student(n, name, id_) for n, (name, id_) in enumerate(students, 1)]
    for name in names:
        (folder / name).touch()
    return {each.path and each.path.name: each for each in find_submissions(folder, listed)}


EMMY, SOFJA, BO = ("Emmy Noether", "e1"), ("Sofja Kowalewskaja", "s1"), ("Bo Ek", "1234567")


@pytest.mark.parametrize(
    ("name", "student"),
    [
        ("e1.ipynb", "Emmy Noether"),
        ("Emmy Noether.ipynb", "Emmy Noether"),
        ("weights_emmy-noether.ipynb", "Emmy Noether"),
        ("Bo Ek_9_assignsubmission_file_a.ipynb", "Bo Ek"),
        ("1234567-final.ipynb", "Bo Ek"),
        ("e17-weights.ipynb", None),
        ("s1-weights-final.ipynb", None),
        ("e1 s1.ipynb", None),
        ("Emmy Noether and Sofja Kowalewskaja.ipynb", None),
        ("12345678.ipynb", None),
    ],
)
def test_a_name_that_resembles_a_student_s_is_reported_and_not_guessed(tmp_path, name, student):
    one = found(tmp_path, [EMMY, SOFJA, BO], name)[name]
    assert one.student == (student or name.removesuffix(".ipynb"))
    assert bool(one.notes) == (student is None)
    if student is None:
        assert one.id == ""
        assert one.notes[0].sentence.startswith("The name of the file resembles")


def test_two_submissions_of_one_student_are_both_rows_for_a_person(tmp_path):
    names = "Emmy Noether.ipynb", "e1.ipynb"
    both = found(tmp_path, [EMMY], *names)
    assert set(both) == set(names)
    for one in both.values():
        assert one.student == "Emmy Noether"
        assert one.notes[0].sentence == "This student has 2 submissions; choose one:"
        assert one.notes[0].quoted == "e1.ipynb; Emmy Noether.ipynb"


def test_a_large_file_is_refused_before_it_is_read_whole(tmp_path):
    with (tmp_path / "a.ipynb").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(ValueError, match="larger than 20 MB"):
        read_cells(tmp_path / "a.ipynb")


def test_a_cell_that_never_ends_is_named_and_costs_only_what_it_hides(graded):
    assert "does not end within 4 seconds" in graded["right-but-loops"]["notebook"]
    assert "ends the process" in graded["right-but-exits"]["notebook"]
    assert "MemoryError" in graded["right-but-eats"]["notebook"]
    stubborn = graded["=SUM(A1)"]
    assert (stubborn["student"], stubborn["points"]) == ("'=SUM(A1)", "0")
    assert stubborn["notebook"].count("does not end") == 2


# ---- The command ----


def test_the_same_secret_draws_the_same_numbers_for_the_same_notebook(tmp_path):
    folder, tables = tmp_path / "in", []
    folder.mkdir()
    wrong = filled_notebook(scale=WRONG["by-d-k"][1])
    (folder / "a.ipynb").write_text(wrong, encoding="utf-8")
    (folder / "b.ipynb").write_text(wrong.replace("seed=1", "seed=2"), encoding="utf-8")
    for i, words in enumerate(["a secret of one", "a secret of one", "a secret of two"]):
        secret, target = tmp_path / f"secret{i}", tmp_path / f"out{i}"
        secret.write_text(f"{words} of thirty-two letters", encoding="utf-8")
        main([str(folder), "--secret", str(secret), "--to", str(target)])
        tables.append(table(target))
    assert tables[0] == tables[1] != tables[2]
    first, second = (row["scale, in words"] for row in tables[0])
    assert first != second


def refused(capsys, *arguments):
    """Return the error message with which the command exits."""
    with pytest.raises(SystemExit) as stopped:
        main([str(each) for each in arguments])
    assert stopped.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("python -m mha.grade: ")
    assert said.count("\n") == 1
    return said.partition(": ")[2].strip()


def test_a_wrong_command_is_refused_in_a_sentence(tmp_path, capsys):
    folder, short = tmp_path / "in", tmp_path / "short"
    assert refused(capsys, folder) == f"{folder} is no folder"
    folder.mkdir()
    assert refused(capsys, folder) == f"{folder} holds no submission"
    assert "--seconds is 0; 1 to 600 is wanted" in refused(capsys, folder, "--seconds", 0)
    assert "among the submissions" in refused(capsys, folder, "--to", folder / "out")
    short.write_text("abc\n", encoding="utf-8")
    assert "has 3 letters" in refused(capsys, folder, "--secret", short)
    assert "No such file" in refused(capsys, folder, "--secret", tmp_path / "none")
    assert "cannot be read" in refused(capsys, folder, "--class", tmp_path / "none")


@pytest.mark.parametrize("searched", [[], [""], ["."]])
def test_no_module_is_imported_from_the_submissions(tmp_path, searched):
    (tmp_path / "a.ipynb").write_text(filled_notebook(), encoding="utf-8")
    (tmp_path / "week").mkdir()
    others = filter(None, sys.path)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([*searched, *others])}
    for folder in (tmp_path, tmp_path / "week"):
        for name in ("numpy", "argparse", "csv", "multiprocessing", "pathlib", "secrets"):
            text = f"raise SystemExit('a module of a student ran: {name}')"
            (folder / f"{name}.py").write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "mha.grade", str(tmp_path)]
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout) == (2, "")
        said = "python -m mha.grade: the command is started among the submissions"
        assert done.stderr.startswith(said)
    assert sorted(path.name for path in tmp_path.parent.glob(f"{tmp_path.name}*")) == [
        tmp_path.name
    ]


def test_an_interrupted_grader_stops_and_writes_nothing(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("a.ipynb", "b.ipynb"):
        (folder / name).write_text(notebook(STUBBORN), encoding="utf-8")
    program = "import signal, sys; from mha.grade.__main__ import main;"
    program += "signal.signal(signal.SIGINT, signal.default_int_handler); main(sys.argv[1:])"
    command = [sys.executable, "-c", program, str(folder), "--seconds", "99", "--at-once", "1"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as grader:
        until = time.monotonic() + 60
        while not any(RUNS in cmdline(pid) for pid in family(grader.pid)):
            assert time.monotonic() < until
            time.sleep(0.05)
        below = family(grader.pid)
        grader.send_signal(signal.SIGINT)
        assert grader.communicate(timeout=30)[1] == (
            "python -m mha.grade: stopped before a table was written\n"
        )
    assert grader.returncode == 130
    assert not (tmp_path / "in-graded").exists()
    while any(RUNS in cmdline(pid) for pid in below):
        assert time.monotonic() < until, "a process of the sandbox outlives the grader"
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("bwrap", "reason"),
    [
        (None, "bubblewrap is missing (sudo apt-get install bubblewrap)"),
        ("echo 'bwrap: No permissions to create new namespace' >&2; exit 1", "No permissions"),
        ("exit 7", "bwrap ends with 7"),
        ("exit 0", "bwrap ends with 0, and starts no Python"),
        ('while [ "$1" != -- ]; do shift; done; shift; exec "$@"', "files are visible in it"),
    ],
)
def test_without_a_sandbox_nothing_runs_unless_it_is_trusted(
    tmp_path, capsys, monkeypatch, bwrap, reason
):
    folder, programs, trace = (tmp_path / name for name in ("in", "bin", "it ran"))
    for each in (folder, programs):
        each.mkdir()
    if bwrap is not None:
        (programs / "bwrap").write_text(f"#!/bin/sh\n{bwrap}\n", encoding="utf-8")
        (programs / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    touches = notebook(f"open({str(trace)!r}, 'w')", *read_cells_of(filled_notebook()))
    (folder / "a.ipynb").write_text(touches, encoding="utf-8")
    said = refused(capsys, folder)
    assert reason in said
    assert "docker run --rm --network none" in said
    assert not trace.exists()
    main([str(folder), "--trust-submissions"])
    assert "notebooks run without a sandbox (--trust-submissions)" in capsys.readouterr().err
    assert trace.exists()
    (row,) = table(tmp_path / "in-graded")
    assert (row["points"], row["ran"]) == ("8", "without a sandbox (--trust-submissions)")


def read_cells_of(text):
    """Return the cells of a notebook given as text."""
    import json

    return ["".join(cell["source"]) for cell in json.loads(text)["cells"]]


def test_a_table_that_is_there_is_overwritten_by_force_alone(tmp_path, capsys):
    folder, target = tmp_path / "in", tmp_path / "in-graded"
    folder.mkdir()
    (folder / "a.ipynb").touch()
    main([str(folder)])
    (target / "grades.csv").write_text("with marks of mine", encoding="utf-8")
    assert "is there already" in refused(capsys, folder)
    assert (target / "grades.csv").read_text(encoding="utf-8") == "with marks of mine"
    stale = target / "reports" / "002-gone.md"
    stale.touch()
    main([str(folder), "--force"])
    assert not stale.exists()
    assert table(target)[0]["notebook"] == "The file is empty."


def test_files_below_the_environment_are_hidden_and_numpy_is_enough(wheel_only):
    library = wheel_only.parents[1] / "lib"
    folder, secret = library / "in", library / "secret.txt"
    folder.mkdir()
    secret.write_text(SECRET, encoding="utf-8")
    for name in ("right-colab", "right-loops"):
        (folder / f"{name}.ipynb").write_text(STYLES[name], encoding="utf-8")
    (package,) = library.glob("python*/site-packages/mha")
    seen = [
        f"import os, sys\nassert sys.prefix == {str(wheel_only.parents[1])!r}",
        f"assert os.listdir({str(package)!r}) == os.listdir({str(folder)!r}) == []",
        f"try: assert not open({str(secret)!r}).read()\nexcept PermissionError: pass",
        "[sys.modules.pop(n) for n in list(sys.modules) if n.split('.')[0] == 'mha']",
        "from mha.core.softmax import softmax as weights",
    ]
    (folder / "z.ipynb").write_text(notebook(*seen), encoding="utf-8")
    command = ("-W", "error", "-m", "mha.grade", folder, "--secret", secret)
    run(wheel_only, *command, cwd=library)
    *right, hidden = table(library / "in-graded")
    assert [row["points"] for row in right] == ["8", "8"]
    assert hidden["points"] == "0"
    error = "stops with an error. \"ModuleNotFoundError: No module named 'mha.core'\""
    assert hidden["notebook"] == f"Code cell 5 {error}"


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_the_filter_refuses_its_system_calls_and_no_others(machine):
    program = list(struct.iter_unpack("HBBI", seccomp_program(machine)))
    which = list(ARCHITECTURES).index(machine)
    refused = {numbers[which] for numbers in REFUSED.values() if which < len(numbers)}
    allow, eperm, kill = 0x7FFF0000, 0x00050001, 0x80000000
    for number in range(500):
        for command in (0, SET_LEASE):
            given = filtered(program, ARCHITECTURES[machine], number, command)
            is_lease = (number, command) == (FCNTL[which], SET_LEASE)
            assert given == (eperm if number in refused or is_lease else allow)
    assert filtered(program, 0x40000003, 2) == filtered(program, 1, 2) == kill  # i386, another
    assert filtered(program, ARCHITECTURES[machine], 0x40000039) == kill


def filtered(program, architecture, number, command=0):
    """Return the result of a packet filter for a system call and its second argument."""
    at, value = 0, 0
    while True:
        code, if_true, if_false, operand = program[at]
        at += 1
        if code == 0x06:
            return operand
        if code == 0x20:
            value = {0: number, 4: architecture, 24: command}[operand]
        else:
            holds = value == operand if code == 0x15 else value >= operand
            at += if_true if holds else if_false
