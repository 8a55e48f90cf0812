"""The built pages as a pack reads them: quizzes, boxes, exercises, and text that stands alone."""

import json
import re
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from html import escape
from math import inf
from pathlib import Path

from bs4 import BeautifulSoup, Tag

from byhand.contents import read_contents
from mha.practice.calculations import FORMULAS

KEPT = {
    "p", "em", "strong", "b", "i", "u", "ul", "ol", "li", "dl", "dt", "dd", "table",
    "caption", "thead", "tbody", "tr", "th", "td", "sub", "sup", "code", "pre", "div",
    "span", "br",
}  # fmt: skip
"""HTML elements of a text that stands alone; others are left out and their contents stay."""

DROPPED = (
    "script, style, button, input, svg.icon, .reading-unseen, .headerlink, .screen-only"
    ", details.code-fold, .printed, annotation, .reading-button"
)


@dataclass(frozen=True)
class Option:
    """One option of a quiz, as HTML."""

    text: str
    is_right: bool
    feedback: str


@dataclass(frozen=True)
class Question:
    """A question of the book, as HTML that stands alone.

    Parameters
    ----------
    name : str
        Unique in the book: lower-case words joined by hyphens.
    chapter : str
        The title of the page.
    text : str
    feedback : str, default ""
        What is said after an answer: the worked line, or the solution.
    options : tuple of Option, default ()
        Of a quiz.
    is_multiple : bool, default False
        Whether several options may be right.
    answer : float, optional
        The number to enter, where one is asked for.
    places : int, default 0
        Decimals asked for.
    """

    name: str
    chapter: str
    text: str
    feedback: str = ""
    options: tuple[Option, ...] = ()
    is_multiple: bool = False
    answer: float | None = None
    places: int = 0

    @property
    def kind(self) -> str:
        """What is to be done: "choice", "number" or "essay"."""
        if self.options:
            return "choice"
        return "essay" if self.answer is None else "number"


@dataclass(frozen=True)
class Page:
    """A built page of the book."""

    name: str
    path: Path

    @cached_property
    def article(self) -> Tag:
        """What the page says."""
        soup = BeautifulSoup(self.path.read_text(encoding="utf-8"), "html.parser")
        article = soup.select_one("article")
        if article is None:
            raise LookupError(f"{self.path} has no article")
        return article

    @property
    def title(self) -> str:
        """The heading, without its number and its link."""
        heading = copy(one(self.article, "h1"))
        for link in heading.select(".headerlink, .section-number"):
            link.decompose()
        return " ".join(heading.get_text().split())


def read(folder: Path) -> list[Page]:
    """Return the chapters of the book that was built into a folder, in order."""
    pages = [Page(name, folder / f"{name}.html") for name in read_contents().chapters]
    return [page for page in pages if page.path.is_file()]


def one(parent: Tag, selector: str) -> Tag:
    """Return the first element that a selector finds; without any, the pages are not ours."""
    found = parent.select_one(selector)
    if found is None:
        raise LookupError(f"nothing below <{parent.name}> is {selector}")
    return found


def questions(page: Page) -> Iterator[Question]:
    """Yield every question of a page: quizzes, boxes and exercises, in the page's order."""
    solutions = _solutions(page)
    for element in page.article.select("mha-quiz, mha-your-turn, .exercise"):
        if element.name == "mha-quiz":
            yield _quiz(page, element)
        elif element.name == "mha-your-turn":
            yield from _box(page, element)
        else:
            name = str(element["id"])
            text = standing_alone(one(element, "section"))
            yield Question(name, page.title, text, solutions.get(name, ""))


def _quiz(page: Page, element: Tag) -> Question:
    options = []
    for item in element.select(".quiz-answer li[data-option]"):
        letter = item["data-option"]
        label = standing_alone(one(element, f"input[value={letter}] + label"))
        options.append(
            Option(
                text=re.sub(r"^\(\w\)\s*", "", label),
                is_right=item["data-right"] == "yes",
                feedback=standing_alone(one(item, ".quiz-feedback")),
            )
        )
    is_multiple = element.select_one("input[type=checkbox]") is not None
    text = standing_alone(one(element, "legend"))
    return Question(
        str(element["id"]), page.title, text, options=tuple(options), is_multiple=is_multiple
    )


