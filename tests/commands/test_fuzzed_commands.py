"""Whatever stands on a command line: the command does it, or says in one sentence why not."""

import contextlib
import io
import re
import sys

import building
import checking
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from mha.audit import __main__ as audit
from mha.audit.sources import TITLES
from mha.examine import __main__ as examine
from mha.practice.worksheets import TASKS
from mha.practice.worksheets import command as sheets

SENTENCE = re.compile(
    r"(?:python -m [\w.]+|\w+\.py[ \w]*|error|note): [^\n]{8,}\n(?:error: [^\n]{8,}\n)?"
)
WORDS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=9)
HOSTILE = st.sampled_from(
    ("", "-", "--", "-1", "0", "1e9", "9" * 5000, "None", "../..", "/", "a" * 300, "\u202e", "<b>")
)
VALUES = HOSTILE | WORDS | st.integers(-3, 9).map(str)


def line(*options):
    """Return a strategy of command lines made of options, their values, and of anything."""
    known = st.tuples(st.sampled_from(options), VALUES)
    parts = known | st.tuples(VALUES) | known.map("=".join).map(lambda both: (both,))
    return st.lists(parts, max_size=4).map(lambda found: [word for part in found for word in part])


def ended(function, *arguments):
    """Return what a command says at its end, empty if it did what was asked."""
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            function(*arguments)
    except SystemExit as stopped:
        if stopped.code in (None, 0):
            return ""
        return err.getvalue() if isinstance(stopped.code, int) else f"{err.getvalue()}{stopped}\n"
    return ""


def holds(said):
    assert "Traceback" not in said
    assert said == "" or SENTENCE.fullmatch(said), said


QUIET = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@QUIET
@given(line("--json", "--jso", "-h", *TITLES))
def test_a_command_line_of_the_audit(tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(audit, "report", lambda sources: sources)
    monkeypatch.setattr(audit, "verdicts", list)
    holds(ended(audit.main, arguments))


SHEETS = ("--seed", "--students", "--class", "--difficulty", "--stages", "--causal", "--tokens")
SHEETS += ("--heads", "--sentence", "--lesson", "--secret", "--force")
SOME = st.lists(st.sampled_from(("--seed=3", "--students=1", "--causal", "--heads=2")), unique=True)
STAGES = st.lists(st.sampled_from((*TASKS, "odd", "")), max_size=3).map(
    lambda stages: [f"--stages={','.join(stages)}"]
)


@QUIET
@given(SOME, line(*SHEETS) | STAGES, st.sampled_from(("made", "missing", "class.csv", "")))
@example(["--seed=3", "--students=1"], [], "missing")
@example(["--seed=--", "--students=1"], [], "made")
def test_a_command_line_of_the_worksheets(tmp_path, monkeypatch, some, arguments, folder):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "made").mkdir(exist_ok=True)
    (tmp_path / "class.csv").write_text("name\nAda\n", encoding="utf-8")
    holds(ended(sheets.main, [*some, *arguments, folder]))


def asked_of_build(arguments):
    """Read a command line of build.py as far as it goes without building anything."""
    read = building._parser().parse_args(arguments)
    with building._told_in_one_sentence():
        read.plan(read)


WHAT = st.sampled_from(("html", "pdf", "course", "epub", "worksheet", "packs", "odd", "--watch"))
OF_BUILD = ("--port", "--paper", "--to", "--title", "--course", "--chapters", "--solutions")
OF_BUILD += ("--accessible", "--no-code", "--only", "--variants", "--site", "--date", "--each")
OF_BUILD += SHEETS[:3]
CHOSEN = st.sampled_from(("softmax", "softmax,scaling", "index", ",", "cat-sat,cat-sat"))


@QUIET
@given(WHAT, st.lists(CHOSEN.map("--chapters={}".format), max_size=1), line(*OF_BUILD))
@example("pdf", [], ["--to", "9" * 5000])
@example("pdf", [], ["--to", "class\n.csv/below"])
def test_a_command_line_of_build(tmp_path, monkeypatch, what, chapters, arguments):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "class\n.csv").touch()
    holds(ended(asked_of_build, [what, *chapters, *arguments]))


@given(st.just("") | VALUES)
@settings(max_examples=20)
@example("../mechanism/softmax")
def test_a_page_to_check(name):
    if not name.startswith("-"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", ["check.py", "mechanism/softmax", name])
            patch.setattr(checking, "refuse", lambda found, so: None)
            holds(ended(checking.main))


NAMED = (
    st.sampled_from(("mha:rotate", "mha:softmax", "mha.nowhere:f", "mha:", ":", "..:a")) | VALUES
)


@given(NAMED, line("--as", "--asarray", "--json"))
@example("mha:rotate", ["--as", "positions", "--json"])
@example("\n:a", [])
def test_a_command_line_of_examine(name, arguments):
    holds(ended(examine.main, [name, *arguments]))
