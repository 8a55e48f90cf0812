"""The EPUB has the text of the pages, every answer at the end, and no error for any reader."""

import subprocess
import zipfile
from pathlib import Path

import book_site
import pytest
import yaml
from epub import book
from lxml import etree
from lxml.html.builder import E

from byhand.document import Document

pytestmark = pytest.mark.book
XHTML = "{http://www.w3.org/1999/xhtml}"


@pytest.fixture(scope="module")
def epub(tmp_path_factory):
    """Return the file, and its documents by name."""
    file = tmp_path_factory.mktemp("epub") / "book.epub"
    file.write_bytes(book.archive(Document()))
    with zipfile.ZipFile(file) as archive:
        names = [name for name in archive.namelist() if name.endswith(".xhtml")]
        return file, {Path(name).name: etree.fromstring(archive.read(name)) for name in names}


def elements_of_class(tree, name):
    """Return the elements of a class."""
    return tree.xpath(f'//*[contains(concat(" ", @class, " "), " {name} ")]')


def said(element):
    return " ".join("".join(element.itertext()).split())


@pytest.mark.epub
def test_epubcheck_finds_neither_error_nor_warning(epub):
    jar = subprocess.run(["which", "epubcheck"], capture_output=True, text=True, check=True)
    command = ["java", "-jar", jar.stdout.strip(), "--failonwarnings", str(epub[0])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 fatals / 0 errors / 0 warnings" in done.stdout + done.stderr


def test_every_number_of_the_pages_is_there(epub):
    kinds, total = ("caption-number", "eqno", "section-number"), 0
    for page in book_site.toc_pages():
        numbers = {
            element.get_text(strip=True).removesuffix("#")
            for element in book_site.soup(page).article.find_all(class_=kinds)
            if not element.find_parent(class_=["screen-only", "tag_screen-only"])
        }
        name = page.replace("/", "-")
        made = (epub[1].get(file) for file in (f"{name}.xhtml", f"answers-{name}.xhtml"))
        trees = [tree for tree in made if tree is not None]
        found = {said(e) for tree in trees for kind in kinds for e in elements_of_class(tree, kind)}
        assert numbers == found, page
        total += len(numbers)
    assert total > 300


def test_the_edition_is_that_of_the_citation(epub):
    cited = yaml.safe_load((book_site.ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    day = cited["date-released"]
    package = zipfile.ZipFile(epub[0]).read("book/package.opf").decode()
    assert f"<dc:date>{day}</dc:date>" in package
    assert f">{day}T00:00:00Z</meta>" in package
    contents = said(epub[1]["contents.xhtml"])
    assert f"Edition of {day:%-d %B %Y}, version {cited['version']}" in contents


def test_each_question_leads_to_its_answer_and_back(epub):
    documents, asked = epub[1], 0
    for name, tree in documents.items():
        for link in tree.xpath('//*[@class="to-answer"]/*'):
            file, _, identifier = link.get("href").partition("#")
            (answer,) = documents[file].xpath("//*[@id=$id]", id=identifier)
            back = next(answer.iter(f"{XHTML}a")).get("href")
            assert tree.xpath("//*[@id=$id]", id=back.removeprefix(f"{name}#")), back
            assert len(said(answer)) > 20
            asked += 1
    wanted = ("mha-quiz", "mha-your-turn", "mha-build", ".solution")
    on_pages = ", ".join(f"{each}:not(.tag_screen-only *)" for each in wanted)
    pages = map(book_site.soup, book_site.toc_pages())
    assert asked == sum(len(page.article.select(on_pages)) for page in pages)


def test_there_are_no_buttons_and_figures_formulas_and_tables_have_text(epub):
    for tree in epub[1].values():
        kinds = {etree.QName(e).localname for e in tree.iter(etree.Element)}
        assert not kinds & {"script", "button", "input", "form", "noscript"}
        for kind, word in (("svg", "aria-label"), ("math", "alttext")):
            for e in tree.xpath(f"//*[local-name()='{kind}']"):
                assert e.get(word), etree.tostring(e)[:200]
        assert all(head.get("scope") for head in tree.iter(f"{XHTML}th"))
        assert len(list(tree.iter(f"{XHTML}h1", f"{XHTML}img"))) == 1


def test_an_explorer_is_the_drawing_that_print_has_of_it(epub):
    (figure,) = epub[1]["mechanism-softmax.xhtml"].xpath('//*[@id="fig-river-bank-softmax"]')
    (drawing,) = figure.iter("{http://www.w3.org/2000/svg}svg")
    assert drawing.get("aria-label").startswith("Three matrices per head")


def test_a_link_that_leads_nowhere_is_told():
    chapter = book.Chapter("notation", E.div(E.a("it", href="notation#lost")))
    with pytest.raises(SystemExit, match=r"book/notation\.md: “it” leads to lost of book/notation"):
        book.resolve([chapter])
