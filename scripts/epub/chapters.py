"""Chapters of the EPUB, made from built pages: no controls, open folds, answers at the end."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from docutils import nodes
from html_book import leads_to
from lxml import etree, html
from lxml.html import HtmlElement
from lxml.html.builder import E
from sphinx_runs import doctree_of

from byhand.mathematics.spoken import words_of_formula
from byhand.press import drawings

SCREEN_ONLY_CLASSES = {
    "headerlink", "printed", "screen-only", "tag_screen-only", "sd-btn", "reading-done",
    "quiz-note", "quiz-controls", "your-turn-field", "your-turn-controls", "your-turn-feedback",
    "your-turn-hints", "all",
}  # fmt: skip
"""Classes of what only a screen with scripts can show, an explorer's second view of its numbers
among them."""

BOXES = ("mha-quiz", "mha-your-turn", "mha-build")
KEPT_ATTRIBUTES = {
    "id", "href", "class", "colspan", "rowspan", "scope", "start", "alt", "src", "title",
    "display", "mathvariant", "accent", "fence", "form", "separator", "stretchy", "movablelimits",
    "displaystyle", "scriptlevel", "symmetric", "minsize", "maxsize", "notation", "height", "width",
    "lspace", "rspace",
}  # fmt: skip
"""Attributes, those of formulas last."""

IN_EACH_EXERCISE = ("exercise-content", "solution-content")


@dataclass(frozen=True)
class Chapter:
    """A chapter of the EPUB, or its answers."""

    page: str  # that it was, such as "mechanism/softmax"
    body: HtmlElement  # links have the form "PAGE#IDENTIFIER", since targets may move
    is_answers: bool = False  # whether it was moved from the page to the end of the book

    @property
    def file(self) -> str:
        """The name of the chapter's file."""
        return ("answers-" if self.is_answers else "") + self.page.replace("/", "-") + ".xhtml"

    @property
    def title(self) -> str:
        """The heading in one line."""
        return text_of(next(self.body.iter("h1")))

    @property
    def sections(self) -> Iterator[tuple[str, str]]:
        """The id and the heading of each section; answers have none."""
        for heading in () if self.is_answers else self.body.iter("h2"):
            holder = next((e for e in heading.iterancestors("section") if e.get("id")), None)
            if holder is not None and holder.find(".//h1") is None:
                yield holder.get("id"), text_of(heading)

    @property
    def text(self) -> str:
        """The content as XHTML; a pattern used by several drawings is included once."""
        seen: set[str] = set()
        for shape in self.body.xpath(".//*[local-name()='svg']//*[@id]"):
            if shape.get("id") in seen:
                del shape.attrib["id"]
            seen.add(shape.get("id", ""))
        return etree.tostring(self.body, encoding="unicode")


def text_of(element: HtmlElement) -> str:
    """Return the text of an element in one line."""
    return " ".join(element.text_content().split())


def chapters_of(page: str, folder: Path) -> list[Chapter]:
    """Return a built page as a chapter, and a chapter with its answers if there are any."""
    text = (folder / f"{page}.html").read_text(encoding="utf-8")
    text = text[text.index("<article") : text.rindex("</article>")]
    svgs: list[str] = []
    article = _parsed(f"{text}</article>", svgs)
    for element in [e for e in article.iter() if SCREEN_ONLY_CLASSES.intersection(e.classes)]:
        element.drop_tree()
    explorers = list(article.iter("mha-explorer", "mha-instrument"))
    in_print = _in_print(page) if explorers else {}
    for explorer in explorers:
        if drawing := in_print.get(explorer.get("id")):
            explorer.insert(0, _parsed(drawing, svgs))
        explorer.tag = "div"
    _clean(article, page)
    for placeholder in list(article.iter("svg")):
        _draw(placeholder, svgs[int(placeholder.text)])
    moved = list(_answers(article, page))
    _open_folds(article)
    made = [Chapter(page, article)]
    if moved:
        answers = E.article(E.h1(f"Answers: {made[0].title}"), *moved)
        _open_folds(answers)
        made.append(Chapter(page, answers, is_answers=True))
    return made


def _parsed(text: str, svgs: list[str]) -> HtmlElement:
    """Return a parsed element with its drawings set aside, whose capitals the parser would lose."""

    def set_aside(match: re.Match[str]) -> str:
        svgs.append(match[0])
        return f"<svg>{len(svgs) - 1}</svg>"

    return html.fragment_fromstring(re.sub(r"<svg\b.*?</svg>", set_aside, text, flags=re.DOTALL))


