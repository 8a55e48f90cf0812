"""Every command line succeeds, or fails with an error message of one sentence."""

import contextlib
import io
import re
import shlex
import sys
from pathlib import Path

import building
import pytest
from command_lines import make_parser
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from mha.audit import __main__ as audit
from mha.examine import __main__ as examine
from mha.practice.worksheets import command as sheets

REFUSED = [
    ("course --title A --chapters gamma", "there is no chapter gamma; the chapters are: "),
    ("pdf --to file", "file cannot be read or written: "),
    ("packs --only questions,odd", "--only has 'odd'; one of questions, cards, slides, figures, n"),
    ("packs --variants 51", "--variants is 51; 0 to 50 is wanted"),
    ("packs --seed -1", "--seed is -1; 0 to 1,000,000,000 is wanted"),
    ("packs --site 'https://a.b/c d/'", "--site is 'https://a.b/c d/'; https://, a host and a"),
    (f"worksheet --students 2 --title {'a' * 121}", "--title has 121 letters; one line of 120 is"),
    ("worksheet --class class.csv", "student 2 of --class, \U00013080o, has \U00013080 (U+13080)"),
    ("worksheet --students 2", "made/worksheets-23.md has other contents"),
]
"""Command lines of build.py, and the error message of each before any page is built."""


@pytest.mark.parametrize(("words", "sentence"), REFUSED)
def test_an_impossible_command_gets_one_sentence_and_loses_nothing(
    words, sentence, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("made").mkdir()
    files = {"file": "no folder", "made/worksheets-23.md": "Mine."}
    files["class.csv"] = "name\nŁukasz Dvořák\n\U00013080o\n"
    for name, text in files.items():
        Path(name).write_text(text, encoding="utf-8")
    sheets = ["--seed=23", "--to=made"] if words.startswith("worksheet") else []
    monkeypatch.setattr(building, "build_html", None)
    monkeypatch.setattr(sys, "argv", ["build.py", *shlex.split(words), *sheets])
    with pytest.raises(SystemExit) as stopped:
        building.main()
    assert str(stopped.value).startswith(f"error: {sentence}")
    assert "\n" not in stopped.value.code
    left = [path for path in Path().rglob("*") if path.is_file()]
    assert {path.as_posix(): path.read_text(encoding="utf-8") for path in left} == files


# ---- Help ----


def subcommands():
    """Return the argument parser of each command of build.py by name."""
    actions = make_parser("building")._actions
    return next(action for action in actions if action.dest == "what").choices


@pytest.mark.parametrize("command", subcommands())
def test_help_explains_the_command_and_each_option_and_cuts_no_name(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    parser = subcommands()[command]
    assert parser.description
    assert all(action.help for action in parser._actions)
    assert not re.search(r"[a-z]-$", parser.format_help(), re.MULTILINE)


# ---- Whatever chance writes ----

SENTENCE = re.compile(
    r"(?:python -m [\w.]+|\w+\.py[ \w]*|error|note): [^\n]{8,}\n(?:error: [^\n]{8,}\n)?"
)
SHEETS = ("--seed", "--students", "--class", "--difficulty", "--stages", "--causal", "--tokens")
SHEETS += ("--heads", "--sentence", "--lesson", "--secret", "--force")
BUILD = ("--port", "--paper", "--to", "--title", "--course", "--chapters", "--solutions", "--each")
BUILD += ("--accessible", "--no-code", "--only", "--variants", "--site", "--date", "--minutes")
BUILD += SHEETS[:3]
WORDS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=9)
HOSTILE = st.sampled_from(
    ("", "-", "--", "-1", "0", "1e9", "9" * 5000, "None", "../..", "/", "a" * 300, "\u202e", "<b>",
     "mha:softmax", "mha.nowhere:f", ":", "\n:a", "softmax,scaling", "cat-sat,cat-sat", "odd")
)  # fmt: skip
VALUES = HOSTILE | WORDS | st.integers(-3, 9).map(str)


def line(first, *options):
    """Return a strategy of command lines: a first word, then options, values and other text."""
    known = st.tuples(st.sampled_from(options), VALUES)
    parts = known | st.tuples(VALUES) | known.map("=".join).map(lambda both: (both,))
    rest = st.lists(parts, max_size=4)
    return st.tuples(first, rest).map(
        lambda both: [both[0], *(w for part in both[1] for w in part)]
    )


def prepare(arguments):
    """Parse a command line of build.py, and check its options without building anything."""
    read = make_parser("building").parse_args(arguments)
    with building._errors_in_one_sentence():
        building.prepare(read)


WHAT = st.sampled_from((*subcommands(), "odd", "--watch"))
LINES = (
    line(st.just("--json"), "--json", "--jso", "-h", "mha-tutorial").map(lambda w: (audit.main, w))
    | line(VALUES, "--as", "--asarray", "--json").map(lambda w: (examine.main, w))
    | line(st.just("--seed=3"), *SHEETS).map(lambda w: (sheets.main, [*w, "made"]))
    | line(WHAT, *BUILD).map(lambda w: (prepare, w))
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(LINES)
@example((sheets.main, ["--seed=--", "--students=1", "made"]))
@example((prepare, ["pdf", "--to", "9" * 5000]))
@example((prepare, ["pdf", "--to", "class\n.csv/below"]))
@example((prepare, ["--watch", "--port", "65536"]))
@example((examine.main, ["mha:rotate", "--as", "positions", "--json"]))
def test_a_command_ends_with_what_was_asked_or_one_sentence(tmp_path, monkeypatch, asked):
    command, arguments = asked
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(audit, "report", lambda sources: sources)
    monkeypatch.setattr(audit, "verdicts", list)
    (tmp_path / "made").mkdir(exist_ok=True)
    (tmp_path / "class\n.csv").touch()
    out, err = io.StringIO(), io.StringIO()
    code = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            command(arguments)
        except SystemExit as stopped:
            code = stopped.code or 0
    said = err.getvalue() if isinstance(code, int) else f"{err.getvalue()}{code}\n"
    assert code == 0 or SENTENCE.fullmatch(said), said
