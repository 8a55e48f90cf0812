"""The command that makes worksheets: a sheet a student and the key, as Markdown and as PDF."""

import argparse
import re
import shutil
import subprocess
from pathlib import Path

import typesetting
from environment import BUILD, ROOT, fail, step
from sphinx_log import run_logged

LAYOUT = ROOT / "scripts" / "worksheet_layout"  # Sphinx's settings for a sheet
NO_CONTENTS = "---\norphan: true\n---\n\n"
TOGETHER = "```{raw} latex\n\\\\needspace{9\\\\baselineskip}\n```\n\n"  # a title and its table
NEW_PAGE = "```{raw} latex\n\\clearpage\n```\n\n"


def add_command(what: argparse._SubParsersAction) -> None:
    """Add the command `worksheet`."""
    command = what.add_parser(
        "worksheet",
        help="worksheets with fresh numbers for each student, and their key",
        description="Make worksheets: for each student other numbers, short enough to be worked by"
        " hand, and a key with every step. The same seed gives the same sheets.",
    )
    command.add_argument("--seed", type=int, required=True, help="a number of your choice")
    command.add_argument("--students", type=int, required=True, help="how many sheets")
    command.add_argument("--difficulty", choices=["easy", "medium", "hard"], default="medium")
    command.add_argument(
        "--stages", metavar="A,B", help="what is asked, such as query,key,scores; default: all"
    )
    command.add_argument("--tokens", type=int, default=3, help="words in a sheet; default: 3")
    command.add_argument("--heads", type=int, default=1, help="heads in a sheet; default: 1")
    command.add_argument("--paper", choices=["a4", "letter"], default="a4", help="default: a4")
    command.add_argument(
        "--to",
        type=Path,
        default=BUILD / "worksheets",
        metavar="FOLDER",
        help="where the files go; default: _build/worksheets",
    )


def make(python: str, arguments: argparse.Namespace) -> None:
    """Write, typeset and publish the sheets and the key, all or nothing."""
    typesetting.find_tex()
    work = typesetting.PRINT / "worksheets"
    shutil.rmtree(work, ignore_errors=True)
    for folder in ("markdown", "source"):
        (work / folder).mkdir(parents=True)
    with step(f"Drawing {arguments.students} worksheets"):
        _write(python, arguments, work / "markdown")
    with step("Typesetting them"):
        _typeset(python, work, arguments.paper)
    arguments.to.mkdir(parents=True, exist_ok=True)
    for part, name in (("sheets", "worksheets"), ("key", "key")):
        for made in (work / "markdown" / f"{part}.md", work / "latex" / f"{part}.pdf"):
            named = made.rename(made.with_name(f"{name}-{arguments.seed}{made.suffix}"))
            print(f"Made {typesetting.publish(named, arguments.to)}")


def _write(python: str, arguments: argparse.Namespace, folder: Path) -> None:
    command = [python, "-m", "mha.practice.worksheets", str(folder)]
    for option in ("seed", "students", "difficulty", "stages", "tokens", "heads"):
        value = getattr(arguments, option)
        if value is not None:
            command += [f"--{option}={value}"]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        fail(done.stderr.strip().splitlines()[-1].removeprefix("error: "))


def _typeset(python: str, work: Path, paper: str) -> None:
    """Make a PDF of each Markdown file, every sheet on a page of its own."""
    for path in (work / "markdown").iterdir():
        title, *sheets = path.read_text(encoding="utf-8").split("\n## ")
        text = "\n## ".join([title, f"\n{NEW_PAGE}## ".join(sheets)])
        text = re.sub(r"^(?=\d+\\\. |\*\*)", TOGETHER, text, flags=re.MULTILINE)
        (work / "source" / path.name).write_text(NO_CONTENTS + text, encoding="utf-8")
    command = [python, "-m", "sphinx", "-W", "-b", "latex", "-c", str(LAYOUT)]
    command += ["-D", f"latex_elements.papersize={paper}paper"]
    command += [str(work / "source"), str(work / "latex")]
    run_logged(command, work / "sphinx.log", "the set of worksheets")
    for part in ("sheets", "key"):
        typesetting.run_latex(work / "latex", part)
