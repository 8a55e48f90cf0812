"""The audit's command: its table, its file, its errors."""

import json

import pytest

from mha.audit.__main__ import main
from mha.audit.report import verdicts
from mha.audit.sources import TITLES, numbers_from, source_names


def test_json_lists_every_verdict(tmp_path):
    file = tmp_path / "audit.json"
    main(["--json", str(file)])
    rows = json.loads(file.read_text(encoding="utf-8"))
    assert rows == verdicts(source_names())
    assert len(rows) == 1031


def test_the_table_on_the_command_line(capsys):
    main(["back-to-cats-slides"])
    out = capsys.readouterr().out
    assert out.startswith("Back to Cats (lecture slides)\n")
    (last,) = (line.split() for line in out.splitlines() if line.startswith("  all"))
    assert last == ["all", "133", "84", "115", "18", "18"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nope"], f"source is 'nope'; one of {', '.join(TITLES)} is wanted"),
        (["--jsno", "x"], "unrecognized arguments: --jsno"),
        (["--json", "none/a.json"],
         "none/a.json cannot be written (No such file or directory); a file is wanted"),
    ],
)  # fmt: skip
def test_bad_arguments_get_one_sentence(arguments, sentence, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match=r"^2$"):
        main(arguments)
    assert capsys.readouterr() == ("", f"python -m mha.audit: {sentence}\n")


@pytest.mark.parametrize("text", ["[", "[1]", '[{"line": 3}]'])
def test_a_corrupt_transcript_is_one_sentence(text, monkeypatch, capsys):
    read = lambda sources: numbers_from(*sources, text)  # noqa: E731
    monkeypatch.setattr("mha.audit.__main__.report", read)
    with pytest.raises(SystemExit, match=r"^2$"):
        main(["mha-tutorial"])
    said = capsys.readouterr().err
    assert said.startswith("python -m mha.audit: mha/audit/sources/mha-tutorial")
    assert said.count("\n") == 1
