"""Whatever stands on a command line: the command does it, or says in one sentence why not."""

import contextlib
import io
import re

import building
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from mha.audit import __main__ as audit
from mha.examine import __main__ as examine
from mha.practice.worksheets import command as sheets

SENTENCE = re.compile(
    r"(?:python -m [\w.]+|\w+\.py[ \w]*|error|note): [^\n]{8,}\n(?:error: [^\n]{8,}\n)?"
)
SHEETS = ("--seed", "--students", "--class", "--difficulty", "--stages", "--causal", "--tokens")
SHEETS += ("--heads", "--sentence", "--lesson", "--secret", "--force")
BUILD = ("--port", "--paper", "--to", "--title", "--course", "--chapters", "--solutions", "--each")
BUILD += ("--accessible", "--no-code", "--only", "--variants", "--site", "--date", *SHEETS[:3])
WORDS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=9)
HOSTILE = st.sampled_from(
    ("", "-", "--", "-1", "0", "1e9", "9" * 5000, "None", "../..", "/", "a" * 300, "\u202e", "<b>",
     "mha:softmax", "mha.nowhere:f", ":", "\n:a", "softmax,scaling", "cat-sat,cat-sat", "odd")
)  # fmt: skip
VALUES = HOSTILE | WORDS | st.integers(-3, 9).map(str)


def line(first, *options):
    """Return a strategy of command lines: a first word, options, their values, anything."""
    known = st.tuples(st.sampled_from(options), VALUES)
    parts = known | st.tuples(VALUES) | known.map("=".join).map(lambda both: (both,))
    rest = st.lists(parts, max_size=4)
    return st.tuples(first, rest).map(
        lambda both: [both[0], *(w for part in both[1] for w in part)]
    )


def plan(arguments):
    """Read a command line of build.py as far as it goes without building anything."""
    read = building._parser().parse_args(arguments)
    with building._told_in_one_sentence():
        read.plan(read)


WHAT = st.sampled_from(("html", "pdf", "course", "epub", "worksheet", "packs", "odd", "--watch"))
LINES = (
    line(st.just("--json"), "--json", "--jso", "-h", "mha-tutorial").map(lambda w: (audit.main, w))
    | line(VALUES, "--as", "--asarray", "--json").map(lambda w: (examine.main, w))
    | line(st.just("--seed=3"), *SHEETS).map(lambda w: (sheets.main, [*w, "made"]))
    | line(WHAT, *BUILD).map(lambda w: (plan, w))
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(LINES)
@example((sheets.main, ["--seed=--", "--students=1", "made"]))
@example((plan, ["pdf", "--to", "9" * 5000]))
@example((plan, ["pdf", "--to", "class\n.csv/below"]))
@example((plan, ["--watch", "--port", "65536"]))
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
