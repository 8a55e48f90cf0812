"""The transcription: its notation, its errors, and its rules against the data."""

import json

import pytest
from helpers import raises

from mha.audit.sources import KINDS, TITLES
from mha.audit.sources import transcribe as command
from mha.audit.sources.transcribe import expand, transcribed

DOCUMENT = """Head 1
Q = [0.7, -1.3]
no number
K[0] = 5.0
K[1] = 7.0
so 0.7×5.0 + -1.3×7.0 = -5.6
as in GPT-3"""

RULES = {
    "prose": [["label", r"Head \d"], ["size", r"GPT-\d"], ["claim", r"\d"]],
    "parts": [
        {
            "example": "cat-sat",
            "sections": [{"lines": "1-5", "h": "2"}],
            "lines": {
                "/^Q = /": "input query.h.1.0-1",
                r"/^K\[\d\]/": "[i=0-1 label input key.h.3.i]",
                "/^Q = / +4": "copy [i=0-1 query.h.1.i key.h.3.i] derived scores.h.1.3",
            },
        }
    ],
    "damaged": [{"line": 4, "number": 2, "printed": "5.0", "intended": "3.0", "reason": "a blot"}],
}


# Notation


def test_loops_nest_and_kinds_hold_until_the_next():
    found = expand("copy [k=5,7 [i=0-1 key.0.k.i]] label*2 again row_sums.0.1", "cat-sat", {})
    addresses = ["key.0.5.0", "key.0.5.1", "key.0.7.0", "key.0.7.1"]
    assert found == [
        *({"kind": "copy", "example": "cat-sat", "place": place} for place in addresses),
        *({"kind": "label"},) * 2,
        {"kind": "derived", "example": "cat-sat", "place": "row_sums.0.1", "restates": True},
    ]


@pytest.mark.parametrize(
    ("numbers", "sentence"),
    [
        ("key.0.0.1", f"no kind stands before key.0.0.1; one of {', '.join(KINDS)} is wanted"),
        ("copy [i=0-1 key.0.0.i", "a [ is not closed; a ] is wanted"),
        ("copy key.0.0.1 ]", "a ] closes nothing; a [ before it is wanted"),
        ("copy key.0.0.i", "'i' is no number and no range; one such as 0-3 is wanted"),
    ],
)
def test_what_is_not_in_this_notation(numbers, sentence):
    with raises(ValueError, sentence):
        expand(numbers, "cat-sat", {})


# Documents


def test_a_document_gets_every_number_with_what_it_is():
    found = transcribed(DOCUMENT, RULES)
    assert [(r["line"], r["printed"], r["kind"], r.get("place")) for r in found] == [
        (1, "1", "label", None),
        (2, "0.7", "input", "query.2.1.0"),
        (2, "-1.3", "input", "query.2.1.1"),
        (4, "0", "label", None),
        (4, "5.0", "input", "key.2.3.0"),
        (5, "1", "label", None),
        (5, "7.0", "input", "key.2.3.1"),
        (6, "0.7", "copy", "query.2.1.0"),
        (6, "5.0", "copy", "key.2.3.0"),
        (6, "-1.3", "copy", "query.2.1.1"),
        (6, "7.0", "copy", "key.2.3.1"),
        (6, "-5.6", "derived", "scores.2.1.3"),
        (7, "3", "size", None),
    ]
    marked = [r for r in found if "intended" in r]
    assert [(r["printed"], r["intended"], r["reason"]) for r in marked] == [
        ("5.0", "3.0", "a blot")
    ]


def changed(**parts):
    """Return the rules with some of them changed."""
    return {**RULES, **parts}


def with_lines(lines):
    """Return the rules with other lines."""
    return changed(parts=[{"example": "cat-sat", "lines": lines}], damaged=[])


@pytest.mark.parametrize(
    ("rules", "sentence"),
    [
        (with_lines({"2": "label"}), "line 2 has 2 numbers, its rule has 1"),
        (with_lines({"4-5": "label"}), "from line 4 to 5 it has 4 numbers, its rule has 1"),
        (with_lines({"2": "label*2", "/Q/": "label*2"}), "line 2 has two rules; one is wanted"),
        (with_lines({"/W/": "label"}), "no line matches /W/; a rule is for one at least"),
        (changed(prose=[["label", r"Head \d"]]), "line 7: no rule for 3"),
        (
            changed(damaged=[{"line": 4, "number": 1, "printed": "5.0", "reason": "a blot"}]),
            "number 1 of line 4 is not 5.0; it is wanted there",
        ),
    ],
)
def test_rules_that_do_not_fit_the_document(rules, sentence):
    with raises(ValueError, sentence):
        transcribed(DOCUMENT, rules)


# The documents' own rules


def test_the_command_writes_all_files_or_none(monkeypatch, tmp_path, capsys):
    made_up = {"parts": [{"example": "cat-sat", "lines": {"1": "derived root"}}]}
    monkeypatch.setattr(command, "TARGET", tmp_path)
    monkeypatch.setattr(command, "read_rules", lambda name: made_up)
    *first, last = TITLES

    def refused():
        with raises(SystemExit, "2"):
            command.main([str(tmp_path)])
        return capsys.readouterr().err.removeprefix("python -m mha.audit.sources.transcribe: ")

    for name in first:
        (tmp_path / f"{name}.txt").write_text("2", encoding="utf-8")
    assert refused() == (
        f"{tmp_path / last}.txt cannot be read (No such file or directory);"
        " the document is wanted\n"
    )
    (tmp_path / f"{last}.txt").write_text("2 and 3", encoding="utf-8")
    assert refused() == f"{last}: line 1 has 2 numbers, its rule has 1\n"
    assert not list(tmp_path.glob("*.json"))
    (tmp_path / f"{last}.txt").write_text("3", encoding="utf-8")
    command.main([str(tmp_path)])
    assert len(list(tmp_path.glob("*.json"))) == len(TITLES)
    (record,) = json.loads((tmp_path / f"{last}.json").read_text(encoding="utf-8"))
    assert [*record.values()] == [1, "3", "derived", "cat-sat", "root"]
