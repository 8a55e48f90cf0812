"""Questions of the built pages: quizzes, boxes and exercises as self-contained HTML."""

import json
import re
import textwrap
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from html import escape
from math import inf
from pathlib import Path

from bs4 import BeautifulSoup, Tag
from html_book import leads_to
from lxml.html import fragment_fromstring

from byhand.chapter.lead_and_aims import MINUTES_AN_EXERCISE, MINUTES_BY_DIFFICULTY, MINUTES_PER_BOX
from byhand.contents import read_contents
from byhand.search.formulas import in_one_line
from mha.practice.calculations import FORMULAS
from mha.practice.exercise import ROUNDINGS, ROUNDINGS_IN_PERCENT
from mha.runs.rounding import shown

KEPT_ELEMENTS = {
    "p", "em", "strong", "b", "i", "u", "ul", "ol", "li", "dl", "dt", "dd", "table",
    "a", "img", "caption", "thead", "tbody", "tr", "th", "td", "sub", "sup", "code", "pre", "div",
    "span", "br",
}  # fmt: skip
"""HTML elements of a self-contained text; of others only the contents are kept."""

DROPPED_SELECTORS = (
    "script, style, button, input, svg.icon, .reading-unseen, .headerlink, .screen-only"
    ", details.code-fold, .printed, .reading-button, .page-only, .caption-number"
)

KEPT_ATTRIBUTES_OF_FORMULAS = {"stretchy", "mathvariant", "width", "lspace", "rspace"}
KEPT_ATTRIBUTES = {"colspan", "rowspan", "href", "src", "alt"}
INTEGER_TOLERANCE = 1e-9
"""How far a whole number may be from its float."""

BLOCKS = ("p", "ul", "ol", "li", "dl", "dt", "dd", "table", "tr", "th", "td", "pre", "div", "br")
"""Elements that part words; others stand within a line."""

INDEX, EXPONENT = re.compile("₍([^₎]*)₎"), re.compile("⁽([^⁾]*)⁾")
"""How a line of text has what stands below and above in a formula."""

CODE = re.compile("`([^`]+)`")
SYMBOL = re.compile(r"\b(d)_(k|v|model)|\b(W)\^([QKVO])")
"""Code and symbols in a marking scheme."""

MAX_TITLE_LENGTH = 70
"""Characters of what a question is called by, behind its chapter."""


@dataclass(frozen=True)
class Option:
    """One option of a quiz, as HTML."""

    letter: str
    text: str
    is_right: bool
    feedback: str


@dataclass(frozen=True)
class Question:
    """A question of the book, as HTML."""

    name: str  # unique in the book: words joined by hyphens; it stays from build to build
    chapter: str  # the title of the page
    text: str
    feedback: str = ""  # shown after an answer: the line of arithmetic or the solution
    options: tuple[Option, ...] = ()  # of a quiz
    is_multiple: bool = False  # whether several options may be right
    answer: float | None = None  # the number to enter, if any
    places: int = 0  # decimals of the answer
    label: str = ""  # of the quiz, box or exercise on its page
    page: str = ""  # the page's name
    asked: str = ""  # the number that is asked for, if an exercise has several
    number: int = 1  # among the questions with the same title
    difficulty: str = ""
    minutes: int = MINUTES_PER_BOX
    files: dict[str, str] = field(default_factory=dict)  # the pictures in the text, as SVG
    marks: tuple[tuple[int, str], ...] = ()  # of an essay: points, and what they are for

    @property
    def title(self) -> str:
        """The title of the question: its chapter and its first words."""
        words = without_tags(plain_text(self.asked or self.text))
        begin = textwrap.shorten(words, MAX_TITLE_LENGTH, placeholder=" …")
        return f"{self.chapter}: {begin}" + (f" ({self.number})" if self.number > 1 else "")

    @property
    def tags(self) -> tuple[str, ...]:
        """Tags of the question: chapter, kind, minutes, difficulty."""
        of_difficulty = (f"difficulty {self.difficulty}",) if self.difficulty else ()
        return (self.chapter, self.kind, f"{self.minutes} min", *of_difficulty)

    @property
    def mark(self) -> int:
        """The points of a right answer: those of an essay's marking scheme, else 1."""
        return sum(points for points, _ in self.marks) or 1

    @property
    def for_graders(self) -> str:
        """The marking scheme of an essay as HTML; empty for other questions."""
        if not self.marks:
            return ""
        items = "".join(
            f"<li>{points} {'mark' if points == 1 else 'marks'}: {_with_symbols(says)}</li>"
            for points, says in self.marks
        )
        return f"<ul>{items}</ul><p>Another right argument earns the same marks.</p>"

    @property
    def key(self) -> str:
        """The right number, rounded as the question asks."""
        assert self.answer is not None
        return shown(self.answer, self.places).replace("−", "-")

    @property
    def margin(self) -> Decimal:
        """The tolerance of an answer: half a unit of its last decimal, 0 for whole numbers."""
        assert self.answer is not None
        if not self.places and abs(self.answer - float(self.key)) < INTEGER_TOLERANCE:
            return Decimal(0)
        return Decimal(5).scaleb(-self.places - 1)

    @property
    def limits(self) -> tuple[Decimal, Decimal]:
        """The smallest and the largest right answer."""
        return Decimal(self.key) - self.margin, Decimal(self.key) + self.margin

    @property
    def shares(self) -> list[str]:
        """The per cent of the mark for each option; wrong ones of a multiple choice subtract."""
        right = sum(option.is_right for option in self.options)
        taken = -100 / max(len(self.options) - right, 1) if self.is_multiple else 0
        return [f"{100 / right if option.is_right else taken:.7g}" for option in self.options]

    @property
    def kind(self) -> str:
        """The kind of answer: "choice", "number" or "essay"."""
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
        """The article element of the page."""
        soup = BeautifulSoup(self.path.read_text(encoding="utf-8"), "html.parser")
        article = select_one(soup, "article")
        for link in article.select("a[href]:not([href^='http']):not([href^='mailto:'])"):
            file, label = leads_to(str(link["href"]), f"{self.name}.html")  # from the site's top
            link["href"] = f"{file}#{label}".rstrip("#")
        return article

    @property
    def title(self) -> str:
        """The text of the heading, without its number and its link."""
        heading = copy(select_one(self.article, "h1"))
        for link in heading.select(".headerlink, .section-number"):
            link.decompose()
        return without_tags(" ".join(heading.get_text().split()))


