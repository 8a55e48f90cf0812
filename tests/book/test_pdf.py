"""The printed book: complete, with the pages' numbers, and without visible flaws."""

import random
import re
import subprocess
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from copy import copy
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import book_site as site
import chains
import printed_book
import printing
import pytest
import yaml
from page_texts import LEAKS
from printed_book import bookmarks, squeezed
from pypdf import PdfReader

from byhand.contents import read_contents
from byhand.document import BIBLIOGRAPHY, Document

pytestmark = [pytest.mark.book, pytest.mark.pdf]
PAGES = site.printed_pages()
PDF = site.ROOT / "_build" / "pdf" / "attention-by-hand.pdf"
CITED = re.compile(r"(Table|Fig\.|Exercise)\s+(\d+\.\d+)(?!\d|\.\d)(:?)")


@pytest.fixture(scope="module")
def reader():
    assert PDF.is_file(), f"{PDF.relative_to(site.ROOT)} is missing; run build.py pdf"
    return PdfReader(PDF)


@pytest.fixture(scope="module")
def pages():
    return printed_book.text_of(PDF)


@pytest.fixture(scope="module")
def text(pages):
    return squeezed("".join(pages))


def fullness(pdf):
    """Return the position of the lowest word of each page, as a share of the text height."""
    pages = printed_book.poppler("pdftotext", "-bbox", str(pdf), "-").split("<page ")[1:]
    shares = []
    for page in pages:
        height = float(re.search(r'height="([\d.]+)"', page)[1])
        top, bottom = 26 / 25.4 * 72, height - 22 / 25.4 * 72
        lowest = max(map(float, re.findall(r'yMax="([\d.]+)"', page)), default=0)
        shares.append((lowest - top) / (bottom - top))
    return shares


def first_page_of(reader, title):
    """Return the page on which a chapter begins, counted from 0."""
    entry = next(entry for entry in bookmarks(reader.outline) if entry["/Title"].endswith(title))
    return reader.get_destination_page_number(entry)


def heading(element):
    """Return a heading of a page without its number and its permalink."""
    element = copy(element)
    for extra in element.select(".section-number, .headerlink"):
        extra.decompose()
    return squeezed(element.get_text())


@cache
def printed_article(name):
    """Return a page's content without the parts for the screen. Tests must not change it."""
    article = copy(site.soup(name).find("article"))
    for extra in article.select("details.all-numbers, .difficulty, .headerlink, .screen-only"):
        extra.decompose()
    return article


def test_every_font_is_the_book_s_embedded_and_maps_to_unicode():
    fonts = printed_book.fonts(PDF)
    wanted = ("STIXTwoText", "STIXTwoMath", "AttentionInterface", "JetBrainsMono")
    for name, kind, is_embedded, has_unicode in fonts:
        assert (is_embedded, has_unicode, kind == "Type 3") == (True, True, False), name
        assert name.partition("+")[2].startswith(wanted), name
    assert all(any(family in name for name, *_ in fonts) for family in wanted)


def test_the_pages_are_set_as_a_publisher_would(reader, pages):
    assert len(pages) <= 255
    last = {reader.get_destination_page_number(entry) for entry in bookmarks(reader.outline)}
    for number, share in enumerate(fullness(PDF), 1):
        assert share >= 1 / 4 or number in {*last, len(pages)}, number


