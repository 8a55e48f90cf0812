"""The preview of a small book: a chapter is edited while a browser shows it."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import TimeoutError as TookTooLong
from playwright.sync_api import expect
from processes import processes_in, wait_until
from small_project import COMMAND, copy_without_pages, published, write_contents, write_pages

pytestmark = pytest.mark.browser

CHAPTER = "mechanism/short"
LOG = Path("_build") / "preview" / "sphinx.log"
SECTION = "## Section {}\n\n" + "A paragraph that goes on. " * 60 + "\n\n"
PAGES = {
    "index": "# A book\n\nIt begins with {ref}`short`.\n",
    CHAPTER: "(short)=\n# Short\n\n```{lead}\nOne sentence.\n```\n\n"
    "```{code-cell}\n:tags: [remove-input]\n\nfrom mha.views import figures\n"
    "figures.vector_bars([[0.75, 0.25]], rows=['cat'], symbol='w')\n```\n\n"
    "```{aims}\n- say what is *short*\n- work a row\n- tell $q$ from $k$\n```\n\n"
    + SECTION.format(1) + SECTION.format(2) + "## Deeper: why\n\nBecause.\n\n"
    + SECTION.format(3) + SECTION.format(4),
}  # fmt: skip
BOARD = "#preview-problems"
PATIENCE = 180_000  # milliseconds: other tests may have all processors


def start(folder):
    """Start a preview of a project, without a display."""
    displays = ("DISPLAY", "WAYLAND_DISPLAY")
    variables = {name: value for name, value in os.environ.items() if name not in displays}
    return subprocess.Popen(
        [sys.executable, "-u", "-c", COMMAND, "--watch", "--port", "0"],
        cwd=folder,
        env=variables | {"PYTHONPATH": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Return a small book that has not been built."""
    folder = tmp_path_factory.mktemp("preview") / "project"
    copy_without_pages(folder)
    (folder / "book" / "mechanism").mkdir()
    write_pages(folder, PAGES)
    write_contents(folder, list(PAGES))
    return folder


@pytest.fixture(scope="module")
def preview(project):
    """Return the address and the process of a preview of the copy."""
    process = start(project)
    address = None
    while address is None:
        line = process.stdout.readline()
        assert line, "the preview has ended"
        address = re.search(r"http://127\.0\.0\.1:\d+/", line)
    assert "No browser was found" in process.stdout.readline()
    wait_until((project / LOG).is_file)  # the pages' process begins by itself
    yield address[0], process
    process.kill()
    process.communicate()


@pytest.fixture
def chapter(project):
    """Yield the chapter's file, and restore it at the end."""
    file = project / "book" / f"{CHAPTER}.md"
    before = file.read_text(encoding="utf-8")
    yield file
    file.write_text(before, encoding="utf-8")


@pytest.fixture
def page(browser, preview, chapter):
    """Return the chapter, opened in a browser."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(f"{preview[0]}{CHAPTER}.html")
    yield page
    for each in context.pages:  # a browser may never end closing a page that is just reloaded
        try:
            each.goto("about:blank", timeout=9_000)
        except TookTooLong:  # its own reload got in between, and neither of the two has ended
            each.goto("about:blank")
    context.close()


def edit(file, old, new):
    """Replace the first occurrence of a text in a file. The text must be present."""
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


def append(file, text):
    """Append a paragraph to a file."""
    with file.open("a", encoding="utf-8") as opened:
        opened.write(f"\n\n{text}\n")


def executed(project):
    """Return the pages that were executed since the preview began."""
    log = (project / LOG).read_text(encoding="utf-8")
    return re.findall(r"(\S+)\.md: its cells have run", log)


def test_prose_is_shown_at_the_same_place_and_nothing_is_executed(page, project, chapter):
    ran, title, before_it = executed(project), page.title(), published(project)
    assert re.match(r"\d+\. ", title)
    page.locator("details.deeper").first.evaluate("e => { e.open = true; }")
    place = page.locator("article h2").nth(2)
    place.evaluate("e => scrollBy({ top: e.getBoundingClientRect().top - 90 })")
    before = place.evaluate("e => e.getBoundingClientRect().top")
    edit(chapter, "```{aims}", "An aardvark stands here.\n\nAnd a second one.\n\n```{aims}")
    page.get_by_text("An aardvark stands here.").wait_for(state="attached")
    page.locator("details.deeper[open]").first.wait_for(state="attached")
    page.wait_for_timeout(300)
    after = page.locator("article h2").nth(2).evaluate("e => e.getBoundingClientRect().top")
    assert abs(after - before) <= 3
    assert executed(project) == ran
    assert page.title() == title
    assert published(project) == before_it
    # It has the style of a chapter alone, not that of the first page.
    assert page.locator("link[href*='book.css']").count() == 1
    assert page.locator("link[href*='landing.css']").count() == 0


def test_a_failing_cell_is_told_above_the_last_good_page_and_heals(page, project, chapter):
    title = page.locator("article h1").inner_text()
    append(chapter, "```{code-cell}\nzebra = 1 / 0\n```\n\nThe zebra is {eval}`zebra`.")
    board = page.locator(BOARD)
    board.get_by_text("ZeroDivisionError").wait_for()
    line = chapter.read_text(encoding="utf-8").splitlines().index("zebra = 1 / 0") + 1
    assert f"book/{CHAPTER}.md:{line}: this cell failed: zebra = 1 / 0" in board.inner_text()
    assert page.locator("article h1").inner_text() == title
    assert page.get_by_text("The zebra is").count() == 0
    edit(chapter, "zebra = 1 / 0", "zebra = 17")
    page.get_by_text("The zebra is 17.").wait_for(state="attached")
    board.wait_for(state="detached")
    assert {name.rpartition("book/")[2] for name in executed(project)} == {CHAPTER}


FIGURE = """```{code-cell}
---
mystnb:
  figure:
    caption: A zebra.
    name: fig-zebra
tags: [remove-input]
---
figures.vector_bars([[0.75, 0.25]], rows=['cat'], symbol='w')
```

