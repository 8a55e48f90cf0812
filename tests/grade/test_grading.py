"""A folder of notebooks is graded: each right, wrong and cheating one, and what is no notebook."""

import csv
import os
from pathlib import Path

import pytest
from handed_in import CHEATS, STYLES, WRONG, filled, notebook
from wheel_only import run

from mha.command_line import in_one_line
from mha.grade.__main__ import main
from mha.grade.submissions import submissions
from mha.practice.steps import STEPS
from mha.practice.worksheets import Student

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
STUBBORN = "while True:\n    try:\n        while True: pass\n    except BaseException: pass"

ODD = {
    "empty.ipynb": (b"", "empty.ipynb is empty"),
    "text.ipynb": (b"def scale(): pass", "text.ipynb is not a notebook of Jupyter"),
    "deep.ipynb": (b"[" * 100_000, "is not a notebook of Jupyter"),
    "old.ipynb": (b'{"worksheets": [], "nbformat": 3}', "is not a notebook of Jupyter, version 4"),
    "picture.png": (b"\x89PNG\r\n\xff", "its bytes are no text"),
    "prose.ipynb": (notebook().encode(), "has no cell with code"),
    os.fsdecode(b"no-\xff-text.ipynb"): (b"", r"no-\udcff-text.ipynb is empty"),
}
"""Files that are no notebook, and what is said of them."""

WRONG_IN = []
"""Wrong steps by notebook, as many in one as are of different steps: name by step."""
for name, (step, _, _) in WRONG.items():
    place = next((place for place in WRONG_IN if step not in place), {})
    if not place:
        WRONG_IN.append(place)
    place[step] = name


def put(folder, secret):
    """Put everything that comes back into a folder."""
    notebooks = STYLES | {"=SUM(A1)": notebook(STUBBORN, STUBBORN + "\n1")}
    for i, names in enumerate(WRONG_IN):
        notebooks[f"wrong-{i}"] = filled(**{step: WRONG[name][1] for step, name in names.items()})
    places = {"{package}": ROOT / "mha", "{folder}": folder, "{secret}": secret}
    for name, cells in CHEATS.items():
        named = [cell.replace("{{", "{").replace("}}", "}") for cell in cells]
        for place, path in places.items():
            named = [cell.replace(place, str(path)) for cell in named]
        notebooks[name] = notebook(*named)
    moodle = "Emmy Noether_17_assignsubmission_file"
    files = {f"{moodle}/one/a.ipynb": filled(), "two/a.ipynb": filled(), "two/b.ipynb": filled()}
    files |= {f"{name}.ipynb": text for name, text in notebooks.items()} | {".DS_Store": ""}
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    for name, (contents, _) in ODD.items():
        (folder / name).write_bytes(contents)
    (folder / "nobody").mkdir()


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Grade the folder; return its rows by their files' names."""
    around = tmp_path_factory.mktemp("week 1")
    folder, secret, listed = (around / name for name in ("handed in", "secret.txt", "class.csv"))
    folder.mkdir()
    secret.write_text("nobody guesses this, nor tries it out", encoding="utf-8")
    listed.write_text("name,id\nEmmy Noether,e17\nSofja Kowalewskaja,s1\n", encoding="utf-8")
    put(folder, secret)
    main([str(folder), "--class", str(listed), "--secret", str(secret), "--seconds", "4"])
    rows = table(around / "handed in-graded")
    for row in rows:
        report = around / "handed in-graded" / "reports" / row["report"]
        row["text"] = report.read_text(encoding="utf-8")
    return {row["file"].removeprefix("'").removesuffix(".ipynb"): row for row in rows}


