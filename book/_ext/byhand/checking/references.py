"""Labels and what leads to them: each stands once, and nothing leads nowhere."""

import ast
import posixpath
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import PurePosixPath

from byhand.checking.data import keys
from byhand.checking.finding import Finding
from byhand.checking.sources import Page, Project

TARGET = re.compile(r"\(([^)\s]+)\)=\s*$")
ROLE = re.compile(r"\{(ref|numref|eq|doc|cite(?::\w+)?)\}`(?:[^`<]*<([^`>]+)>|([^`]+))`")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(\s*<?([^)>\s]+)")
IMAGE = re.compile(r"!\[[^\]]*\]\(\s*<?([^)>\s]+)")
WITH_LABEL = ("label", "name")
FIELD = re.compile(r"-?\{[^{}]*\}")
PAIRS = {"exercise-start": "exercise-end", "solution-start": "solution-end"}


def check(project: Project) -> Iterator[Finding]:
    """Look at every label and reference."""
    labels = Labels(project)
    yield from labels.doubled()
    bibliography = {key for _, text in project.files("book/references.bib") for key in keys(text)}
    for page in project.pages:
        yield from roles(page, labels, bibliography)
        yield from links(project, page, labels)
        yield from solutions(page, labels)
        yield from pairs(page)
    yield from circles(project)


class Labels:
    """The labels of a book.

    Parameters
    ----------
    project : Project
    """

    def __init__(self, project: Project) -> None:
        self.pages = project.pages
        self.names = {page.name for page in project.pages}

    @cached_property
    def fixed(self) -> list[tuple[str, Page, int]]:
        """Each label that stands on a page as it is, with its line."""
        return [(label, page, line) for page in self.pages for label, line in _labels(page)]

    @cached_property
    def computed(self) -> tuple[tuple[re.Pattern[str], ...], bool]:
        """What labels that code puts together look like, and whether some cannot be foreseen."""
        patterns, unforeseen = [], False
        for page in self.pages:
            for value, _ in _names_in_code(page):
                text = _text(value)
                if text is None:
                    unforeseen = unforeseen or not isinstance(value, ast.Constant)
                elif "{" in text:
                    whole = ".+".join(map(re.escape, re.split(r"\{[^{}]*\}", text)))
                    # The block's own label is what is left without its fields.
                    patterns += [re.compile(whole), re.compile(re.escape(FIELD.sub("", text)))]
        return tuple(patterns), unforeseen

    @cached_property
    def exercises(self) -> set[str]:
        """The labels of exercises."""
        return {
            block.options["label"][1]
            for page in self.pages
            for block in page.blocks
            if block.name in ("exercise", "exercise-start") and "label" in block.options
        }

    @cached_property
    def known(self) -> set[str]:
        """All fixed labels, as Sphinx compares them."""
        return {label.lower() for label, _, _ in self.fixed}

    def has(self, label: str) -> bool:
        """Tell whether a label exists, or may exist once the cells have run."""
        patterns, unforeseen = self.computed
        if label.lower() in self.known or any(p.fullmatch(label) for p in patterns):
            return True
        return unforeseen and label.startswith(("tbl-", "fig-"))

    def doubled(self) -> Iterator[Finding]:
        """Find labels that two things have."""
        first: dict[str, str] = {}
        for label, page, line in self.fixed:
            place = f"{page.file}:{line}"
            if (other := first.setdefault(label.lower(), place)) != place:
                message = f"the label {label} stands in {other} too; one of its own is wanted"
                yield Finding(page.file, line, message)


def _labels(page: Page) -> Iterator[tuple[str, int]]:
    for number, text in page.prose:
        if found := TARGET.match(text.strip()):
            yield found[1], number
    for block in page.blocks:
        for key in WITH_LABEL:
            if key in block.options and block.options[key][1]:
                line, label = block.options[key]
                yield label, line
    for value, line in _names_in_code(page):
        name = _text(value)
        if name and name.startswith("tbl-") and "{" not in name:
            yield name, line


def _names_in_code(page: Page) -> Iterator[tuple[ast.expr, int]]:
    """Yield what is given as ``name=`` or in ``labels=`` in the calls of a page's cells."""
    for line, node in page.nodes:
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                at = line + keyword.value.lineno - node.lineno
                if keyword.arg == "name":
                    yield keyword.value, at
                elif keyword.arg == "labels" and isinstance(keyword.value, ast.List):
                    yield from ((label, at) for label in keyword.value.elts)


def _text(value: ast.expr) -> str | None:
    """Return a string as it stands in code, with {} for what is computed; None for all else."""
    if isinstance(value, ast.Constant):
        return value.value if isinstance(value.value, str) else None
    if isinstance(value, ast.JoinedStr):
        parts = [v.value if isinstance(v, ast.Constant) else "{}" for v in value.values]
        return "".join(map(str, parts))
    return None


