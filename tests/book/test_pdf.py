"""The printed book: complete, with the pages' numbers, without a flaw that a reader would see."""

import re
from copy import copy
from functools import cache

import book_site as site
import printed_book
import pytest
import yaml
from printed_book import squeezed
from pypdf import PdfReader

BUILD = site.ROOT / "_build"
NAME = "attention-by-hand"
pytestmark = [pytest.mark.book, pytest.mark.pdf]
PAGES = site.printed_pages()


@pytest.fixture(scope="module")
def pdf():
    file = BUILD / "pdf" / f"{NAME}.pdf"
    assert file.is_file(), f"{file.relative_to(site.ROOT)} is missing; run build.py pdf"
    return file


@pytest.fixture(scope="module")
def reader(pdf):
    return PdfReader(pdf)


@pytest.fixture(scope="module")
def pages(pdf):
    return printed_book.text_of(pdf)


@pytest.fixture(scope="module")
def text(pages):
    return squeezed("".join(pages))


@cache
def log():
    return (BUILD / "print" / NAME / f"{NAME}.log").read_text(encoding="utf-8", errors="replace")


def begins(reader, title):
    """Return on which page, counted from 0, a chapter begins."""
    return next(
        reader.get_destination_page_number(entry)
        for entry in flat(reader.outline)
        if entry["/Title"].endswith(title)
    )


def flat(outline):
    """Yield the bookmarks of an outline."""
    for entry in outline:
        yield from flat(entry) if isinstance(entry, list) else [entry]


def heading(element):
    """Return a heading of a page without its number and its permalink."""
    element = copy(element)
    for extra in element.select(".section-number, .headerlink"):
        extra.decompose()
    return squeezed(element.get_text())


def test_every_font_is_embedded_and_maps_to_unicode(pdf):
    fonts = printed_book.fonts(pdf)
    assert len(fonts) > 10
    for name, kind, is_embedded, has_unicode in fonts:
        assert is_embedded, name
        assert has_unicode, name
        assert kind != "Type 3", name


def test_the_book_s_typefaces_stand_in_print_and_no_others(pdf):
    names = {name.partition("+")[2] for name, *_ in printed_book.fonts(pdf)}
    wanted = ("STIXTwoText", "STIXTwoMath", "SourceSans3", "JetBrainsMono")
    families = {family for family in wanted if any(family in name for name in names)}
    assert families == set(wanted)
    drawn = ("Source-Sans-3", "STIX-Two")
    assert [n for n in names if not n.startswith((*wanted, *drawn, "DejaVuSans"))] == []


