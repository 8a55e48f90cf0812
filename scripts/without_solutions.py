"""The pages without solutions: the built book once more, with no answer in any of its files.

Left out are the solutions of exercises, the keys to quizzes and what is said to each option, the
worked answers of boxes, and in notebooks also each cell that names a solution. Links to what is
left out become text, and the search finds what is left. Nothing is computed again.

What a chapter works out in its text stays, also where a prediction folds it away. A box still tells
whether a number is right: it has the operands.
"""

import json
import posixpath
import re
import shutil
import zlib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from environment import BUILD, step
from html_book import HTML, replace

from byhand.search import INDEX
from byhand.search.sections import read_sections

NAME = "without-solutions"
FOLDER = BUILD / f"html-{NAME}"
ANSWERS = {"solution", "quiz-answer", "your-turn-worked"}
"""The classes of the elements that are left out."""

LINK = re.compile(
    r'<a\b[^>]*\bhref="(?P<page>[^"#]*)#(?P<id>[^"]+)"[^>]*>(?P<text>.*?)</a>', re.DOTALL
)
SOLUTIONS = "## Solutions"  # heads the last part of a notebook
NAMES_ONE = re.compile(r"\bsolution=")  # a cell that tells the build how a task is solved


class _Answers(HTMLParser):
    """Where the answers of a page begin and end, and the ids that stand in them."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=False)
        self.spans: list[tuple[int, int]] = []
        self.ids: set[str] = set()
        self._lines = [0, *(found.end() for found in re.finditer("\n", html))]
        self._tag, self._depth, self._begin = "", 0, 0
        self.feed(html)
        self.close()

    def _place(self) -> int:
        line, column = self.getpos()
        return self._lines[line - 1] + column

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin an answer, or count the elements in it that have its tag."""
        attributes = dict(attrs)
        if not self._tag and ANSWERS & set((attributes.get("class") or "").split()):
            self._tag, self._depth, self._begin = tag, 0, self._place()
        if self._tag:
            self._depth += tag == self._tag
            self.ids |= {attributes.get("id") or ""} - {""}

    def handle_endtag(self, tag: str) -> None:
        """End the answer with the last of them."""
        if tag == self._tag:
            self._depth -= 1
            if self._depth == 0:
                self.spans.append((self._begin, self._place() + len(f"</{tag}>")))
                self._tag = ""


def without_answers(html: str) -> tuple[str, set[str]]:
    """Return HTML without its answers, and the ids that stood in them.

    Examples
    --------
    >>> without_answers('<p>a</p><div class="solution"><div id="b">c</div></div><p>d</p>')
    ('<p>a</p><p>d</p>', {'b'})
    """
    found = _Answers(html)
    ends = [0, *(end for _, end in found.spans)]
    begins = [*(begin for begin, _ in found.spans), len(html)]
    kept = (html[end:begin] for end, begin in zip(ends, begins, strict=True))
    return "".join(kept), found.ids


def make() -> None:
    """Put the built pages without solutions into a folder of their own."""
    waiting = FOLDER.with_name(f"{FOLDER.name}.new")
    with step("Leaving out the solutions"):
        shutil.rmtree(waiting, ignore_errors=True)
        write(HTML, waiting)
        replace(FOLDER, waiting)
    print(f"The book without solutions is in {FOLDER / 'index.html'}")


def write(book: Path, folder: Path) -> None:
    """Write the pages of a built book into a folder that is not there yet."""
    shutil.copytree(book, folder)
    pages: dict[str, str] = {}
    gone: dict[str, set[str]] = {}
    for path in folder.rglob("*.html"):
        name = path.relative_to(folder).as_posix()
        pages[name], gone[name] = without_answers(path.read_text(encoding="utf-8"))
    for name, html in pages.items():
        (folder / name).write_text(_unlinked(html, name, gone), encoding="utf-8")
    for path in folder.rglob("*.ipynb"):
        path.write_text(_notebook(path.read_text(encoding="utf-8")), encoding="utf-8")
    _change_index(folder / "_static" / INDEX, pages)
    _change_inventory(folder / "objects.inv", set().union(*gone.values()))


def _unlinked(html: str, name: str, gone: dict[str, set[str]]) -> str:
    """Return a page whose links to what is left out are text."""

    def plain(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), link["page"]))
        is_gone = link["id"] in gone.get(target if link["page"] else name, ())
        return link["text"] if is_gone else link[0]

    return LINK.sub(plain, html)


def _notebook(text: str) -> str:
    """Return a notebook without solutions, in the form in which notebooks are written."""
    made = json.loads(text)
    sources = ["".join(cell["source"]) for cell in made["cells"]]
    end = sources.index(SOLUTIONS) if SOLUTIONS in sources else len(sources)
    kept = zip(made["cells"][:end], sources[:end], strict=True)
    made["cells"] = [_cell(cell) for cell, source in kept if not NAMES_ONE.search(source)]
    return json.dumps(made, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def _cell(cell: dict[str, Any]) -> dict[str, Any]:
    """Return a cell whose outputs have no answers; what shows them as words has none."""
    for output in cell.get("outputs", ()):
        data = output.get("data", {})
        if "text/html" in data:
            html, _ = without_answers("".join(data["text/html"]))
            data["text/html"] = html.splitlines(keepends=True)
    return cell


def _change_index(file: Path, pages: dict[str, str]) -> None:
    """Let the search find what the pages still say."""
    before, _, text = file.read_text(encoding="utf-8").partition("=")
    index = json.loads(text.rstrip(";\n"))
    said = {
        (name, section.anchor): section.text
        for name in pages
        for section in read_sections(pages[name])
    }
    for section in index["sections"]:
        number, anchor, heading, _, *others = section
        section[:] = [number, anchor, heading, said[index["pages"][number][0], anchor], *others]
    made = json.dumps(index, ensure_ascii=False, separators=(",", ":"))
    file.write_text(f"{before}={made};\n", encoding="utf-8")


def _change_inventory(file: Path, gone: set[str]) -> None:
    """Leave the labels out by which other books would lead to a solution."""
    *header, packed = file.read_bytes().split(b"\n", 4)
    lines = zlib.decompress(packed).decode().splitlines(keepends=True)
    kept = "".join(line for line in lines if line.split(" ")[0] not in gone)
    file.write_bytes(b"\n".join([*header, zlib.compress(kept.encode(), 9)]))