def table(target):
    """Return the rows of the table of grades in a folder."""
    with (target / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", STYLES)
def test_what_is_right_has_all_points_in_any_style(graded, name):
    row = graded[name]
    assert [step.name for step in STEPS if row[step.name] != "1"] == [], row
    assert (row["points"], row["of"]) == ("8", "8")


@pytest.mark.parametrize("place", range(len(WRONG_IN)))
def test_what_is_wrong_costs_its_step_alone_and_says_why(graded, place):
    row, names = graded[f"wrong-{place}"], WRONG_IN[place]
    assert {step.name for step in STEPS if row[step.name] != "1"} == set(names)
    for step, name in names.items():
        words = row[f"{step}, in words"]
        assert words.startswith("Not yet: ")
        assert WRONG[name][2] in words
        assert words in row["text"]
        found, _, wanted = words.partition(" is wanted")[0].rpartition(", ")
        assert not found.endswith(f" {wanted}"), words


@pytest.mark.parametrize("name", CHEATS)
def test_who_cheats_has_no_point(graded, name):
    assert graded[name]["points"] == "0", graded[name]


def test_what_a_person_should_look_at_is_named(graded):
    assert graded["imports-reference"]["look"].startswith("from mha.practice.steps import BY_NAME")
    assert graded["patches-numpy"]["look"].startswith("np.isclose")
    assert "sys.modules" in graded["puts-mha-back"]["look"]
    assert {graded[name]["look"] for name in ("right-as-asked", "right-einsum", "wrong-0")} == {""}
    for name in ("reads-the-package", "reads-another"):
        assert "this file is closed" in graded[name]["notebook"]
    assert "starts no programs" in graded["starts-python"]["weights, in words"]


@pytest.mark.parametrize("name", ODD)
def test_what_is_no_notebook_is_a_row(graded, name):
    row = graded[in_one_line(name).removesuffix(".ipynb")]
    assert row["points"] == "0"
    assert ODD[name][1] in row["notebook"]
    assert row["notebook"] in row["text"]


def test_a_folder_is_a_submission_and_who_is_missing_is_a_row(graded):
    emmy = graded["Emmy Noether_17_assignsubmission_file"]
    assert (emmy["student"], emmy["id"], emmy["points"]) == ("Emmy Noether", "e17", "8")
    assert graded["two"]["notebook"] == "two has 2 notebooks (a.ipynb, b.ipynb); one is wanted"
    assert graded["nobody"]["notebook"] == "nobody has no notebook; one is wanted"
    missing = graded[""]
    assert (missing["student"], missing["points"]) == ("Sofja Kowalewskaja", "0")
    assert missing["notebook"] == "nothing was handed in"


def test_a_part_of_a_name_is_nobody_s(tmp_path):
    for name in ("e17-weights", "Emmy Klein_18_file"):
        (tmp_path / name).mkdir()
    found = submissions(tmp_path, [Student(1, "Emmy Noether", "e17"), Student(2, "Bo Ek")])
    assert [each.student for each in found] == ["Emmy Noether", "Emmy Klein_18_file", "Bo Ek"]


def test_what_never_ends_is_told_and_costs_what_it_hides_alone(graded):
    assert "does not end within 4 seconds" in graded["right-but-loops"]["notebook"]
    assert "ends the process" in graded["right-but-exits"]["notebook"]
    assert "MemoryError" in graded["right-but-eats"]["notebook"]
    stubborn = graded["=SUM(A1)"]
    assert (stubborn["student"], stubborn["points"]) == ("'=SUM(A1)", "0")
    assert stubborn["notebook"].count("does not end") == 2


# ---- The command ----


def test_the_same_secret_draws_the_same_numbers(tmp_path, capsys):
    folder, tables = tmp_path / "in", []
    folder.mkdir()
    (folder / "a.ipynb").write_text(filled(scale=WRONG["by-d-k"][1]), encoding="utf-8")
    for i, words in enumerate(["a secret of one", "a secret of one", "a secret of two"]):
        secret, target = tmp_path / f"secret{i}", tmp_path / f"out{i}"
        secret.write_text(f"{words} of thirty-two letters", encoding="utf-8")
        main([str(folder), "--secret", str(secret), "--to", str(target)])
        tables.append(table(target))
    assert tables[0] == tables[1] != tables[2]
    assert "Submissions graded: 1. The table is" in capsys.readouterr().out


def refused(capsys, *arguments):
    """Return the sentence with which the command stops."""
    with pytest.raises(SystemExit) as stopped:
        main([str(each) for each in arguments])
    assert stopped.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("python -m mha.grade: ")
    assert said.count("\n") == 1
    return said.partition(": ")[2].strip()


def test_what_cannot_be_graded_is_refused_in_a_sentence(tmp_path, capsys):
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
    assert table(target)[0]["notebook"] == "a.ipynb is empty"


def test_numpy_is_enough_to_grade_and_magics_are_left_out(wheel_only, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("right-colab", "right-loops"):
        (folder / f"{name}.ipynb").write_text(STYLES[name], encoding="utf-8")
    run(wheel_only, "-W", "error", "-m", "mha.grade", folder, cwd=tmp_path)
    assert [row["points"] for row in table(tmp_path / "in-graded")] == ["8", "8"]