def test_a_line_of_text_is_as_long_as_can_be_read_well(pdf):
    paragraphs = [
        line
        for page in printed_book.text_of(pdf, "-layout")[8:60]
        for line in page.splitlines()
        if re.match(r"[A-Za-z(][\w,;:’()“” .-]{39,}$", line) and "  " not in line
    ]
    lengths = sorted(map(len, paragraphs))
    assert len(lengths) > 200
    assert 65 <= lengths[len(lengths) // 2] <= 75


def test_no_page_is_nearly_empty_but_before_a_part_and_at_the_end(pdf, pages):
    assert len(pages) <= 220
    fullness = printed_book.fullness(pdf)
    nearly_empty = [number for number, share in enumerate(fullness, 1) if share < 1 / 3]
    before_a_part = [n for n, page in enumerate(pages) if re.search(r"^Part [IV]+\b", page, re.M)]
    assert [n for n in nearly_empty if n not in (*before_a_part, len(pages))] == []


def test_the_cover_says_which_edition_it_is_and_its_back_how_numbers_come_about(pages):
    cited = yaml.safe_load((site.ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    cover = " ".join(pages[0].split())
    assert "Attention by Hand" in cover
    assert f"{cited['date-released']:%-d %B %Y}, version {cited['version']}" in cover
    assert "Every result of a worked example was computed" in " ".join(pages[1].split())


def test_each_page_s_head_has_its_chapter_and_number(reader, pages):
    lines = [[line for line in page.splitlines() if line.strip()] for page in pages]
    first, softmax = begins(reader, "About this book"), begins(reader, "Softmax")
    for number, page in enumerate(lines[first:], 1):
        assert str(number) in page, (number, page[:5])
    assert all(page[:2] == ["4", "Softmax"] for page in lines[softmax + 1 : softmax + 10])


def test_what_is_said_to_readers_of_a_screen_is_not_printed(pages):
    for number, page in enumerate(pages, 1):
        for word in (
            r"[Dd]rag the",
            "click",
            "folded away",
            "underlined number",
            "slider",
            "[Ss]ettings",
        ):
            assert not re.search(word, page), (number, word)


def test_every_work_has_its_address_in_the_list_and_no_number_from_the_foot_of_the_page(pages):
    text = " ".join("\n".join(pages).split())
    listed = text[text.rindex("Papers [") : text.rindex("Documents whose examples are worked here")]
    works = re.split(r" (?=\[[A-ZŁ][^\]]+, \d{4}[a-z]?\] )", listed)[1:]
    assert len(works) > 25
    for work in works:
        assert re.search(r"doi: ?10\.|arXiv: ?\d{4}\.\d{4,5}(?!\d)|URL: ?https", work), work
        assert not re.search(r"\d https?://", work), work


def test_nothing_is_raster(pdf):
    assert printed_book.poppler("pdfimages", "-list", str(pdf)).splitlines()[2:] == []


def test_the_pdf_says_what_it_is(reader):
    assert reader.metadata.title == "Attention by Hand"
    assert reader.metadata.author == "The Attention by Hand authors"
    assert reader.metadata.subject.startswith("Multi-head attention")
    assert reader.trailer["/Root"]["/Lang"] == "en"
    assert reader.trailer["/Root"]["/ViewerPreferences"]["/DisplayDocTitle"]
    assert {tuple(round(float(x)) for x in page.mediabox[2:]) for page in reader.pages} == {
        (595, 842)
    }


def test_front_matter_has_roman_page_numbers_and_the_text_arabic_ones(reader, pages):
    labels = reader.page_labels
    first = begins(reader, "About this book")
    contents = next(i for i, page in enumerate(pages) if "Contents" in page.split()[:2])
    assert contents < first
    assert labels[contents] == "i"
    assert labels[first] == "1"
    assert labels[-1] == str(len(pages) - first)


def test_every_link_inside_leads_somewhere(reader):
    assert sum(1 for _ in printed_book.link_names(reader)) > 900
    assert printed_book.dead_links(reader) == []


@pytest.mark.parametrize("name", PAGES[1:])
def test_the_outline_holds_every_chapter_and_section(name, reader):
    titles = {squeezed(title) for _, title in printed_book.outline(reader)}
    headings = site.soup(name).select("article h1, article h2")
    assert len(headings) > 1
    assert [h for h in map(heading, headings) if h not in titles] == []


def test_the_outline_holds_the_parts_and_what_print_adds(reader):
    titles = [title for _, title in printed_book.outline(reader)]
    for title in (
        "I The mechanism",
        "II Worked examples",
        "About this book",
        "Solutions",
        "Index",
    ):
        assert title in titles, title


@pytest.mark.parametrize("name", PAGES)
def test_every_number_of_a_page_stands_in_print(name, text):
    article = copy(site.soup(name).find("article"))
    for only_on_the_screen in article.select("details.all-numbers > noscript, .difficulty"):
        only_on_the_screen.decompose()
    captions = [
        squeezed(c.get_text())
        for c in article.select("caption .caption-number, figcaption .caption-number")
    ]
    for number in captions:
        assert f"{number}:" in text, number
    for number in (squeezed(e.get_text().replace("#", "")) for e in article.select(".eqno")):
        assert re.match(r"^\(\d+\.\d+\)", number)
        assert number[: number.index(")") + 1] in text, number
    exercises = [
        squeezed(title.get_text()) for title in article.select(".exercise > .admonition-title")
    ]
    for number in exercises:
        assert text.count(number) >= 2, number  # itself, and its solution's heading
    assert len(captions) + len(exercises) > 0 or name in ("bibliography", "reference/package")


@pytest.mark.parametrize("name", PAGES[1:])
def test_sections_keep_their_numbers_in_the_contents(name, text):
    for element in site.soup(name).select("article h2"):
        number = element.select_one(".section-number")
        if number:
            assert squeezed(number.get_text()).rstrip(".") + heading(element) in text


def test_solutions_stand_in_an_appendix_and_not_after_their_exercise(reader, pages):
    appendix = begins(reader, "Solutions")
    places = [i for i, page in enumerate(pages) if "Solution to Exercise" in page]
    assert len(places) > 5
    assert min(places) >= appendix


def test_cross_references_name_pages(text):
    assert len(re.findall(r"\(page\d+\)", text)) > 200


def test_the_index_and_the_bibliography_are_filled(reader, pages):
    index = "".join(page for page in pages[-4:])
    assert re.search(r"\d–\d", index)
    assert "--" not in index
    assert re.search(r"^entropy, \d+", index, re.MULTILINE)
    assert re.search(r"^softmax, \d+", index, re.MULTILINE)
    assert re.search(r"see attention", index)
    assert [title for _, title in printed_book.outline(reader)].count("Bibliography") == 1
    assert "Attention is all you need" in " ".join("".join(pages).split())


@pytest.mark.parametrize(
    "leak",
    [
        r"\?\?",
        r"0x[0-9a-f]{6}",
        r"<mha\.",
        r"<IPython",
        r"\\(frac|mathrm|sqrt|begin|sphinx)",
        r"np\.float64\(",
        r"%PLACE",
    ],
)
def test_nothing_leaks(leak, pages):
    for number, page in enumerate(pages, 1):
        assert not re.search(leak, page), (number, leak)


def test_no_page_is_blank(pages):
    for number, page in enumerate(pages, 1):
        assert len(squeezed(page)) > 15, number


def test_the_log_has_no_flaw():
    assert "Output written on" in log()
    for flaw in (
        "Missing character",
        "multiply defined",
        "undefined references",
        "has been referenced but does not exist",
        "LaTeX Warning: Reference",
        "LaTeX Warning: Hyper reference",
    ):
        assert flaw not in log(), flaw


def test_no_box_sticks_out_by_ten_points():
    boxes = re.findall(r"Overfull \\[hv]box \((\d+\.\d+)pt", log())
    assert [points for points in boxes if float(points) > 10] == []
