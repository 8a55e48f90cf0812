"""The command that grades: what it refuses, and what it needs."""

import csv

import pytest
from handed_in import STYLES
from wheel_only import run

from mha.grade.__main__ import main


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
    assert "--at-once is 0" in refused(capsys, folder, "--at-once", 0)
    assert "among the submissions" in refused(capsys, folder, "--to", folder / "out")
    short.write_text("abc\n", encoding="utf-8")
    assert "has 3 letters" in refused(capsys, folder, "--secret", short)
    assert "No such file" in refused(capsys, folder, "--secret", tmp_path / "none")
    assert "cannot be read" in refused(capsys, folder, "--class", tmp_path / "none")


def test_a_table_that_is_there_is_overwritten_by_force_alone(tmp_path, capsys):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.ipynb").touch()
    main([str(tmp_path / "in")])
    table = tmp_path / "in-graded" / "grades.csv"
    table.write_text("with marks of mine", encoding="utf-8")
    assert "is there already" in refused(capsys, tmp_path / "in")
    assert table.read_text(encoding="utf-8") == "with marks of mine"
    stale = tmp_path / "in-graded" / "reports" / "002-gone.md"
    stale.touch()
    main([str(tmp_path / "in"), "--force"])
    assert not stale.exists()
    assert "a.ipynb is empty" in table.read_text(encoding="utf-8")


@pytest.mark.slow
def test_numpy_is_enough_to_grade_and_magics_are_left_out(wheel_only, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("right-as-asked", "right-loops"):
        (folder / f"{name}.ipynb").write_text(STYLES[name], encoding="utf-8")
    run(wheel_only, "-W", "error", "-m", "mha.grade", folder, cwd=tmp_path)
    with (tmp_path / "in-graded" / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        assert [row["points"] for row in csv.DictReader(file)] == ["8", "8"]