def test_the_book_says_what_it_is_and_nothing_is_raster(reader, pages):
    assert reader.metadata.title == "Attention by Hand"
    assert reader.metadata.author == "The Attention by Hand authors"
    assert reader.trailer["/Root"]["/Lang"].startswith("en")
    assert {tuple(round(float(x)) for x in page.mediabox[2:]) for page in reader.pages} == {
        (595, 842)
    }
    cited = yaml.safe_load((site.ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    cover = " ".join(pages[0].split())
    assert "Attention by Hand" in cover
    assert f"{cited['date-released']:%-d %B %Y}, version {cited['version']}" in cover
    assert reader.metadata.creation_date.date() == cited["date-released"]
    assert "Every result of a worked example was computed" in " ".join(pages[1].split())
    assert printed_book.poppler("pdfimages", "-list", str(PDF)).splitlines()[2:] == []


def test_each_page_has_its_number(reader, pages):
    first, labels = first_page_of(reader, "About this book"), reader.page_labels
    assert labels[first - 1][0] in "iv"
    assert labels[first:] == list(map(str, range(1, len(pages) - first + 1)))
    for number, page in zip(labels[first:], pages[first:], strict=True):
        assert number in page.splitlines(), number


OF_THE_SCREEN = (
    *(r"[Dd]rag the", "click", "folded away", "underlined number", "slider", r"[Ss]ettings"),
    *("import torch", r"[Oo]n the screen, on the page"),
)


def test_nothing_of_the_screen_or_the_program_leaks(pages):
    leaks = re.compile("|".join([*LEAKS, *OF_THE_SCREEN]))
    found = [(n, leaks.search(page)) for n, page in enumerate(pages, 1)]
    assert [(n, leak[0]) for n, leak in found if leak] == []


def test_every_work_has_its_address_in_the_list_and_no_number_from_the_foot_of_the_page(pages):
    text = " ".join("\n".join(pages).split())
    listed = text[text.rindex("Papers [") : text.rindex("Source documents of the examples")]
    works = re.split(r" (?=\[[A-ZŁ][^\]]+, \d{4}[a-z]?\] )", listed)[1:]
    assert len(works) > 25
    for work in works:
        assert re.search(r"doi: ?10\.|arXiv: ?\d{4}\.\d{4,5}(?!\d)|URL: ?https", work), work


@pytest.mark.slow
def test_a_validator_finds_no_error_of_pdf_ua():
    outloud = Path(sys.executable).with_name("outloud")
    command = [str(outloud), "--layer", "conformance", "--quiet", PDF]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, ": 0 error(s)" in done.stdout) == (0, True), done.stdout


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_printed_in_its_order_with_its_headings_and_numbers(name, text, reader):
    article = printed_article(name)
    its_numbers_stand_in_print(article, text)
    titles = {squeezed(entry["/Title"]) for entry in bookmarks(reader.outline)}
    bare = {re.sub(r"^[\d.]+", "", title) for title in titles} | titles
    headings = map(heading, article.select(":is(h1, h2):not(.screen-only *)"))
    if name != PAGES[0]:
        assert [h for h in headings if h not in bare and not h.startswith("Allnumbers")] == []
    # Table cells may break in the middle of a word, and hyphens part words at the end of a line.
    elsewhere = ".solution, .quiz-answer, mha-quiz, mha-your-turn, mha-build, figcaption, table"
    paragraphs = article.select(f"p:not(:is({elsewhere}) *)")
    plain = [p.get_text() for p in paragraphs if not p.select("math, a, .printed")]
    unbroken, at = text.replace("-", ""), 0
    for line in (squeezed(p).replace("-", "")[:40] for p in plain if len(p) > 60):
        assert line in unbroken  # the first line of the paragraph: a page may end behind it
        at = max(at, unbroken.find(line, at))
    assert at or not plain
    # Feedback on answers is printed in the key alone, and folded predictions are printed open.
    key = unbroken.index("Answers", unbroken.index("Answers") + 1)  # the first is in the contents
    for said in article.select(".quiz-feedback > p"):
        words = squeezed(said.get_text()).replace("-", "")[:40]
        assert said.select("math, a") or len(words) < 40 or unbroken.find(words, 0, key) < 0


def its_numbers_stand_in_print(article, text):
    captions = article.select("caption .caption-number, figcaption .caption-number")
    numbers = [squeezed(caption.get_text()) for caption in captions]
    assert [number for number in numbers if f"{number}:" not in text] == []
    equations = [squeezed(e.get_text())[: len("(99.99)")] for e in article.select(".eqno")]
    assert [n for n in equations if n[: n.index(")") + 1] not in text] == []
    exercises = [squeezed(t.get_text()) for t in article.select(".exercise > .admonition-title")]
    assert [number for number in exercises if text.count(number) < 2] == []  # with its solution


def test_what_is_cited_stands_on_paper_and_on_the_page_that_is_named(pages, reader):
    found = [(m, n) for n, page in enumerate(pages) for m in CITED.finditer(page)]
    there = {m[1] + m[2]: n for m, n in found if m[3]}
    cited = {m[1] + m[2] for m, _ in found if m[1] != "Exercise"}
    assert len(cited) > 200
    assert cited - set(there) == set()
    first = first_page_of(reader, "About this book")
    named = re.findall(r"((?:Table|Fig\.)\d+\.\d+)\(page(\d+)\)", squeezed("".join(pages)))
    assert len(named) > 30
    for what, page in named:
        assert there[what] == first + int(page) - 1, what


@pytest.mark.slow
def test_random_selections_of_chapters_have_no_broken_references():
    chance = random.Random(7)
    chapters = [page for page in read_contents().chapters if page != BIBLIOGRAPHY]
    documents = [
        Document(
            name=f"reader-{i}",
            chapters=tuple(chance.sample(chapters, chance.randint(1, 4))),
            solutions=("none", "appendix", "only")[i % 3],
        )
        for i in range(6)
    ]
    # In a new process, because Sphinx keeps global state that would affect later tests.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        sources = pool.submit(printing.sources, documents).result()
    found = 0
    for document, source in zip(documents, sources, strict=True):
        names = re.findall(r'(label\(|#exercise\()?"((?:[a-z-]+/)?[a-z-]+#[\w./-]*)"', source)
        named = {name for use, name in names if not use}
        led_to = {name for use, name in names if use}
        found += len(named)
        assert led_to <= named, document.chapters
        works = re.findall(r"// at book/bibliography\.md:3\n(.+)", source)
        assert len(works) == len(set(works)), document.chapters
    assert found > 100


ASKED = re.compile(r"#boxed(?:\(how: \"[^\"]*\"\))?\[((?:Question|Your turn) \d+)\]|(#exercise)\(")
ANSWERED = re.compile(
    r"#answered\((?s:.*?)\)\[(Question \d+)\\:|#worked\[(Your turn \d+)\]|(#solution)\("
)


def count_by_title(pattern, source):
    """Return the number of questions, or of answers, in a source by title."""
    titles = ("".join(filter(None, found.groups())) for found in pattern.finditer(source))
    return Counter(title.replace("#solution", "#exercise") for title in titles)


@pytest.mark.slow
def test_every_question_on_paper_has_its_answer_in_that_edition():
    chapters = ("mechanism/self-attention", "mechanism/scaling")
    kinds = ("appendix", "none", "only")
    readers = [Document(name=kind, chapters=chapters, solutions=kind) for kind in kinds]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        sources = pool.submit(printing.sources, [Document(), *readers]).result()
    whole, appendix, none, only = sources
    assert count_by_title(ASKED, whole).total() > 260
    assert count_by_title(ANSWERED, whole) == count_by_title(ASKED, whole)
    asked = count_by_title(ASKED, none)
    assert {title.split()[0] for title in asked} == {"Question", "Your", "#exercise"}
    assert count_by_title(ANSWERED, none).total() == 0
    assert count_by_title(ASKED, only).total() == 0
    assert count_by_title(ANSWERED, only) == asked
    assert count_by_title(ASKED, appendix) == count_by_title(ANSWERED, appendix) == asked


@pytest.mark.slow
def test_no_page_on_either_paper_holds_a_few_lines_alone(tmp_path):
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        made = pool.submit(printing.typeset, [printing.whole_book("letter")]).result()
    letter = tmp_path / "letter.pdf"
    letter.write_bytes(made["attention-by-hand-letter.pdf"])
    for pdf in (PDF, letter):
        title, _, *pages, _ = printed_book.text_of(pdf, "-layout")
        assert "Attention" in title
        assert pages_of_few_lines(pages) == []


def pages_of_few_lines(pages):
    """Return the texts of pages with fewer than six lines below their head and no figure."""
    lines = {page: [line for line in page.splitlines() if line.strip()] for page in pages}
    return [page for page in pages if len(lines[page]) < 7 and "Fig." not in page]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["appendix", "only"])
