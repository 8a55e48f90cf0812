"""Which small changes of the package no test notices: mutation testing, with mutmut.

    .mutants/bin/python scripts/mutants.py mathematics

changes the functions of a part, one place at a time, and asks the part's tests about each change:
first with few drawn examples, and with as many as ever about what they did not notice. Then it
writes `docs/mutants.md`, which the report of the tests reads. A change that no test notices needs a
reason in `docs/mutants.toml`, or a test. What was noticed before is not tried again unless its
function has changed; delete `_build/mutants` to begin anew. How it is fast: `mutant_trials.py`.
"""

import argparse
import datetime
import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "_build" / "mutants"
PAGE = ROOT / "docs" / "mutants.md"
REASONS = ROOT / "docs" / "mutants.toml"
COPIED = ("mha", "tests", "book/_static")
# How a change ended, as mutmut writes it: a test failed, or there was no answer in many times the
# usual time. Both notice it.
KILLED, ENDLESS = 1, 36
CONFIGURATION = """
[tool.mutmut]
source_paths = ["mha"]
only_mutate = {only}
also_copy = ["book/_static"]
use_git_change_detection = false
"""


@dataclass(frozen=True)
class Part:
    """A part of the package and the tests that judge its changes.

    Parameters
    ----------
    only : tuple of str
        Patterns of files.
    tests : tuple of str
    """

    only: tuple[str, ...]
    tests: tuple[str, ...]


PARTS = {
    "mathematics": Part(("mha/core/*.py",), ("tests/core",)),
    "origins and rounding": Part(("mha/runs/*.py",), ("tests/runs",)),
    "verdicts": Part(
        (
            *(f"mha/audit/{name}.py" for name in ("claims", "judging", "page", "summary")),
            "mha/audit/checks/*.py",
            *(f"mha/practice/{name}.py" for name in ("entered", "verdict")),
        ),
        ("tests/audit", *(f"tests/practice/test_{name}.py" for name in ("entered", "verdict"))),
    ),
}


@dataclass(frozen=True)
class Change:
    """A change that no test noticed.

    Parameters
    ----------
    function : str
        With its module.
    was, becomes : str
        The changed lines, stripped.
    """

    function: str
    was: str
    becomes: str


