"""The text of a page as plain Markdown, readable in any Jupyter.

Directives and roles of the book are replaced: a computed number by the number, a reference by its
text on the page, a block by a heading and its text. Blocks that work only on a page are omitted.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sphinx.config import Config
from sphinx.directives.code import LiteralIncludeReader

from byhand.chapter import published_tables
from byhand.chapter.checked_blocks import torch_version
from byhand.checking.sources import Block, Page

RoleText = Callable[[str, str], str]  # a role and its text -> its replacement

ROLE = re.compile(r"\{([a-z:]+)\}(`+)(.+?)\2(?!`)", re.DOTALL)
TARGET = re.compile(r"^\([\w-]+\)=\n", re.MULTILINE)
SPAN = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\{(\.[^}]*)\}", re.DOTALL)
ITEM = re.compile(r"^- \[[x ][^\]`]*(?:`[^`]+`)?\]\s+", re.MULTILINE)
OMITTED_BLOCKS = frozenset(
    {"asked", "bibliography", "button-ref", "exercise-end", "printed-switch", "read-in-steps"}
    | {"solution-end", "names-of-the-package"}
)
HEADINGS = {
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


def plain(text: str, text_of_role: RoleText, folder: Path) -> str:
    r"""Return a page's text as plain Markdown.

    Each role is replaced by the result of `text_of_role`. Included code is found relative to the
    page's folder.
    """
    written = "\n".join(_pieces(text, text_of_role, folder))
    return re.sub(r"\n{3,}", "\n\n", written).strip("\n")


def _pieces(text: str, text_of_role: RoleText, folder: Path) -> Iterator[str]:
    """Yield paragraphs and blocks in their order as plain Markdown."""
    lines, end = text.splitlines(), 0
    for block in Page("", text).blocks:
        if block.line > end:  # it is in no other block
            yield _prose(lines[end : block.line - 1], text_of_role)
            end = block.line + len(block.body) + block.closed
            if block.name:
                yield "\n" + _directive(block, text_of_role, folder) + "\n"
            else:
                yield "\n".join(lines[block.line - 1 : end])
    yield _prose(lines[end:], text_of_role)


def _prose(lines: list[str], text_of_role: RoleText) -> str:
    """Return lines of text without the end marks of blocks that contain cells."""
    return _inline(
        "\n".join(line for line in lines if not re.match(r"^:{3,}$", line)), text_of_role
    )


def _directive(block: Block, text_of_role: RoleText, folder: Path) -> str:
    """Return a block as plain Markdown."""
    name, title, body = block.name, block.argument, block.code.strip("\n")
    if name in OMITTED_BLOCKS:
        return ""
    if name == "math":
        return f"$$\n{body}\n$$"
    if name == "literalinclude":
        return f"```python\n{_included(folder / title, block)}\n```"
    if name == "pytorch":
        code, output = body.split("\n---\n")
        return (
            f"```python\n{code}\n```\n\n```text\n{output}\n```\n\n"
            f"Run with PyTorch {torch_version()}, on a CPU."
        )
    if name == "list-table":
        return _table(plain(body, text_of_role, folder))
    if name in published_tables.DIRECTIVES:
        models = published_tables.names_of(block.options.get("models", (0, ""))[1])
        table = "\n".join(published_tables.lines(name, " ".join(body.split()), models))
        return plain(table, text_of_role, folder)
    if name in ("quiz", "predict"):
        body = ITEM.sub("- ", _without_feedback(body))
        title = ""  # it is the question's label
    text = plain(body, text_of_role, folder)
    if name == "lead":
        return "*" + text.replace("*", "") + "*"
    if name == "aims":
        return f"{AIMS}\n\n{text}"
    if name in HEADINGS:
        _, label = block.options.get("label", (0, ""))
        return f"**{_heading(name, title, label, text_of_role)}**\n\n{text}"
    return text


def _heading(name: str, title: str, label: str, text_of_role: RoleText) -> str:
    """Return the heading of an exercise, solution or question, with its number on the page."""
    if name in ("algorithm", "proposition"):
        return f"{HEADINGS[name]}: {_inline(title, text_of_role)}"
    if name.startswith("solution"):
        return f"Solution to {text_of_role('ref', title)}"
    if label:
        return (
            f"{text_of_role('ref', label)}{f' ({_inline(title, text_of_role)})' if title else ''}"
        )
    return HEADINGS[name]


def _without_feedback(quiz: str) -> str:
    """Return a question's options without feedback, which a notebook cannot hide."""
    head, *options = re.split(r"\n(?=- \[)", quiz)
    return "\n".join([head, *(re.split(r"\s::\s", option)[0] for option in options)])


def _included(file: Path, block: Block) -> str:
    """Return the code of a ``literalinclude``."""
    options: dict[str, Any] = {key: value for key, (_, value) in block.options.items()}
    if "dedent" in options:
        options["dedent"] = int(options["dedent"])
    text, _ = LiteralIncludeReader(str(file), options, Config()).read()
    return text.rstrip("\n")


def _table(text: str) -> str:
    """Return a list of lists as a Markdown table with a header."""
    rows = [
        [" ".join(cell.split()) for cell in re.split(r"(?:^|\n)  - |^- ", row) if cell.strip()]
        for row in re.split(r"(?:^|\n)\* ", text)
        if row.strip()
    ]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])


def _inline(text: str, text_of_role: RoleText) -> str:
    """Return text with its roles replaced, and without labels and classes."""
    text = ROLE.sub(lambda role: text_of_role(role[1], role[3]), TARGET.sub("", text))
    return SPAN.sub(lambda span: "" if "screen-only" in span[2] else span[1], text)