def read(folder: Path) -> list[Page]:
    """Return the chapters of the book that was built into a folder, in order."""
    pages = [Page(name, folder / f"{name}.html") for name in read_contents().chapters]
    return [page for page in pages if page.path.is_file()]


def select_one(parent: Tag, selector: str) -> Tag:
    """Return the first element of a selector; raise if there is none."""
    found = parent.select_one(selector)
    if found is None:
        raise LookupError(f"nothing below <{parent.name}> is {selector}")
    return found


def questions(page: Page) -> Iterator[Question]:
    """Yield every question of a page: quizzes, boxes and exercises, in the page's order.

    An exercise whose answer goes into a box is that box's question.
    """
    solutions = _solutions(page)
    for element in page.article.select("mha-quiz, mha-your-turn, .exercise"):
        if element.name == "mha-quiz":
            yield _quiz(page, element)
        elif element.name == "mha-your-turn":
            yield from _box(page, element)
        elif element.select_one("mha-your-turn") is None:
            name = str(element["id"])
            level = next((str(c)[-1] for c in element["class"] if "difficulty-" in str(c)), "")
            yield Question(
                name,
                page.title,
                _exercise(element),
                solutions.get(name, ""),
                label=name,
                page=page.name,
                difficulty=level,
                minutes=MINUTES_BY_DIFFICULTY.get(int(level or 0), MINUTES_AN_EXERCISE),
            )


def _exercise(element: Tag) -> str:
    """Return the text of an exercise, without the box that checks an answer."""
    exercise = copy(select_one(element, "section"))
    for box in exercise.select("mha-build, mha-your-turn"):
        box.decompose()
    return self_contained(exercise)


def _quiz(page: Page, element: Tag) -> Question:
    options = []
    for item in element.select(".quiz-answer li[data-option]"):
        letter = str(item["data-option"])
        label = self_contained(select_one(element, f"input[value={letter}] + label"))
        options.append(
            Option(
                letter,
                text=re.sub(r"^\(\w\)\s*", "", label),
                is_right=item["data-right"] == "yes",
                feedback=self_contained(select_one(item, ".quiz-feedback")),
            )
        )
    name = str(element["id"])
    return Question(
        name,
        page.title,
        self_contained(select_one(element, "legend")),
        options=tuple(options),
        is_multiple=element.select_one("input[type=checkbox]") is not None,
        label=name,
        page=page.name,
    )


def _box(page: Page, element: Tag) -> Iterator[Question]:
    """Yield a question for each field of a box."""
    tasks = json.loads(select_one(element, "script").get_text())["tasks"]
    parts = element.select(".your-turn-part") or [select_one(element, ".your-turn-form")]
    labels = [label.get_text() for label in element.select(".your-turn-field label")]
    worked = [self_contained(line) for line in element.select(".your-turn-worked p")]
    exercise = element.find_parent(class_="exercise")
    lead = _exercise(exercise) if exercise else ""
    for i, task in enumerate(tasks):
        part = parts[i] if len(parts) == len(tasks) else parts[0]
        asked = "".join(
            self_contained(found) for found in part.select(".your-turn-question, .your-turn-givens")
        )
        cell = escape(labels[i]) if len(parts) != len(tasks) else ""
        one_of = f"<strong>Enter:</strong> the number for {cell}. " if cell else ""
        # JSON has no infinity: a masked score is null there.
        givens = [[-inf if x is None else x for x in row] for row in task["givens"]]
        value = FORMULAS[task["kind"]](givens, task["column"])
        places, sentence = rounding(value, task["places"], percent=task["percent"])
        yield Question(
            name=f"{element['id']}-{i + 1}" if len(tasks) > 1 else str(element["id"]),
            chapter=page.title,
            text=f"{lead}{asked}<p>{one_of}{sentence}</p>",
            feedback=worked[i] if len(worked) == len(tasks) else "".join(worked),
            answer=100 * value if task["percent"] else value,
            places=places,
            label=str(element["id"]),
            page=page.name,
            asked=f"<p>{cell}: {asked}</p>" if cell else "",
        )


