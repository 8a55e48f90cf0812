"""The command that makes worksheets: a sheet a student and the key, as Markdown and as PDF."""

import argparse
import re
import shutil
import sys
from pathlib import Path

import typesetting
from environment import BUILD, ROOT, fail, step
from printing import options_of_print
from sphinx_runs import run_logged

from mha.practice.worksheets import add_options, write_class

FOLDER = BUILD / "worksheets"
LAYOUT = ROOT / "scripts" / "worksheet_layout"  # Sphinx's settings for a sheet
NO_CONTENTS = "---\norphan: true\n---\n\n"
TOGETHER = "```{raw} latex\n\\\\needspace{9\\\\baselineskip}\n```\n\n"  # a title and its table
NEW_PAGE = "```{raw} latex\n\\clearpage\n```\n\n"


def add_command(what: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command `worksheet`, with the options that `mha` draws worksheets by."""
    command = what.add_parser(
        "worksheet",
        parents=[options_of_print(FOLDER)],
        help="worksheets with fresh numbers for each student, and their key",
        description="Make worksheets: for each student other numbers, short enough to be worked by"
        " hand, and a key with every step. The same seed gives the same sheets.",
    )
    add_options(command)


def make(arguments: argparse.Namespace) -> None:
    """Write, typeset and publish the sheets and the key, all or nothing."""
    typesetting.find_tex()
    work = typesetting.PRINT / "worksheets"
    shutil.rmtree(work, ignore_errors=True)
    for folder in ("markdown", "source"):
        (work / folder).mkdir(parents=True)
    with step(f"Drawing {arguments.students} worksheets"):
        try:
            write_class(arguments, work / "markdown")
        except (TypeError, ValueError) as error:
            fail(str(error))
    with step("Typesetting them"):
        _typeset(work, arguments.paper)
    arguments.to.mkdir(parents=True, exist_ok=True)
    for part, name in (("sheets", "worksheets"), ("key", "key")):
        for made in (work / "markdown" / f"{part}.md", work / "latex" / f"{part}.pdf"):
            named = made.rename(made.with_name(f"{name}-{arguments.seed}{made.suffix}"))
            print(f"Made {typesetting.publish(named, arguments.to)}")


def _typeset(work: Path, paper: str) -> None:
    """Make a PDF of each Markdown file, every sheet on a page of its own."""
    for path in (work / "markdown").iterdir():
        title, *sheets = path.read_text(encoding="utf-8").split("\n## ")
        text = "\n## ".join([title, f"\n{NEW_PAGE}## ".join(sheets)])
        text = re.sub(r"^(?=\d+\\\. |\*\*)", TOGETHER, text, flags=re.MULTILINE)
        (work / "source" / path.name).write_text(NO_CONTENTS + text, encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-W", "-b", "latex", "-c", str(LAYOUT)]
    command += ["-D", f"latex_elements.papersize={paper}paper"]
    command += [str(work / "source"), str(work / "latex")]
    run_logged(command, work / "sphinx.log", "the set of worksheets")
    for part in ("sheets", "key"):
        typesetting.run_latex(work / "latex", part)
