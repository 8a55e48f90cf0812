"""The command `check.py`: findings in the sources, with file and line."""

import sys
from pathlib import Path

from command_lines import make_parser
from environment import ROOT, fail

from byhand.checking import Finding, check_sources, fix_sources


def main() -> None:
    """Cure what can be cured if asked, and print every finding; exit code 1 if there is one."""
    arguments = make_parser("checking").parse_args()
    pages = [page_of(given) for given in arguments.chapter]
    if arguments.fix:
        for file in fix_sources(ROOT, pages):
            print(f"{file} is written as Jupyter saves it")
    try:
        found = check_sources(ROOT, pages)
    except ValueError as error:
        fail(str(error))
    refuse(found, "nothing was executed")
    print("The sources are as they should be; nothing was executed.")


def page_of(given: str) -> str:
    """Return the name of a page from its name or its file.

    Examples
    --------
    >>> page_of("book/mechanism/softmax.md"), page_of("index")
    ('mechanism/softmax', 'index')
    """
    return Path(given).as_posix().removeprefix("./").removeprefix("book/").removesuffix(".md")


def refuse(found: list[Finding], so: str) -> None:
    """End with all findings and the consequence `so`, if there is a finding."""
    if found:
        print("\n".join(map(str, found)), file=sys.stderr)
        fail(f"{so}; {len(found)} fault{'s' if len(found) > 1 else ''} in the sources")