def roles(page: Page, labels: Labels, bibliography: set[str]) -> Iterator[Finding]:
    """Find references to labels, pages and works that do not exist."""
    for number, text in page.prose:
        for role, named, plain in ROLE.findall(text):
            target = (named or plain).strip()
            if role.startswith("cite"):
                for key in re.split(r"\s*,\s*", target):
                    if key not in bibliography:
                        message = f"no entry of book/references.bib has the key {key}"
                        yield Finding(page.file, number, message)
            elif role == "doc":
                name = posixpath.normpath(posixpath.join("/", _folder(page), target)).lstrip("/")
                if name not in labels.names:
                    yield Finding(page.file, number, f"there is no page {target}")
            elif not labels.has(target):
                yield Finding(page.file, number, _unknown(target))


def _unknown(label: str) -> str:
    return f"undefined label: {label!r}; a label that a page or a cell sets is wanted"


def _folder(page: Page) -> str:
    return posixpath.dirname(page.name)


def links(project: Project, page: Page, labels: Labels) -> Iterator[Finding]:
    """Find links and images whose file or label does not exist."""
    for number, text in page.prose:
        plain = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", " ", text)
        for target in [*LINK.findall(plain), *IMAGE.findall(plain)]:
            yield from _link(project, page, number, target, labels)
    for block in page.blocks:
        if block.name in ("include", "literalinclude", "image", "figure"):
            yield from _link(project, page, block.line, block.argument, labels)
        elif block.name == "button-ref" and not labels.has(block.argument):
            yield Finding(page.file, block.line, _unknown(block.argument))


def _link(
    project: Project, page: Page, line: int, target: str, labels: Labels
) -> Iterator[Finding]:
    if re.match(r"[a-z][a-z0-9+.-]*:|//", target):
        return
    file, _, label = target.partition("#")
    if not file:
        anchors = {_slug(text) for _, text in page.prose if text.startswith("#")}
        if not labels.has(label) and label not in anchors:
            yield Finding(page.file, line, _unknown(label))
        return
    start = project.root / "book" if file.startswith("/") else (project.root / page.file).parent
    path = start / file.lstrip("/")
    if not path.exists() and not path.with_name(f"{path.name}.md").exists():
        yield Finding(page.file, line, f"there is no file {file}; its path from here is wanted")


def _slug(heading: str) -> str:
    """Return a heading's anchor, as GitHub makes it."""
    words = re.sub(r"[^\w\- ]", "", heading.lstrip("# ").strip().lower())
    return words.replace(" ", "-")


def solutions(page: Page, labels: Labels) -> Iterator[Finding]:
    """Find solutions to exercises that do not exist."""
    for block in page.blocks:
        if block.name in ("solution", "solution-start"):
            label = block.argument.strip()
            if label not in labels.exercises:
                what = f"a solution to an unknown exercise, {label!r}" if label else "a solution"
                message = f"{what}; the label of an exercise is wanted"
                yield Finding(page.file, block.line, message)


def pairs(page: Page) -> Iterator[Finding]:
    """Find exercises and solutions that begin but do not end, or end without a beginning."""
    opened: tuple[str, int] | None = None
    for block in page.blocks:
        if opened and (block.name == PAIRS[opened[0]]):
            opened = None
        elif block.name in PAIRS.values():
            start = block.name.replace("end", "start")
            yield Finding(
                page.file, block.line, f"nothing begins here; {{{start}}} is wanted before"
            )
        elif block.name in PAIRS:
            if opened:
                yield Finding(page.file, opened[1], _not_ended(opened[0]))
            opened = (block.name, block.line)
    if opened:
        yield Finding(page.file, opened[1], _not_ended(opened[0]))


def _not_ended(start: str) -> str:
    return f"this {start.partition('-')[0]} does not end; {{{PAIRS[start]}}} is wanted"


def circles(project: Project) -> Iterator[Finding]:
    """Find pages that include themselves, by way of others too."""
    pages = {page.file: page for page in project.pages}

    def follow(file: str, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        if file in path:
            yield (*path, file)
            return
        for target, _ in _includes(pages.get(file)):
            yield from follow(target, (*path, file))

    for file, page in pages.items():
        for target, line in _includes(page):
            if any(path[-1] == file for path in follow(target, (file,))):
                message = f"this includes {file} again, without end; leave one include out"
                yield Finding(file, line, message)


def _includes(page: Page | None) -> Iterator[tuple[str, int]]:
    """Yield what a page includes, and where."""
    for block in page.blocks if page else ():
        if block.name == "include":
            path = PurePosixPath(page.file).parent / block.argument if page else ""
            yield posixpath.normpath(str(path)), block.line
