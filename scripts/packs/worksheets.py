"""The command that makes worksheets: a sheet a student, the key and the answers."""

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

import typesetting
from environment import BUILD, fail, step
from printing import options_of_print

from mha.practice.worksheets import Worksheet
from mha.practice.worksheets.command import add_options, drawn, texts
from packs import paper
from packs.worksheet_pages import TITLE, Heading, of_class

FOLDER = BUILD / "worksheets"
STYLE = Path(__file__).with_suffix(".css")
LONGEST = 120
"""Letters that a title, a course or a date may have: it stands in one line of each page."""


def add_command(what: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command `worksheet`, with the options that `mha` draws worksheets by."""
    command = what.add_parser(
        "worksheet",
        parents=[options_of_print(FOLDER)],
        help="worksheets with fresh numbers for each student, and their key",
        description="Make worksheets: for each student other numbers, short enough to be worked by"
        " hand, a key with every step, and the answers alone, as PDF and for programs as CSV and"
        " JSON. The same seed gives the same sheets.",
    )
    add_options(command)
    command.add_argument("--title", default=TITLE, help=f"default: {TITLE}")
    for name in ("--course", "--date"):
        command.add_argument(name, default="", help="stands on each page")
    command.add_argument(
        "--each", action="store_true", help="a PDF for each student, not one for all"
    )


def make(arguments: argparse.Namespace) -> None:
    """Draw, print and publish the sheets, the key and the answers, all or nothing."""
    sheets = read(arguments)
    typesetting.find_weasyprint()
    arguments.to.mkdir(parents=True, exist_ok=True)
    heading = Heading(arguments.title, arguments.course, arguments.date, arguments.paper)
    work = typesetting.PRINT / "worksheets"
    work.mkdir(parents=True, exist_ok=True)
    made = []
    with step(f"Printing {len(sheets)} worksheets"):
        for name, text in texts(sheets, arguments.seed).items():
            (work / name).write_text(text, encoding="utf-8")
            made.append(work / name)
        for part, pages in of_class(sheets, heading).items():
            for name, some in _files(arguments, part, pages, sheets).items():
                paper.print_pages(some, STYLE, work / name)
                made.append(work / name)
    for path in made:
        published = typesetting.publish(path, arguments.to)
        if not (arguments.each and path.name.startswith("worksheet-")):
            print(f"Made {published}")
    if arguments.each:
        print(f"Made a worksheet for each of {len(sheets)} students in {arguments.to}")


def read(arguments: argparse.Namespace) -> tuple[Worksheet, ...]:
    """Return the sheets that are asked for; end with a sentence if there are none such."""
    try:
        sheets = drawn(arguments)
        _check_texts(arguments, sheets)
    except ValueError as error:
        fail(str(error))
    return sheets


def _check_texts(arguments: argparse.Namespace, sheets: Sequence[Worksheet]) -> None:
    """Raise unless what a teacher wrote can be printed."""
    for name in ("title", "course", "date"):
        text = getattr(arguments, name)
        if len(text) > LONGEST or not text.isprintable():
            raise ValueError(f"--{name} has {len(text)} letters; one line of {LONGEST} is wanted")
        paper.check(f"--{name}", text)
    for made in sheets:
        paper.check("--class", made.student.name + made.student.id)
        paper.check("--sentence", "".join(made.run.tokens))


def _files(
    arguments: argparse.Namespace, part: str, pages: list[str], sheets: Sequence[Worksheet]
) -> dict[str, list[str]]:
    """Return which pages go into which file."""
    if part != "worksheets" or not arguments.each:
        return {f"{part}-{arguments.seed}.pdf": pages}
    return {
        f"worksheet-{arguments.seed}-{_file_name(made)}.pdf": [page]
        for made, page in zip(sheets, pages, strict=True)
    }


def _file_name(made: Worksheet) -> str:
    """Return what a student's file is called: the number first, then name and id."""
    student = made.student
    named = re.sub(r"\W+", "-", f"{student.name}-{student.id}").strip("-").lower()
    return f"{student.number:03}{f'-{named[:60]}' if named else ''}"
