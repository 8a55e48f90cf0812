"""A folder of notebooks is graded: each right, wrong and cheating one, and what is no notebook."""

import csv
import os
from pathlib import Path

import pytest
from handed_in import CHEATS, STYLES, WRONG, filled, notebook

from mha.command_line import in_one_line
from mha.grade.__main__ import main
from mha.practice.steps import STEPS

ROOT = Path(__file__).resolve().parents[2]
STUBBORN = "while True:\n    try:\n        while True: pass\n    except BaseException: pass"

ODD = {
    "empty.ipynb": (b"", "empty.ipynb is empty"),
    "text.ipynb": (b"def scale(): pass", "text.ipynb is not a notebook of Jupyter"),
    "list.ipynb": (b"[1, 2]", "is not a notebook of Jupyter"),
    "deep.ipynb": (b"[" * 100_000, "is not a notebook of Jupyter"),
    "old.ipynb": (b'{"worksheets": [], "nbformat": 3}', "is not a notebook of Jupyter, version 4"),
    "picture.png": (b"\x89PNG\r\n\xff", "its bytes are no text"),
    "prose.ipynb": (notebook().encode(), "has no cell with code"),
    os.fsdecode(b"no-\xff-text.ipynb"): (b"", r"no-\udcff-text.ipynb is empty"),
}
"""Files that are no notebook, and what is said of them."""

PLACE = {
    name: sum(step == other for other, _, _ in list(WRONG.values())[:i])
    for i, (name, (step, _, _)) in enumerate(WRONG.items())
}
"""In which notebook each wrong step is: none has two of one step."""
WRONG_IN = [
    {WRONG[name][0]: WRONG[name][1] for name in WRONG if PLACE[name] == place}
    for place in range(1 + max(PLACE.values()))
]