def _in_print(page: str) -> dict[str, str]:
    """Return the printed drawings of explorers, by the explorers' names."""
    found: dict[str, str] = {}
    for node in doctree_of(page).findall(nodes.raw):
        if match := re.match(r'<mha-(?:explorer|instrument) id="([^"]+)"', node.astext()):
            forms = node.parent.parent  # a container for each format of the cell's output
            drawn = next((node for node in forms.findall(nodes.raw) if "drawing" in node), None)
            if drawn:
                found[match[1]] = drawn.astext()
    return found


def _clean(article: HtmlElement, page: str) -> None:
    """Reduce an article to plain elements with attributes that need no style sheet."""
    etree.strip_elements(article, "script", "button", "input", with_tail=False)
    etree.strip_tags(article, "form", "fieldset", "noscript", "label", "data")
    for dots in article.xpath('.//span[@aria-hidden="true"]'):
        dots.drop_tree()  # the words beside them say the same
    for heading in article.iter("th"):
        heading.set("scope", "col" if heading.getparent().getparent().tag == "thead" else "row")
    for legend in article.iter("legend"):
        legend.tag = "div"
    shaded = {cell: _shade(cell) for cell in article.find_class("heat") if cell.tag == "span"}
    for element in article.iter():
        for name in set(element.attrib) - KEPT_ATTRIBUTES:
            del element.attrib[name]
        if element.get("id") in IN_EACH_EXERCISE:
            del element.attrib["id"]
        if element.get("href"):
            element.set("href", _place(element.get("href"), page))
    for math in article.iter("math"):
        math.set("alttext", words_of_formula(math))
        math.set("xmlns", "http://www.w3.org/1998/Math/MathML")
    for cell, colour in shaded.items():
        cell.set("style", f"background: {colour}")


def _shade(cell: HtmlElement) -> str:
    """Return the colour of a weight's cell: the colour of its head, tinted by the weight."""
    around = "".join(e.get("style", "") for e in cell.iterancestors())
    head = re.search(r"--head: var\(--head-(\d)\)", around)
    weight = float(cell.get("style").removeprefix("--weight: "))
    return drawings.tint(weight, int(head[1]) - 1 if head else 0)


def _place(link: str, page: str) -> str:
    """Return the target of a link as "PAGE#IDENTIFIER"; other addresses are unchanged.

    The address of a figure's state becomes that of its page.
    """
    if re.match(r"\w+:", link):
        return link
    file, identifier = leads_to(link, f"{page}.html")
    return f"{file.removesuffix('.html')}#{'' if '=' in identifier else identifier}"


def _draw(placeholder: HtmlElement, svg: str) -> None:
    """Put a drawing into its place."""
    width, height = drawings.size(svg)
    drawn = etree.fromstring(drawings.in_attributes(svg))
    drawn.set("viewBox", f"0 0 {width:g} {height:g}")
    drawn.tail = placeholder.tail
    placeholder.getparent().replace(placeholder, drawn)


def _answers(article: HtmlElement, page: str) -> Iterator[HtmlElement]:
    """Move answers and solutions out of a page, with links in both directions."""
    for box in list(article.iter(*BOXES)):
        title = (box.find_class("quiz-title") or box.find_class("your-turn-title"))[0]
        answer = (box.find_class("quiz-answer") or box.find_class("your-turn-worked"))[0]
        next(answer.iter("summary")).drop_tree()
        box.tag = "div"
        box.set("class", "box")
        yield _moved(answer, box, f"Answer to {text_of(title)}", page)
    for solution in list(article.find_class("solution")):
        title = solution.find_class("admonition-title")[0]
        exercise = article.get_element_by_id(next(title.iter("a")).get("href").partition("#")[2])
        words = text_of(title)
        title.drop_tree()
        yield _moved(solution, exercise, words, page)


def _moved(answer: HtmlElement, question: HtmlElement, title: str, page: str) -> HtmlElement:
    """Remove an answer from its page, and return it as a section."""
    name = question.get("id")
    to = answer.get("id") or f"{name}-answer"
    question.append(E.p(E.a("Answer", href=f"{page}#{to}"), {"class": "to-answer"}))
    answer.drop_tree()
    return E.section(
        {"id": to},
        E.h2(E.a(title, href=f"{page}#{name}")),
        *([answer.text] if answer.text else []),
        *answer,
    )


def _open_folds(root: HtmlElement) -> None:
    """Open every fold except those of code."""
    for fold in list(root.iter("details")):
        if fold.get("class") == "code-fold":
            continue
        summary = next(fold.iter("summary"))
        fold.tag = "section"
        if summary.find("h2") is None and summary.find("h3") is None:
            summary.tag = "p"
            summary.set("class", "fold-title")
        else:
            summary.drop_tag()
