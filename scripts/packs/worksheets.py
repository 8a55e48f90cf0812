"""The command that makes worksheets: a sheet a student, the key and the answers."""

import argparse
from collections.abc import Callable, Sequence

from environment import BUILD, Commands, fail, step
from printing import file_name, option_to, paper, refuse_unprintable

from byhand.press.pdf import press
from mha.practice.worksheets import Student, Worksheet
from mha.practice.worksheets.command import add_options, drawn, texts
from mha.practice.worksheets.files import write_all
from packs.worksheet_pages import TITLE, Part, of_class, source

FOLDER = BUILD / "worksheets"
LONGEST = 120
"""Letters that a title, a course or a date may have: it stands in one line of each page."""


def add_command(what: Commands, common: argparse.ArgumentParser) -> None:
    """Add the command `worksheet`, with the options that `mha` draws worksheets by."""
    command = what.add_parser(
        "worksheet",
        parents=[paper(), option_to(FOLDER)],
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
    command.set_defaults(plan=plan, needs_pages=lambda _: False)


def plan(arguments: argparse.Namespace) -> Callable[[], None]:
    """Return what makes the sheets that are asked for; end with a sentence if there are none."""
    try:
        sheets = drawn(arguments)
    except ValueError as error:
        fail(str(error))
    _check_texts(arguments, sheets)
    return lambda: make(arguments, sheets)


def make(arguments: argparse.Namespace, sheets: Sequence[Worksheet]) -> None:
    """Print and publish the sheets, the key and the answers, all or nothing."""
    with step(f"Printing {len(sheets)} worksheets"):
        written = texts(sheets, model=arguments.model)
        files = {name: text.encode() for name, text in written.items()}
        for what, parts in of_class(sheets, arguments).items():
            printed = _files(arguments, what, parts, sheets)
            files |= {name: press(source(some, arguments)) for name, some in printed.items()}
    try:
        write_all(arguments.to, files, force=arguments.force)
    except ValueError as error:
        fail(str(error))
    print(f"Made {len(files)} files of worksheets in {arguments.to}")


def _check_texts(arguments: argparse.Namespace, sheets: Sequence[Worksheet]) -> None:
    """End with a sentence unless what a teacher wrote can be printed."""
    said = {}
    for name in ("title", "course", "date"):
        text = getattr(arguments, name)
        if len(text) > LONGEST or not text.isprintable():
            fail(f"--{name} has {len(text)} letters; one line of {LONGEST} is wanted")
        said[f"--{name}"] = text
    for made in sheets:
        student = made.student
        said[f"student {student.number} of --class, {student.name},"] = student.name + student.id
        said["--sentence"] = said.get("--sentence", "") + " ".join(made.run.tokens)
    refuse_unprintable(said)


def _files(
    arguments: argparse.Namespace, what: str, parts: list[Part], sheets: Sequence[Worksheet]
) -> dict[str, list[Part]]:
    """Return which parts go into which file."""
    if what != "worksheets" or not arguments.each:
        return {f"{sheets[0].seed.file(what)}.pdf": parts}
    return {
        f"{made.seed.file('worksheet')}-{_whose(made.student)}.pdf": [part]
        for made, part in zip(sheets, parts, strict=True)
    }


def _whose(student: Student) -> str:
    """Return how a student's file is told from others: the number first, then name and id."""
    named = file_name(f"{student.name} {student.id}")
    return f"{student.number:03}-{named}".rstrip("-")
