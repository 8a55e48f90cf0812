"""Text of a page as plain Markdown, which reads well in any Jupyter.

A page's text has directives and roles that only the book's Sphinx knows. Here each is written out:
a computed number as the number, a reference as what it says on the page, a block as a heading and
its text. What works only on the page is left out.
"""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

Said = Callable[[str, str], str]  # a role and its text -> what stands in its place

FENCE = re.compile(r"^(`{3,}|:{3,})\{([\w:-]+)\} *(.*)$")
OPTION = re.compile(r"^:([\w-]+):(?: +(.*))?$")
ROLE = re.compile(r"\{([a-z:]+)\}(`+)(.+?)\2(?!`)", re.DOTALL)
TARGET = re.compile(r"^\([\w-]+\)=\n", re.MULTILINE)
SPAN = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\{(\.[^}]*)\}", re.DOTALL)
ITEM = re.compile(r"^- \[[x ][^\]`]*(?:`[^`]+`)?\]\s+", re.MULTILINE)
LEFT_OUT = frozenset(
    {"asked", "bibliography", "button-ref", "exercise-end", "printed-switch", "read-in-steps"}
    | {"solution-end", "names-of-the-package"}
)
HEADED = {
    "exercise": "Exercise",
    "exercise-start": "Exercise",
    "solution": "Solution",
    "solution-start": "Solution",
    "quiz": "Question",
    "predict": "Before you go on",
    "algorithm": "Algorithm",
    "proposition": "Proposition",
}
AIMS = "After this page you can"


def plain(text: str, said: Said, folder: Path) -> str:
    r"""Return a page's text as plain Markdown.

    Parameters
    ----------
    text : str
        The Markdown of one or several paragraphs.
    said : callable
        Given a role and its text, what stands in their place.
    folder : Path
        Of the page: paths of code that it includes begin there.

    Examples
    --------
    >>> print(plain("(a)=\n# A\n\n```{lead}\nOne {eval}`n` of four.\n```", lambda *role: "3",
    ...             Path()))
    # A
    <BLANKLINE>
    *One 3 of four.*
    """
    lines = iter(text.splitlines())
    written = "\n".join(_blocks(lines, said, folder))
    return re.sub(r"\n{3,}", "\n\n", written).strip("\n")


def _blocks(lines: Iterator[str], said: Said, folder: Path) -> Iterator[str]:
    """Yield lines and blocks in their order, each written out."""
    waiting: list[str] = []
    for line in lines:
        begins = FENCE.match(line)
        if begins:
            yield _inline("\n".join(waiting), said)
            waiting = []
            inside = list(_until(lines, begins[1]))
            yield "\n" + _directive(begins[2], begins[3], inside, said, folder) + "\n"
        elif line.startswith("```"):
            yield _inline("\n".join(waiting), said)
            waiting = []
            yield "\n".join([line, *_until(lines, "```"), "```"])
        elif not re.match(r"^:{3,}$", line):  # the end of a block that holds a cell
            waiting.append(line)
    yield _inline("\n".join(waiting), said)


def _until(lines: Iterator[str], fence: str) -> Iterator[str]:
    """Yield what stands before the line that closes a block."""
    for line in lines:
        if line.rstrip() == fence:
            return
        yield line


def _directive(name: str, title: str, inside: list[str], said: Said, folder: Path) -> str:
    """Return a block in plain Markdown."""
    options = {}
    while inside and (option := OPTION.match(inside[0])):
        options[option[1]] = option[2] or ""
        inside = inside[1:]
    body = "\n".join(inside).strip("\n")
    if name in LEFT_OUT:
        return ""
    if name == "math":
        return f"$$\n{body}\n$$"
    if name == "literalinclude":
        return f"```python\n{_included(folder / title, options)}\n```"
    if name == "pytorch":
        return "```python\n{}\n```\n\n```text\n{}\n```".format(*body.split("\n---\n"))
    if name == "list-table":
        return _table(plain(body, said, folder))
    if name in ("quiz", "predict"):
        body = ITEM.sub("- ", _without_feedback(body))
        title = ""  # it is the question's label
    text = plain(body, said, folder)
    if name == "lead":
        return "*" + text.replace("*", "") + "*"
    if name == "aims":
        return f"{AIMS}\n\n{text}"
    if name in HEADED:
        return f"**{_heading(name, title, options.get('label', ''), said)}**\n\n{text}"
    return text


def _heading(name: str, title: str, label: str, said: Said) -> str:
    """Return what heads an exercise, a solution or a question: its number, as the page has it."""
    if name in ("algorithm", "proposition"):
        return f"{HEADED[name]}: {_inline(title, said)}"
    if name.startswith("solution"):
        return f"Solution to {said('ref', title)}"
    if label:
        return f"{said('ref', label)}{f' ({_inline(title, said)})' if title else ''}"
    return HEADED[name]


def _without_feedback(quiz: str) -> str:
    """Return a question's options without what is said to each: a notebook cannot hide it."""
    head, *options = re.split(r"\n(?=- \[)", quiz)
    return "\n".join([head, *(re.split(r"\s::\s", option)[0] for option in options)])


def _included(file: Path, options: dict[str, str]) -> str:
    """Return the code that a page shows of a file."""
    text = file.read_text(encoding="utf-8")
    if name := options.get("pyobject"):
        found = (n for n in ast.walk(ast.parse(text)) if getattr(n, "name", None) == name)
        text = ast.get_source_segment(text, next(found)) or ""
    lines = text.splitlines()
    if begin := options.get("start-at"):
        lines = lines[next(i for i, line in enumerate(lines) if begin in line) :]
    return "\n".join(line[int(options.get("dedent") or 0) :] for line in lines)


def _table(text: str) -> str:
    """Return a list of lists as a table; its first row heads it."""
    rows = [
        [" ".join(cell.split()) for cell in re.split(r"(?:^|\n)  - |^- ", row) if cell.strip()]
        for row in re.split(r"(?:^|\n)\* ", text)
        if row.strip()
    ]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])


def _inline(text: str, said: Said) -> str:
    """Return text whose roles are written out, without labels and classes."""
    text = ROLE.sub(lambda role: said(role[1], role[3]), TARGET.sub("", text))
    return SPAN.sub(lambda span: "" if "screen-only" in span[2] else span[1], text)