def test_no_page_of_a_readers_appendix_holds_a_few_lines_alone(tmp_path, kind):
    chapters = ("mechanism/softmax", "examples/the-cat-sat-end", "transformer/decoding")
    document = Document(name="reader", chapters=chapters, solutions=kind)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        made = pool.submit(printing.typeset, [document]).result()
    reader = tmp_path / "reader.pdf"
    reader.write_bytes(made["reader.pdf"])
    text = printed_book.text_of(reader, "-layout")
    appendix = next(i for i, page in enumerate(text) if page.lstrip().startswith("Answers to the"))
    assert pages_of_few_lines(text[appendix:]) == []


def test_the_outline_holds_the_parts_and_what_print_adds(reader, pages):
    titles = {" ".join(entry["/Title"].split()) for entry in bookmarks(reader.outline)}
    added = {"Part I The mechanism", "About this book", "Solutions", "Index", "Bibliography"}
    assert added <= titles
    solutions = [i for i, page in enumerate(pages) if "Solution to Exercise" in page]
    assert len(solutions) > 5
    assert min(solutions) >= first_page_of(reader, "Solutions")


def printed_text(text):
    """Return the text of a PDF in the form that `chains` reads, with e0.5 as e^0.5.

    A total below a drawing does not continue the calculation above it.
    """
    text = re.sub(r"\n\n(?=[=≈] )", "\n\n. ", text.replace("\u00ad", ""))
    text = re.sub("[\U0001d6a8-\U0001d7cb]\\d+", " ; ", text)  # a Greek letter with its index
    return re.sub(r"(?<![\w.])e ?(?=[−-]?(?:\d|∞))", "e^", text)


def test_every_line_holds_as_it_is_printed_as_far_as_it_can_be_read():
    """Lines across a page break and parts of formulas, which have no decimals, are skipped."""
    found = chains.read(printed_text(printed_book.poppler("pdftotext", str(PDF), "-")))
    found = [one for one in found if "×" in one.text or re.search(r"\d\.\d", one.text)]
    quoted = "0.48 + 0.04 + 0.6 + 0.06 = 0.81"  # the next line's number may follow
    assert [one for one in found if one.faults() and not one.text.startswith(quoted)] == []
    assert len(found) >= 100


def test_the_index_and_the_bibliography_are_filled(pages):
    index = "".join(pages[-4:])
    for entry in (r"\d–\d", r"^entropy, \d+", r"^softmax, \d+", r"see attention"):
        assert re.search(entry, index, re.MULTILINE), entry
    assert "Attention is all you need" in " ".join("".join(pages).split())
