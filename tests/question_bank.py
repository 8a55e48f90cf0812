"""The question bank of the built pages, written once for all tests that read it."""

import tempfile
import zipfile
from functools import cache
from pathlib import Path

from book_site import SITE
from packs import pages, questions

SEED, VARIANTS = 3, 4


@cache
def book():
    return pages.read(SITE)


@cache
def bank():
    return questions.bank(book(), seed=SEED, variants=VARIANTS)


@cache
def files():
    """Return the files of the bank by their names."""
    made = questions.write(bank(), Path(tempfile.mkdtemp()))
    return {path.name: path for path in made}


def unpacked(name, folder):
    """Return a folder with what is in one of the packages."""
    with zipfile.ZipFile(files()[name]) as archive:
        archive.extractall(folder)
    return folder


def texts(question):
    """Yield all that a question says."""
    yield question.text
    for option in question.options:
        yield from (option.text, option.feedback)
    yield question.feedback