def put(folder):
    """Put everything that comes back into a folder."""
    secret = folder.parent / "secret.txt"
    places = {"package": ROOT / "mha", "folder": folder, "secret": secret}
    secret.write_text("nobody guesses this, nor tries it out", encoding="utf-8")
    notebooks = {f"wrong-{place}": filled(**steps) for place, steps in enumerate(WRONG_IN)}
    for name, cells in CHEATS.items():
        named = [cell.replace("{{", "{").replace("}}", "}") for cell in cells]
        for place, path in places.items():
            named = [cell.replace(f"{{{place}}}", str(path)) for cell in named]
        notebooks[name] = notebook(*named)
    notebooks |= STYLES | {"=SUM(A1)": notebook(STUBBORN, STUBBORN + "\n1")}
    for name, text in notebooks.items():
        (folder / f"{name}.ipynb").write_text(text, encoding="utf-8")
    for name, (contents, _) in ODD.items():
        (folder / name).write_bytes(contents)
    (folder / "Emmy Noether_17_assignsubmission_file").mkdir()
    moodle = folder / "Emmy Noether_17_assignsubmission_file" / "work" / "a.ipynb"
    moodle.parent.mkdir()
    moodle.write_text(filled(), encoding="utf-8")
    (folder / "two").mkdir()
    for name in ("a", "b"):
        (folder / "two" / f"{name}.ipynb").write_text(filled(), encoding="utf-8")
    (folder / "nobody").mkdir()
    (folder / ".DS_Store").write_bytes(b"")
    return secret


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Grade the folder; return its rows by their files' names."""
    folder = tmp_path_factory.mktemp("week 1") / "handed in"
    folder.mkdir()
    secret, listed = put(folder), folder.parent / "class.csv"
    listed.write_text("name,id\nEmmy Noether,e17\nSofja Kowalewskaja,s1\n", encoding="utf-8")
    main([str(folder), "--class", str(listed), "--secret", str(secret), "--seconds", "4"])
    target = folder.with_name("handed in-graded")
    with (target / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["text"] = (target / "reports" / row["report"]).read_text(encoding="utf-8")
    return {row["file"].removeprefix("'").removesuffix(".ipynb"): row for row in rows}


def lost(row):
    """Return the steps that have no point."""
    return [step.name for step in STEPS if row[step.name] != "1"]


pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", STYLES)
def test_what_is_right_has_all_points_in_any_style(graded, name):
    row = graded[name]
    assert lost(row) == [], row
    assert (row["points"], row["of"]) == ("8", "8")


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_costs_its_step_alone_and_says_why(graded, name):
    row, (step, _, said) = graded[f"wrong-{PLACE[name]}"], WRONG[name]
    assert set(lost(row)) == set(WRONG_IN[PLACE[name]])
    words = row[f"{step}, in words"]
    assert words.startswith("Not yet: ")
    assert said in words
    assert words in row["text"]
    found, _, wanted = words.partition(" is wanted")[0].rpartition(", ")
    assert not found.endswith(f" {wanted}"), words


@pytest.mark.parametrize("name", CHEATS)
def test_who_cheats_has_no_point(graded, name):
    assert graded[name]["points"] == "0", graded[name]


def test_what_a_person_should_look_at_is_named(graded):
    rows = graded
    assert rows["imports-reference"]["look"].startswith("from mha.practice.steps import BY_NAME")
    assert rows["patches-numpy"]["look"].startswith("np.isclose")
    assert "sys.modules" in rows["puts-mha-back"]["look"]
    assert {rows[name]["look"] for name in ("right-as-asked", "right-einsum", "wrong-0")} == {""}
    told = rows["reads-the-package"]["notebook"], rows["reads-another"]["notebook"]
    assert all("this file is closed" in text for text in told)
    assert "starts no programs" in rows["starts-python"]["weights, in words"]


@pytest.mark.parametrize("name", ODD)
def test_what_is_no_notebook_is_a_row(graded, name):
    row = graded[in_one_line(name).removesuffix(".ipynb")]
    assert row["points"] == "0"
    assert ODD[name][1] in row["notebook"]
    assert row["notebook"] in row["text"]


def test_a_folder_is_a_submission_and_who_is_missing_is_a_row(graded):
    rows = graded
    emmy = rows["Emmy Noether_17_assignsubmission_file"]
    assert (emmy["student"], emmy["id"], emmy["points"]) == ("Emmy Noether", "e17", "8")
    assert rows["two"]["notebook"] == "two has 2 notebooks (a.ipynb, b.ipynb); one is wanted"
    assert rows["nobody"]["notebook"] == "nobody has no notebook; one is wanted"
    missing = rows[""]
    assert (missing["student"], missing["points"]) == ("Sofja Kowalewskaja", "0")
    assert missing["notebook"] == "nothing was handed in"


def test_what_never_ends_is_told_and_costs_what_it_hides_alone(graded):
    rows = graded
    assert "does not end within 4 seconds" in rows["right-but-loops"]["notebook"]
    assert "ends the process" in rows["right-but-exits"]["notebook"]
    assert "MemoryError" in rows["right-but-eats"]["notebook"]
    stubborn = rows["=SUM(A1)"]
    assert stubborn["student"] == "'=SUM(A1)"
    assert stubborn["notebook"].count("does not end") == 2
    assert stubborn["points"] == "0"


def test_the_same_secret_draws_the_same_numbers(tmp_path, capsys):
    folder, secrets = tmp_path / "in", [tmp_path / "one", tmp_path / "two"]
    folder.mkdir()
    (folder / "a.ipynb").write_text(filled(scale=WRONG["by-d-k"][1]), encoding="utf-8")
    for i, path in enumerate(secrets):
        path.write_text(f"secret number {i} of thirty-two letters", encoding="utf-8")
    tables = []
    for i, secret in enumerate([secrets[0], secrets[0], secrets[1]]):
        main([str(folder), "--secret", str(secret), "--to", str(tmp_path / f"out{i}")])
        tables.append((tmp_path / f"out{i}" / "grades.csv").read_text(encoding="utf-8"))
    assert tables[0] == tables[1] != tables[2]
    assert "Submissions graded: 1. The table is" in capsys.readouterr().out