def run(name: str, profile: str, children: int, seconds: float) -> None:
    """Try the changes of a part that have not been tried yet."""
    part, folder = PARTS[name], WORK / name
    for copied in COPIED:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.rmtree(folder / copied, ignore_errors=True)
        shutil.copytree(ROOT / copied, folder / copied, ignore=ignored)
    shutil.rmtree(folder / "mutants" / "tests", ignore_errors=True)
    for file in [*(folder / "mutants" / "mha").rglob("*.py*")]:
        module = file.name.partition(".")[0]  # that may be no more
        if not (folder / file.parent.relative_to(folder / "mutants") / f"{module}.py").is_file():
            file.unlink()
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    text += CONFIGURATION.format(only=json.dumps(part.only))
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    _write_survivors(name)
    script = str(ROOT / "scripts" / "mutant_trials.py")
    command = (sys.executable, script, str(folder), profile, str(children), str(seconds))
    single = {"OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    subprocess.run((*command, *part.tests), cwd=folder, env=os.environ | single, check=False)


def _results(name: str) -> Iterator[Path]:
    """Yield mutmut's files of results for the files of a part."""
    folder = WORK / name / "mutants"
    for pattern in PARTS[name].only:
        yield from sorted(folder.glob(f"{pattern}.meta"))


def _write_survivors(name: str) -> None:
    """Write which changes no test noticed that have no reason."""
    why = Reasons()
    keys = [key for meta in _results(name) for key, change in _missed(meta) if not why.of(change)]
    (WORK / name / "survivors.json").write_text(json.dumps(keys), encoding="utf-8")


def _missed(meta: Path) -> Iterator[tuple[str, Change]]:
    """Yield the changes of a file that no test noticed, with their names."""
    codes = json.loads(meta.read_text(encoding="utf-8"))["exit_code_by_key"]
    keys = [key for key, code in codes.items() if code not in (None, KILLED, ENDLESS)]
    yield from zip(keys, _changes(meta.with_suffix(""), keys), strict=True)


def outcomes(name: str) -> tuple[tuple[int, int, int], list[Change]]:
    """Return how many changes a part has, were tried and noticed, and those that were not."""
    possible, tried, noticed, missed = 0, 0, 0, list[Change]()
    for meta in _results(name):
        codes = json.loads(meta.read_text(encoding="utf-8"))["exit_code_by_key"]
        known = {key: code for key, code in codes.items() if code is not None}
        possible += len(codes)
        tried += len(known)
        survived = [change for _, change in _missed(meta)]
        noticed += len(known) - len(survived)
        missed += survived
    return (possible, tried, noticed), missed


def _changes(mutated: Path, keys: Sequence[str]) -> Iterator[Change]:
    """Yield what was changed in a file, by the names that mutmut gives its changes."""
    lines = mutated.read_text(encoding="utf-8").splitlines()
    spans = json.loads(Path(f"{mutated}.spans").read_text(encoding="utf-8"))["spans"]

    def body(name: str) -> list[str]:
        first, last = spans[name]
        return [re.sub(r"_*mutmut_\w+(?=\()", "", line).strip() for line in lines[first - 1 : last]]

    for key in keys:
        module, _, name = key.rpartition(".")
        sound = body(re.sub(r"_\d+$", "_orig", name))
        found = [line for line in difflib.ndiff(sound, body(name)) if line[0] in "-+"]
        function = re.sub(r"__mutmut_\d+$", "", name).replace("ǁ", ".").removeprefix("x")
        was, becomes = ("".join(line[2:] for line in found if line[0] == sign) for sign in "-+")
        yield Change(f"{module}.{function.strip('.').removeprefix('_')}", was, becomes)


class Reasons:
    """Why changes make no difference: of one function, or of a kind that is the same anywhere."""

    def __init__(self) -> None:
        given = tomllib.loads(REASONS.read_text(encoding="utf-8"))
        self.single = {
            (entry["function"], becomes): str(entry["reason"])
            for entry in given["reasons"]
            for becomes in entry["becomes"]
        }
        self.kinds = [
            (str(kind["was"]), becomes, str(kind["reason"]))
            for kind in given["kinds"]
            for becomes in kind["becomes"]
        ]

    def of(self, change: Change) -> str | None:
        """Return the reason of a change, if there is one."""
        for was, becomes, reason in self.kinds:
            if was in change.was and change.was.replace(was, becomes, 1) == change.becomes:
                return reason
        return self.single.get((change.function, change.becomes))


def page() -> tuple[str, list[Change]]:
    """Return the page of all parts that have been run, and the changes without a reason."""
    why, rows, listed, odd = Reasons(), list[str](), list[str](), list[Change]()
    for name in PARTS:
        counts, missed = outcomes(name)
        if tried := counts[1]:
            cells = (name, *(f"{count:,}" for count in counts), f"{counts[2] / tried:.1%}")
            rows.append(f"| {' | '.join(cells)} |")
        for change in missed:
            reason = why.of(change)
            odd += [] if reason else [change]
            cells = (change.function, change.was, change.becomes)
            marked = " | ".join("`" + cell.replace("|", "\\|") + "`" for cell in cells)
            listed.append(f"| {marked} | {reason or 'none yet'} |")
    head = [
        "# Mutants",
        "",
        f"What mutmut changed in the package on {datetime.datetime.now(datetime.UTC).date()}, and"
        " how much of it a test noticed. Written by `scripts/mutants.py`.",
        "",
        "| part | changes | tried | noticed | share |",
        "| --- | ---: | ---: | ---: | ---: |",
        *rows,
        "",
        "What no test noticed, and why it makes no difference:",
        "",
        "| function | was | becomes | why |",
        "| --- | --- | --- | --- |",
    ]
    return "\n".join([*head, *listed, ""]), odd


def main() -> None:
    """Run the parts that are named, and write the page of all that were ever run."""
    parser = argparse.ArgumentParser(prog="mutants.py", description="Mutation testing of mha.")
    parser.add_argument("part", nargs="*", help=f"of {', '.join(PARTS)}; none: write the page")
    parser.add_argument("--children", type=int, default=1, help="how many are tried at once")
    parser.add_argument("--minutes", type=float, default=600, help="for a part's first look")
    given = parser.parse_args()
    for name in given.part:
        if name not in PARTS:
            parser.error(f"part is {name!r}; one of {', '.join(PARTS)} is wanted")
        for profile in ("mutants", "survivors", "afresh"):
            run(name, profile, given.children, 60 * given.minutes)
    text, odd = page()
    PAGE.write_text(text, encoding="utf-8")
    for change in odd:
        print(f"{change.function}: {change.was}\n  -> {change.becomes}", file=sys.stderr)
    if odd:
        sys.exit(f"error: {len(odd)} changes have neither a test nor a reason in {REASONS.name}")


if __name__ == "__main__":
    main()