def rounding(value: float, places: int, *, percent: bool = False) -> tuple[int, str]:
    """Return the number of decimals to round to, None for a whole number, and its wording."""
    if not percent and abs(value - round(value)) < INTEGER_TOLERANCE:
        places = 0
    forms = ROUNDINGS_IN_PERCENT if percent else ROUNDINGS
    return places, forms[min(places, 2)].format(places=places)


def plain_text(html: str) -> str:
    """Return HTML as one line of text, with a space between blocks.

    Examples
    --------
    >>> plain_text("<p>The key of <em>it</em>.</p><p>Answer with a whole number.</p>")
    'The key of it. Answer with a whole number.'
    >>> plain_text("<p><math><msub><mi>d</mi><mi>k</mi></msub></math>, the width</p>")
    'd_k, the width'
    """
    text = fragment_fromstring(html, create_parent="div")
    for formula in list(text.iter("math")):
        line, after = in_one_line(formula), formula.tail
        formula.clear()
        formula.text, formula.tail = INDEX.sub(r"_\1", EXPONENT.sub(r"^\1", line)), after
    for block in text.iter(*BLOCKS):
        block.tail = f" {block.tail or ''}"
    return " ".join(text.text_content().split())


def without_tags(text: str) -> str:
    """Return a name with ‹ and › in place of < and >.

    Moodle takes <end> in the name of a question for a tag and drops it. An entity does not help:
    programs that escape names themselves would show the entity.
    """
    return text.replace("<", "‹").replace(">", "›")


def _with_symbols(text: str) -> str:
    """Return a line of a marking scheme as HTML, with code and symbols such as d_k and W^O."""
    html = CODE.sub(r"<code>\1</code>", emphasised(text))
    return SYMBOL.sub(
        lambda m: (
            f"<em>{m[1]}</em><sub>{m[2]}</sub>" if m[1] else f"<em>{m[3]}</em><sup>{m[4]}</sup>"
        ),
        html,
    )


def emphasised(text: str) -> str:
    """Return a text as HTML whose words between asterisks are emphasised."""
    return re.sub(r"\*([^*]+)\*", r"<em>\1</em>", escape(text))


def _solutions(page: Page) -> dict[str, str]:
    """Return the solutions of a page by the label of their exercise."""
    found = {}
    for solution in page.article.select(".solution"):
        link = select_one(solution, ".admonition-title a")
        name = str(link["href"]).partition("#")[2]
        found[name] = self_contained(select_one(solution, "section"))
    return found


def self_contained(element: Tag) -> str:
    """Return an element as XHTML that needs no style, script or other page.

    A drawing is replaced by its alternative text.
    """
    text = select_one(BeautifulSoup("<div></div>", "html.parser"), "div")
    text.append(copy(element))
    for node in text.select(DROPPED_SELECTORS):
        node.decompose()
    for drawing in text.find_all("svg"):
        drawing.name, drawing.string = "p", f"[Figure: {drawing.get('aria-label', '')}]"
    for math in text.find_all("math"):  # keep only MathML that every program reads
        for node in math.find_all(True):
            node.attrs = {k: v for k, v in node.attrs.items() if k in KEPT_ATTRIBUTES_OF_FORMULAS}
        math.attrs = {"xmlns": "http://www.w3.org/1998/Math/MathML"}
    for node in text.find_all(True):
        if node.find_parent("math") or node.name == "math":
            continue
        if node.name not in KEPT_ELEMENTS:
            node.unwrap()
        else:
            node.attrs = {k: v for k, v in node.attrs.items() if k in KEPT_ATTRIBUTES}
    return _flow(text)


def _flow(text: Tag) -> str:
    """Return the HTML of an element that needs no style."""
    for node in text.find_all(["span", "div"]):
        node.unwrap()
    for node in text.find_all(["p", "ul", "ol"]):
        if not node.get_text(strip=True):
            node.decompose()
    html = text.decode_contents(formatter="minimal")
    kept = re.sub(r"<pre>(.*?)</pre>", lambda m: f"<pre>{_lines(m[1])}</pre>", html, flags=re.S)
    return re.sub(r"[ \t\n]+", " ", kept).strip()


def _lines(code: str) -> str:
    """Return code in which line breaks and spaces survive programs that merge white space."""
    return "<br/>".join(
        line.replace(" ", "\N{NO-BREAK SPACE}") for line in code.strip().splitlines()
    )
