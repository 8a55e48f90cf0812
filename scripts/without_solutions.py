"""The pages without solutions: a copy of the built book with no answer in any file.

It omits solutions of exercises, keys and feedback of quizzes, worked answers of boxes, and in
notebooks each cell that names a solution. Links to omitted parts become text, and the search index
is adapted. Nothing is computed again.

Results in a chapter's text stay, also where a prediction hides them. A box still checks a number:
it has the operands.
"""

import argparse
import re
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path

import nbformat
from bs4 import BeautifulSoup
from command_lines import HTML
from environment import BUILD, step
from html_book import leads_to, replacing

from byhand.search import INDEX
from byhand.search.sections import read_sections
from mha.widgets.data_scripts import data_script, read_data

FOLDER = BUILD / "html-without-solutions"
ANSWERS = ".solution, .quiz-answer, .your-turn-worked"
"""The elements that are left out."""

SOLUTIONS = "## Solutions"  # heads the last part of a notebook
CELL_WITH_SOLUTION = re.compile(r"\bsolution=")  # a cell that tells the build how a task is solved


def prepare(arguments: argparse.Namespace) -> Callable[[], None]:
    """Return the function that makes the pages without solutions."""
    return make


def without_answers(html: str) -> tuple[BeautifulSoup, set[str]]:
    """Return HTML without its answers, and the ids in the removed parts.

    Examples
    --------
    >>> without_answers('<p>a</p><div class="solution"><div id="b">c</div></div><p>d</p>')
    (<p>a</p><p>d</p>, {'b'})
    """
    soup, ids = BeautifulSoup(html, "html.parser"), set()
    for answer in soup.select(ANSWERS):
        ids |= {
            str(element["id"]) for element in [answer, *answer.select("[id]")] if element.get("id")
        }
        answer.extract()
    return soup, ids


def make() -> None:
    """Put a copy of the built pages without solutions into its folder."""
    with step("Leaving out the solutions"), replacing(FOLDER) as waiting:
        write(HTML, waiting)
    print(f"The book without solutions is in {FOLDER / 'index.html'}")


def write(book: Path, folder: Path) -> None:
    """Write the pages of a built book without solutions into a new folder."""
    shutil.copytree(book, folder)
    pages: dict[str, BeautifulSoup] = {}
    removed_ids: dict[str, set[str]] = {}
    for path in folder.rglob("*.html"):
        name = path.relative_to(folder).as_posix()
        pages[name], removed_ids[name] = without_answers(path.read_text(encoding="utf-8"))
    for name, page in pages.items():
        _unlink(page, name, removed_ids)
        (folder / name).write_text(str(page), encoding="utf-8")
    for path in folder.rglob("*.ipynb"):
        path.write_text(_notebook(path.read_text(encoding="utf-8")), encoding="utf-8")
    _change_index(folder / "_static" / f"{INDEX}.js", pages)
    _change_inventory(folder / "objects.inv", set().union(*removed_ids.values()))


def _unlink(page: BeautifulSoup, name: str, removed_ids: dict[str, set[str]]) -> None:
    """Turn a page's links to omitted parts into text."""
    for link in page.select("a[href*='#']"):
        target, label = leads_to(str(link["href"]), name)
        if label in removed_ids.get(target, ()):
            link.unwrap()


def _notebook(text: str) -> str:
    """Return a notebook without solutions, in the same text format."""
    made = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
    sources = [cell.source for cell in made.cells]
    end = sources.index(SOLUTIONS) if SOLUTIONS in sources else len(sources)
    made.cells = [cell for cell in made.cells[:end] if not CELL_WITH_SOLUTION.search(cell.source)]
    for output in (output for cell in made.cells for output in cell.get("outputs", ())):
        data = output.get("data", {})
        if "text/html" in data:  # plain text has no answers
            data["text/html"] = str(without_answers(data["text/html"])[0])
    return f"{nbformat.writes(made)}\n"  # type: ignore[no-untyped-call]


def _change_index(file: Path, pages: dict[str, BeautifulSoup]) -> None:
    """Remove the omitted parts from the search index."""
    index = read_data(file.read_text(encoding="utf-8"))
    texts = {
        (name, section.anchor): section.text
        for name in pages
        for section in read_sections(str(pages[name]))
    }
    for section in index["sections"]:
        number, anchor, heading, _, *others = section
        section[:] = [number, anchor, heading, texts[index["pages"][number][0], anchor], *others]
    file.write_text(data_script(INDEX, index), encoding="utf-8")


def _change_inventory(file: Path, removed_ids: set[str]) -> None:
    """Remove the labels of solutions, by which other books would link to them."""
    *header, packed = file.read_bytes().split(b"\n", 4)
    lines = zlib.decompress(packed).decode().splitlines(keepends=True)
    kept = "".join(line for line in lines if line.split(" ")[0] not in removed_ids)
    file.write_bytes(b"\n".join([*header, zlib.compress(kept.encode(), 9)]))
