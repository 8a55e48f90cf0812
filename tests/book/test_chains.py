"""Every calculation that the book prints is computed: on the built pages and in the PDF."""

import re
import subprocess

import chains
import pytest
from book_site import ROOT, soup, toc_pages

QUOTED = {"0.48 + 0.04 + 0.6 + 0.06 = 0.81"}
"""What stands in the book because it is wrong: a source prints it."""

PAGES_AT_LEAST, PDF_AT_LEAST = 250, 100
"""How many chains there are at least; of a reader that found fewer no one should believe that all
of them hold."""


def faults_of(found):
    quoted = tuple(QUOTED)  # in print the next line's number may follow
    return [fault for one in found if not one.text.startswith(quoted) for fault in one.faults()]


@pytest.mark.book
def test_every_line_of_the_built_pages_holds_as_it_is_printed():
    found = {page: chains.read(chains.page_text(soup(page))) for page in toc_pages()}
    false = {page: faults for page, read in found.items() if (faults := faults_of(read))}
    assert false == {}
    assert sum(map(len, found.values())) >= PAGES_AT_LEAST
    texts = {one.text for read in found.values() for one in read}
    assert texts >= QUOTED
    signs = [sign for read in found.values() for one in read for sign in one.relations]
    assert min(signs.count("="), signs.count("≈")) >= PAGES_AT_LEAST / 4


@pytest.mark.book
@pytest.mark.pdf
def test_every_line_of_the_printed_book_holds_as_far_as_it_can_be_read():
    """Lines that a page break parts are not read. Pieces of formulas are left out: no decimals."""
    (pdf,) = (ROOT / "_build" / "pdf").glob("*.pdf")
    done = subprocess.run(["pdftotext", str(pdf), "-"], capture_output=True, check=True)
    found = chains.read(chains.printed_text(done.stdout.decode()))
    found = [one for one in found if "×" in one.text or re.search(r"\d\.\d", one.text)]
    assert faults_of(found) == []
    assert len(found) >= PDF_AT_LEAST