def _box(page: Page, element: Tag) -> Iterator[Question]:
    """Yield a question for each field of a box."""
    tasks = json.loads(one(element, "script").get_text())["tasks"]
    parts = element.select(".your-turn-part") or [one(element, ".your-turn-form")]
    labels = [label.get_text() for label in element.select(".your-turn-field label")]
    worked = [standing_alone(line) for line in element.select(".your-turn-worked p")]
    for i, task in enumerate(tasks):
        part = parts[i] if len(parts) == len(tasks) else parts[0]
        asked = "".join(
            standing_alone(found)
            for found in part.select(".your-turn-question, .your-turn-givens, .your-turn-rounding")
        )
        field = f"<p>{escape(labels[i])}:</p>" if len(parts) != len(tasks) else ""
        value = FORMULAS[task["kind"]](_numbers(task["givens"]), task["column"])
        yield Question(
            name=f"{element['id']}-{i + 1}" if len(tasks) > 1 else str(element["id"]),
            chapter=page.title,
            text=asked + field,
            feedback=worked[i] if len(worked) == len(tasks) else "".join(worked),
            answer=100 * value if task["percent"] else value,
            places=task["places"],
        )


def _numbers(givens: list[list[float | None]]) -> list[list[float]]:
    """Return what a box gives: JSON has no infinity, so that a masked score is null there."""
    return [[-inf if x is None else x for x in row] for row in givens]


def _solutions(page: Page) -> dict[str, str]:
    """Return the solutions of a page by the exercise that they solve."""
    found = {}
    for solution in page.article.select(".solution"):
        link = one(solution, ".admonition-title a")
        name = str(link["href"]).partition("#")[2]
        found[name] = standing_alone(one(solution, "section"))
    return found


def standing_alone(element: Tag) -> str:
    """Return an element as XHTML that needs no style, script or other page.

    A drawing is replaced by the words that say what is to be seen.
    """
    text = copy(element)
    text.attrs = {}
    for node in text.select(DROPPED):
        node.decompose()
    for drawing in text.find_all("svg"):
        said = BeautifulSoup("", "html.parser").new_tag("p")
        said.string = f"[Figure: {drawing.get('aria-label', '')}]"
        drawing.replace_with(said)
    for math in text.find_all("math"):
        _plain_math(math)
    for node in text.find_all(True):
        if node.find_parent("math") or node.name == "math":
            continue
        if node.name not in KEPT:
            node.unwrap()
        else:
            node.attrs = {k: v for k, v in node.attrs.items() if k in ("colspan", "rowspan")}
    return _flow(text)


def _plain_math(math: Tag) -> None:
    """Leave of a formula what every reader of MathML knows."""
    for node in math.find_all(True):
        node.attrs = {}
    math.attrs = {"xmlns": "http://www.w3.org/1998/Math/MathML"}


def _flow(text: Tag) -> str:
    """Return the contents of an element: itself, where it is a paragraph or a list."""
    for node in text.find_all(["span", "div"]):
        node.unwrap()
    for node in text.find_all(["p", "ul", "ol"]):
        if not node.get_text(strip=True):
            node.decompose()
    inner = text.decode(formatter="minimal") if text.name in ("p", "ul", "ol") else ""
    html = inner or text.decode_contents(formatter="minimal")
    kept = re.sub(r"<pre>(.*?)</pre>", lambda m: f"<pre>{_lines(m[1])}</pre>", html, flags=re.S)
    return re.sub(r"[ \t\n]+", " ", kept).strip()


def _lines(code: str) -> str:
    """Return code whose lines and spaces stay, whatever a reader does with white space."""
    return "<br/>".join(
        line.replace(" ", "\N{NO-BREAK SPACE}") for line in code.strip().splitlines()
    )
