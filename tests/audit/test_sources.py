"""The transcription of the documents: complete, with the examples' inputs, and by valid rules."""

import json
from pathlib import Path

import numpy as np
import pytest
from helpers import raises

from mha import example_names, load_example
from mha.audit.sources import KINDS, TITLES, load_source, numbers_from
from mha.audit.sources import transcribe as command
from mha.audit.sources.transcribe import transcribed

TOKENS = Path(__file__).parent / "source_tokens"


# The data


@pytest.mark.parametrize("name", TITLES)
def test_every_number_of_every_line_is_accounted_for(name):
    lines = {}
    for number in load_source(name):
        lines.setdefault(number.line, []).append(number.printed)
        assert number.reason or not number.intended
    listed = (TOKENS / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    assert [f"{line}: {' '.join(printed)}" for line, printed in lines.items()] == listed


def inputs_of(example):
    """Return every input of a worked example, by its stage and index."""
    arrays = {stage: getattr(example, stage) for stage in ("embeddings", "query", "key", "value")}
    if example.layer is not None:
        arrays |= {stage: getattr(example.layer, stage) for stage in ("w_q", "w_k", "w_v", "w_o")}
    arrays["weights"] = example.target_weights
    return {
        (stage, index): value
        for stage, array in arrays.items()
        if array is not None
        for index, value in np.ndenumerate(array)
    }


@pytest.mark.parametrize("name", example_names())
def test_the_inputs_of_an_example_and_of_its_document_are_the_same(name):
    example = load_example(name)
    numbers = (number for source in TITLES for number in load_source(source))
    inputs = [n for n in numbers if n.kind == "input" and n.example == name]
    wanted = inputs_of(example)
    stand = {(n.place.stage, n.place.index) for n in inputs}
    assert stand <= wanted.keys()
    assert stand == wanted.keys() or example.source not in TITLES.values()
    for number in inputs:
        is_drawn = number.place.stage == "weights"  # to the printed places only
        off = abs(wanted[number.place.stage, number.place.index] - number.meant)
        assert off <= (number.half_unit if is_drawn else 1e-15), number


@pytest.mark.parametrize(
    ("record", "sentence"),
    [
        ({"kind": "sum"}, f"kind is 'sum'; one of {', '.join(KINDS)} is wanted"),
        ({"kind": "derived", "example": "apple"},
         "a derived has example 'apple' and place ''; numbers that take part in a calculation"
         " have both, others neither"),
        ({"kind": "copy", "example": "apple", "place": "root 3"},
         "place is 'root 3'; an address such as scores.0.1.2 is wanted"),
    ],
)  # fmt: skip
def test_a_bad_record_is_named_with_its_file(record, sentence):
    text = json.dumps([{"line": 3, "printed": "7", **record}])
    with raises(ValueError, f"mha/audit/sources/mha-tutorial.json: {sentence}"):
        numbers_from("mha-tutorial", text)


# The rules


DOCUMENT = """Head 1
Q = [0.7, -1.3]
no number
K[0] = 5.0
K[1] = 7.0
so 0.7×5.0 + -1.3×7.0 = -5.6 = -5.6
as in GPT-3"""

RULES = {
    "prose": [["label", r"Head \d"], ["size", r"GPT-\d"], ["claim", r"\d"]],
    "parts": [
        {
            "example": "cat-sat",
            "sections": [{"lines": "1-5", "h": "2"}],
            "lines": {
                "/^Q = /": "input query.h.1.0-1",
                r"/^K\[\d\]/": "[k=3 [i=0,1 label input key.h.k.i]]",
                "/^Q = / +4": (
                    "copy [i=0-1 query.h.1.i key.h.3.i] derived scores.h.1.3 again scores.h.1.3"
                ),
            },
        }
    ],
    "damaged": [{"line": 4, "number": 2, "printed": "5.0", "intended": "3.0", "reason": "a blot"}],
}


def test_a_document_gets_every_number_with_what_it_is():
    found = transcribed(DOCUMENT, RULES)
    assert [" ".join(map(str, record.values())) for record in found] == [
        "1 1 label",
        "2 0.7 input cat-sat query.2.1.0",
        "2 -1.3 input cat-sat query.2.1.1",
        "4 0 label",
        "4 5.0 input cat-sat key.2.3.0 3.0 a blot",
        "5 1 label",
        "5 7.0 input cat-sat key.2.3.1",
        "6 0.7 copy cat-sat query.2.1.0",
        "6 5.0 copy cat-sat key.2.3.0",
        "6 -1.3 copy cat-sat query.2.1.1",
        "6 7.0 copy cat-sat key.2.3.1",
        "6 -5.6 derived cat-sat scores.2.1.3",
        "6 -5.6 derived cat-sat scores.2.1.3 True",
        "7 3 size",
    ]


def with_lines(**lines):
    """Return rules with other lines, given by a pattern or a number."""
    return {"parts": [{"example": "cat-sat", "lines": lines}]}


@pytest.mark.parametrize(
    ("rules", "sentence"),
    [
        (with_lines(**{"2": "key.0.0.1 label"}),
         f"no kind stands before key.0.0.1; one of {', '.join(KINDS)} is wanted"),
        (with_lines(**{"2": "copy [i=0-1 key.0.0.i"}), "a [ is not closed; a ] is wanted"),
        (with_lines(**{"2": "copy key.0.0.1 ]"}),
         "a ] closes nothing; a [ before it is wanted"),
        (with_lines(**{"2": "copy key.0.0.i"}),
         "'i' is no number and no range; one such as 0-3 is wanted"),
        (with_lines(**{"2": "label"}), "line 2 has 2 numbers, its rule has 1"),
        (with_lines(**{"4-5": "label"}), "from line 4 to 5 it has 4 numbers, its rule has 1"),
        (with_lines(**{"2": "label*2", "/Q/": "label*2"}),
         "line 2 has two rules; one is wanted"),
        (with_lines(**{"/W/": "label"}), "no line matches /W/; a rule is for one at least"),
        (RULES | {"prose": [["label", r"Head \d"]]}, "line 7: no rule for 3"),
        (RULES | {"damaged": [{"line": 4, "number": 1, "printed": "5.0", "reason": "a blot"}]},
         "number 1 of line 4 is not 5.0; it is wanted there"),
    ],
)  # fmt: skip
def test_rules_that_do_not_fit_are_refused(rules, sentence):
    with raises(ValueError, sentence):
        transcribed(DOCUMENT, rules)


def test_the_command_writes_all_files_or_none(monkeypatch, tmp_path, capsys):
    rules = with_lines(**{"1": "derived root"})
    monkeypatch.setattr(command, "TARGET", tmp_path)
    monkeypatch.setattr(command, "read_rules", lambda name: rules)
    *first, last = TITLES
    for name in first:
        (tmp_path / f"{name}.txt").write_text("2", encoding="utf-8")
    end = tmp_path / f"{last}.txt"
    for text, said in (
        (None, f"{end} cannot be read (No such file or directory); the document is wanted"),
        ("2 and 3", f"{last}: line 1 has 2 numbers, its rule has 1"),
    ):
        if text is not None:
            end.write_text(text, encoding="utf-8")
        with raises(SystemExit, "2"):
            command.main([str(tmp_path)])
        assert capsys.readouterr().err == f"python -m mha.audit.sources.transcribe: {said}\n"
    assert not list(tmp_path.glob("*.json"))
    end.write_text("3", encoding="utf-8")
    command.main([str(tmp_path)])
    assert len(list(tmp_path.glob("*.json"))) == len(TITLES)
    (record,) = json.loads((tmp_path / f"{last}.json").read_text(encoding="utf-8"))
    assert [*record.values()] == [1, "3", "derived", "cat-sat", "root"]
