"""The command `build.py`: pages, printed book, readers, worksheets and packs."""

import argparse
import importlib
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from command_lines import make_parser
from environment import BUILD, ROOT, fail, step
from html_book import build_html

from byhand.press.pdf import PressError
from mha.command_line import in_one_line


def main() -> None:
    """Read the arguments, build, and print the path of the result."""
    arguments = make_parser("building").parse_args()
    with _errors_in_one_sentence():
        if arguments.watch:
            from preview.watching import watch

            watch(arguments.port)
            return
        make = prepare(arguments)
        if "to" in arguments:
            arguments.to.mkdir(parents=True, exist_ok=True)  # fail before the pages are built
        # The printed book, the EPUB and most packs are made from the built pages.
        if arguments.needs_pages(arguments):
            with step("Building the HTML book"):
                build_html(fresh=arguments.all)
        make()


def prepare(arguments: argparse.Namespace) -> Callable[[], None]:
    """Return the function that makes the result; end with an error if it cannot be made."""
    # Only the module of this command is imported: the others are slow to load.
    make: Callable[[], None] = importlib.import_module(arguments.module).prepare(arguments)
    return make


@contextmanager
def _errors_in_one_sentence() -> Iterator[None]:
    """End with one sentence if the press fails, or a file cannot be read or written."""
    try:
        yield
    except PressError as error:
        fail(str(error))
    except shutil.Error as error:  # several files at once, each with its reason
        source, target, reason = error.args[0][0]
        fail(f"{source} cannot be copied to {target}: {reason}")
    except OSError as error:
        name = in_one_line(str(error.filename or BUILD))
        is_source = isinstance(error, PermissionError) and _is_source(Path(name))
        what = "read" if is_source else "read or written"
        fail(f"{name} cannot be {what}: {error.strerror or error}")


def _is_source(path: Path) -> bool:
    return path.is_relative_to(ROOT) and not path.is_relative_to(BUILD)
