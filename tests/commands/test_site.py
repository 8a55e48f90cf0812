"""The published site: the pages, and each file that a page links to.

Outputs that other tests build are represented by their names alone.
"""

import re
import zipfile

import printing
import pytest
import whole_site
from book_site import ROOT, SITE, source
from epub import book as epub
from lxml import html
from pack_files import CARTRIDGE, DECK, QUESTIONS
from packs import command as packs

import mha

pytestmark = [pytest.mark.book, pytest.mark.pdf]
PRINTED = ROOT / "_build" / "pdf" / "attention-by-hand.pdf"
CHAPTERS = [path.name.split(".")[0] for path in (ROOT / "book").rglob("*.slides.md")]
DECKS = [f"{name}{end}" for name in CHAPTERS for end in (".pdf", "-notes.pdf", ".pptx")]


def printed(documents):
    """Return each printed document by its name."""
    return {f"{document.name}.pdf": PRINTED.read_bytes() for document in documents}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(whole_site, "FOLDER", folder / "site")
        patch.setattr(printing, "typeset", printed)
        patch.setattr(epub, "archive", lambda book: b"EPUB")
        named = {"slides": DECKS, "questions": QUESTIONS, "cards": [DECK]}
        for name, files in (named | {"cartridge": [CARTRIDGE]}).items():
            made = dict.fromkeys(files, b"made")  # files that have names and nothing else
            patch.setitem(packs.PACKS, name, lambda arguments, pages, made=made: made)
        whole_site.make()
        yield folder / "site"


def read(file):
    return html.document_fromstring(file.read_text(encoding="utf-8"))


def test_each_name_of_a_file_is_a_link_to_it_and_no_file_is_without_one(site):
    named = set()
    for file in site.rglob("*.html"):
        page = read(file)
        assert not page.find_class("off-site")
        for link in page.find_class("on-site"):
            target = (file.parent / link.get("href")).resolve()
            assert target.name == link.text_content()
            assert re.match(r" \(\d+(\.\d)?\s[kM]B\)", link.tail)
            named.add(target)
    assert named == {path.resolve() for path in site.glob("downloads/**/*") if path.is_file()}
    assert f"mha-{mha.__version__}-py3-none-any.whl" in {path.name for path in named}


@pytest.mark.usefixtures("site")
def test_built_pages_lead_to_no_file_and_say_where_the_files_are():
    page = read(SITE / "downloads.html")
    assert not page.xpath("//a[starts-with(@href, 'downloads/')]")
    assert "_build/site" in page.find_class("off-site")[0].text_content()


def test_a_page_that_names_what_is_not_there_is_told(tmp_path):
    (tmp_path / "a.html").write_text('<p><span class="on-site">b.pdf</span></p>')
    with pytest.raises(SystemExit, match=r"error: a\.html names b\.pdf, which is not among the"):
        whole_site.link_downloads(tmp_path)


def test_the_archive_of_the_sources_has_what_the_commands_need(site):
    (file,) = site.glob("downloads/*-source.zip")
    with zipfile.ZipFile(file) as archive:
        names = {name.partition("/")[2] for name in archive.namelist()}
        assert archive.read(f"{file.stem}/book/downloads.md").decode() == source("downloads")
    assert {"scripts/build.py", "requirements.lock", "tests/axe/LICENSE", "README.md"} <= names