It shows in {numref}`fig-zebra`."""


def test_a_new_cell_is_numbered_by_the_same_process_and_so_is_the_page_without_it(
    page, project, chapter
):
    title, log, text = page.title(), (project / LOG).read_text("utf-8"), chapter.read_text("utf-8")
    append(chapter, FIGURE)
    page.get_by_text("It shows in Fig. 1.1").wait_for(state="attached")
    expect(page).to_have_title(title)
    chapter.write_text(text, encoding="utf-8")
    page.get_by_text("It shows in").wait_for(state="detached")
    expect(page).to_have_title(title)
    # A new process would begin a new log.
    assert (project / LOG).read_text(encoding="utf-8").startswith(log)


def test_a_page_that_is_deleted_is_told_and_taken_back_with_what_the_build_would_refuse(
    page, chapter
):
    text = chapter.read_text(encoding="utf-8")
    told = page.get_by_text(f"book/{CHAPTER}.md was deleted, and _toc.yml still names it")
    chapter.unlink()
    told.wait_for()
    chapter.write_text(f"{text}\n\nA badger of 0.73 came back.\n", encoding="utf-8")
    page.get_by_text("A badger of 0.73 came back.").first.wait_for(state="attached")
    page.locator(BOARD).get_by_text("0.73 is typed").wait_for()
    assert told.count() == 0


def test_a_second_preview_is_refused_in_one_sentence(preview, project):
    second = start(project)
    said, _ = second.communicate(timeout=PATIENCE / 1000)
    assert said == f"error: a preview of this book is running already at {preview[0]}\n"
    assert second.returncode == 1


def test_an_edited_style_sheet_is_shown_at_once(page, project):
    sheet = project / "book" / "_static" / "book.css"
    shown = "v => document.body && getComputedStyle(document.body).scrollMarginTop === v"
    rule = "body { scroll-margin: 17px; }"
    append(sheet, rule)
    page.wait_for_function(shown, arg="17px")
    edit(sheet, rule, "")
    page.wait_for_function(shown, arg="0px")


def test_a_page_that_is_missing_or_was_never_built_says_what_is_wrong(page, preview, project):
    # The chapter may be loading again just now, and would get in the way of another address.
    other = page.context.new_page()
    other.goto(f"{preview[0]}zebras.html")
    other.get_by_text("The book has no page zebras.").wait_for()
    other.goto(preview[0])
    other.locator("article h1").wait_for()
    write_pages(project, {"zebras": "# Zebras\n\n```{code-cell}\nexchange = 1\nexchanged\n```\n"})
    edit(project / "_toc.yml", "      - file: ", "      - file: zebras\n      - file: ")
    board = page.locator(BOARD)
    board.get_by_text("exchanged raised NameError").wait_for()
    assert "similar defined names: exchange" in board.inner_text()
    assert str(project) not in board.inner_text()
    other.goto(f"{preview[0]}zebras.html")
    other.locator(BOARD).get_by_text("exchanged raised NameError").wait_for()


@pytest.mark.usefixtures("page")
def test_it_ends_while_a_cell_runs(preview, project, chapter, tmp_path):
    begun = tmp_path / "begun"
    cell = f"import time\nfrom pathlib import Path\n\nPath({str(begun)!r}).touch()\ntime.sleep(59)"
    append(chapter, f"```{{code-cell}}\n{cell}\n```")
    wait_until(begun.exists)
    process = preview[1]
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=PATIENCE / 1000)
    assert "The preview has ended" in said
    assert "Traceback" not in said
    wait_until(lambda: not processes_in(project))  # a kernel looks once a second for its process
