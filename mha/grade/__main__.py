"""Grade a folder of notebooks: ``python -m mha.grade FOLDER``."""

import os
import sys

if __name__ == "__main__":
    # A submission in the current folder may have the name of a module that is imported below.
    sys.path = [folder for folder in sys.path if folder not in ("", os.getcwd())]

from collections.abc import Sequence
from multiprocessing.pool import ThreadPool
from pathlib import Path
from secrets import token_bytes
from typing import Any

from mha.command_line import Parser, check_ranges, in_one_line
from mha.grade.grading import Graded, grade
from mha.grade.notebook_process import Limits
from mha.grade.report import TABLE, as_table, as_text, report_name
from mha.grade.sandbox import Sandbox, start_without_sandbox
from mha.grade.submissions import find_submissions
from mha.practice.worksheets.class_list import read_class
from mha.practice.worksheets.seeds import GRADING, key_for, read_secret

RANGES = {"seconds": (1, 600), "memory": (256, 1 << 20), "at_once": (1, 256)}
"""The smallest and the largest value of each option that is a number."""

SANDBOX = (
    "The code of each notebook runs on this machine, in a sandbox of its own, which bubblewrap"
    " makes on Linux. The code can read Python, its packages and the system's libraries, and write"
    " to an empty folder of 64 MB, which is deleted. It cannot start programs or reach the network,"
    " other programs, your files, the secret, the other notebooks or the right answers. Time,"
    " memory and output are limited. Where no sandbox can be made, nothing runs."
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Grade the submissions in a folder, and write the table and the reports.

    The command ends with code 2 if nothing can be graded or a file would be overwritten, and with
    code 130 at Ctrl-C; then it writes no table.
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    folder: Path = options.folder
    target: Path = options.to or folder.absolute().with_name(f"{folder.absolute().name}-graded")
    try:
        _check(options, target)
        key = key_for(read_secret(options.secret), GRADING) if options.secret else token_bytes()
        listed = read_class(options.list) if options.list else None
        students = listed.students if listed else ()
        found = find_submissions(folder, students)
        if not found:
            raise ValueError(f"{folder} holds no submission")
        limits = Limits(options.seconds, 6 * options.seconds, options.memory)
        if options.trust_submissions:
            ran, start = "without a sandbox (--trust-submissions)", start_without_sandbox
            print(f"{parser.prog}: notebooks run {ran}, and can do all you can", file=sys.stderr)
        else:
            hidden = (folder, target, *filter(None, (options.secret, options.list)))
            ran, start = "in a sandbox", Sandbox(hidden).start
        at_once = options.at_once or _most_at_once(options.memory)
        with ThreadPool(at_once) as pool:  # its threads end with this process
            done = pool.map(
                lambda submission: grade(submission, key, limits, start), found, chunksize=1
            )
        _write(done, target, ran)
    except KeyboardInterrupt:
        parser.exit(130, f"{parser.prog}: stopped before a table was written\n")
    except ValueError as error:
        parser.error(str(error))
    except OSError as error:
        parser.error(f"{error.filename or target}: {error.strerror or error}")
    if listed:
        print(listed)
    graded = sum(each.submission.path is not None for each in done)
    missing = f"; without a notebook: {len(done) - graded}" if graded < len(done) else ""
    print(f"Graded: {graded}{missing}. The table is {in_one_line(str(target / TABLE))}")


def _most_at_once(megabytes: int) -> int:
    """Return how many notebooks of this size can run at once on this machine.

    Each is counted twice: its folder, and its JSON in this process, need memory too.
    """
    processors = os.cpu_count() or 1
    if not hasattr(os, "sysconf"):  # Windows
        return processors
    present = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    return max(1, min(processors, present // (2 * megabytes)))


def _write(done: Sequence[Graded], target: Path, ran: str) -> None:
    """Write the table and the reports, and delete the reports of an earlier run."""
    reports = target / "reports"
    reports.mkdir(parents=True, exist_ok=True)
    for old in reports.glob("[0-9][0-9][0-9]-*.md"):
        old.unlink()
    for number, graded in enumerate(done, 1):
        (reports / report_name(number, graded)).write_text(as_text(graded, ran), encoding="utf-8")
    (target / TABLE).write_bytes(as_table(done, ran).encode())


def _parser() -> Parser:
    parser = Parser(
        prog="python -m mha.grade",
        description="Grade notebooks in which students wrote the steps of attention.",
        epilog=SANDBOX,
    )
    add = parser.add_argument
    submissions = "contains a notebook per student, or a folder per student with one notebook"
    add("folder", type=Path, help=submissions)
    target = "for the table and the reports; default: the folder's name with -graded"
    add("--to", type=Path, metavar="FOLDER", help=target)
    listed = "the list of the class; a student who handed in nothing has a row too"
    add("--class", type=Path, dest="list", metavar="FILE", help=listed)
    secret = "a file of yours from which the numbers are derived; default: new numbers each time"
    add("--secret", type=Path, metavar="FILE", help=secret)
    seconds = "time limit of each cell; a whole notebook has six times as much; default: 10"
    add("--seconds", type=int, default=10, help=seconds)
    memory = "memory limit of each notebook, in megabytes; default: 2048"
    add("--memory", type=int, default=2048, help=memory)
    at_once = "notebooks that run at once; default: as many as processors and memory allow"
    add("--at-once", type=int, metavar="NUMBER", help=at_once)
    trust = "run the notebooks without a sandbox, because you wrote them yourself"
    add("--trust-submissions", action="store_true", help=trust)
    force = "overwrite the table and the reports of an earlier run"
    add("--force", action="store_true", help=force)
    return parser


def _check(options: Any, target: Path) -> None:
    """Raise unless the command line makes sense and nothing is lost."""
    check_ranges(options, RANGES)
    if not options.folder.is_dir():
        raise ValueError(f"{options.folder} is no folder")
    if not sys.flags.safe_path and Path.cwd().is_relative_to(options.folder.resolve()):
        raise ValueError(
            "the command is started among the submissions, where Python would run a file that has a"
            " module's name; start it in another folder"
        )
    if target.resolve().is_relative_to(options.folder.resolve()):
        raise ValueError(f"--to is {target}, among the submissions; another folder is wanted")
    if (target / TABLE).exists() and not options.force:
        raise ValueError(f"{target / TABLE} is there already; another --to, or --force is wanted")


if __name__ == "__main__":
    main()
