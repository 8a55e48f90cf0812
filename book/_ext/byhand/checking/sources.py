"""The sources of a book: pages, their fenced blocks and their cells, read without Sphinx.

A page is read as lines. The end of a fence is found as in CommonMark.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

FENCE = re.compile(r"^\s*(`{3,}|~{3,}|:{3,})(.*)$")
DIRECTIVE = re.compile(r"\{([\w:-]+)\}\s*(.*)")
OPTION = re.compile(r":([\w-]+):\s*(.*)")
YAML_OPTION = re.compile(r"\s*([\w-]+):\s*(.*)")
EVAL = re.compile(r"\{eval\}`([^`]+)`")
QUIZ_MARK = re.compile(r"^\s*- \[[x ] `([^`]+)`\]")
CODE_BLOCKS = ("", "code-cell", "code", "code-block", "literalinclude", "math", "pytorch", "asked")
"""Blocks whose contents are not Markdown."""
BLOCKS_OF_MARKDOWN_BELOW_OPTIONS = (
    "slide",
    "question",
    "published-fields",
    "published-models",
    "objectives",
)
"""Blocks whose contents are Markdown, but whose options are not."""

EXPRESSION_OPTIONS = ("shows", "reveals")
"""Options of slides whose value is an expression."""
DECK = ".slides.md"
HIDDEN_OR_UNDERSCORED = re.compile(r"/[_.]")
HIDDEN_OR_COMPILED = re.compile(r"(?:^|/)(?:\.|__pycache__(?:/|$))")
INLINE_CODE = re.compile(r"(?<!`)(`{1,2})(?!`).*?(?<!`)\1(?!`)")
IGNORED = (
    re.compile(r"(?:\{[\w:-]+\})?(`+)(?!`).*?(?<!`)\1(?!`)"),  # code and roles
    re.compile(r"\]\([^)]*\)"),  # a link's address
    re.compile(r"<[^>]*>"),
)

Line = tuple[int, str]
"""The number of a line on its page, counted from 1, and its text."""
Fault = tuple[int, str]
"""The number of a line, counted from 1, and a sentence on what is wrong there."""


class Finding(NamedTuple):
    """A fault with its file.

    Examples
    --------
    >>> print(Finding("book/index.md", 3, "the page has no title; one line `# Title` is wanted"))
    book/index.md:3: the page has no title; one line `# Title` is wanted
    """

    file: str  # relative to the project
    line: int  # counted from 1
    message: str  # the fault; then, after a semicolon, its cure

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


@dataclass(frozen=True)
class Block:
    """A fenced block: its directive, options and content."""

    name: str  # the directive; "" for a block of plain code
    argument: str  # the text after the name in the opening line
    line: int  # of the opening fence
    body: tuple[Line, ...]  # between the fences, options included
    fence: str  # the opening fence
    closed: bool  # whether there is a closing fence
    header: tuple[Line, ...]  # the lines of the options where these are YAML
    options_lines: tuple[Line, ...]
    content: tuple[Line, ...]  # the lines after the options

    @property
    def code(self) -> str:
        """The content as one text."""
        return "\n".join(text for _, text in self.content)

    @cached_property
    def options(self) -> dict[str, tuple[int, str]]:
        """The options of one line each, with their lines: ``:name: x``, or YAML's ``name: x``."""
        pattern = YAML_OPTION if self.header else OPTION
        found = [(number, pattern.fullmatch(text.rstrip())) for number, text in self.options_lines]
        return {match[1]: (number, match[2].strip()) for number, match in found if match}


@dataclass(frozen=True)
class Page:
    """One Markdown file of the book."""

    file: str  # relative to the project, such as "book/index.md"
    text: str

    @property
    def name(self) -> str:
        """The name of the page in the table of contents."""
        return self.file.removeprefix("book/").removesuffix(".md")

    @cached_property
    def lines(self) -> list[str]:
        """All lines, split at line feeds only, since a line may contain any other character."""
        return self.text.split("\n")

    @cached_property
    def front_length(self) -> int:
        """The number of lines of the front matter, including its delimiters."""
        has_one = self.lines[0].rstrip() == "---"
        ends = [i for i, text in enumerate(self.lines[1:], 2) if text.rstrip() == "---"]
        return ends[0] if has_one and ends else 0

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """All fenced blocks, each before the blocks inside it."""
        numbered = list(enumerate(self.lines, 1))[self.front_length :]
        return tuple(_blocks(numbered))

    @cached_property
    def cells(self) -> tuple[Block, ...]:
        """The code cells."""
        return tuple(block for block in self.blocks if block.name == "code-cell")

    @cached_property
    def prose(self) -> tuple[Line, ...]:
        """The lines of prose without `{math}` blocks."""
        formulas = {n for b in self.blocks if b.name == "math" for n, _ in b.body}
        return tuple((n, text) for n, text in self.prose_and_formulas if n not in formulas)

    @cached_property
    def prose_and_formulas(self) -> tuple[Line, ...]:
        """The lines of prose and formulas, including the captions in cells' options."""
        excluded: set[int] = set(range(1, self.front_length + 1))
        for block in self.blocks:
            if block.name in BLOCKS_OF_MARKDOWN_BELOW_OPTIONS:
                excluded |= {n for n, _ in block.options_lines}
            elif block.name in (*CODE_BLOCKS, "list-table") and block.name != "math":
                options = {n for n, _ in block.options_lines if block.name == "code-cell"}
                excluded |= {*range(block.line, block.line + len(block.body) + 2)} - options
        lines = enumerate(self.lines, 1)
        return tuple((n, t) for n, t in lines if n not in excluded and not t.startswith("%"))

    def code_sources(self) -> Iterator[tuple[int, str]]:
        """Yield each cell and each expression in prose, with the number of the line before it.

        The marks of a quiz's options may have expressions too.
        """
        for cell in self.cells:
            if cell.content:
                yield cell.content[0][0] - 1, cell.code
        for block in self.blocks:
            for key in EXPRESSION_OPTIONS:
                if block.name in ("slide", "question") and key in block.options:
                    number, source = block.options[key]
                    yield number - 1, source
        for number, text in self.prose:
            for expression in [*EVAL.findall(text), *QUIZ_MARK.findall(text)]:
                yield number - 1, expression.strip()


def nearest(key: str, known: Iterable[str]) -> str:
    """Return a hint on a misspelt key: the known key that it resembles, or all known keys."""
    near = get_close_matches(key, known, 1)
    return f"did you mean {near[0]!r}?" if near else f"one of {', '.join(sorted(known))} is wanted"


def without_code(line: str) -> str:
    """Return a line of prose with blanks for inline code, roles, addresses and tags.

    Examples
    --------
    >>> without_code("Call `softmax`, see [this](x.html).").split()
    ['Call', ',', 'see', '[this', '.']
    """
    for pattern in IGNORED:
        line = pattern.sub(" ", line)
    return line


def without_inline_code(line: str) -> str:
    """Return a line with a blank for each piece of inline code."""
    return INLINE_CODE.sub(" ", line)


def consecutive_lines(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """Yield lists of lines with consecutive numbers."""
    for _, run in groupby(enumerate(lines), lambda pair: pair[1][0] - pair[0]):
        yield [line for _, line in run]


def _blocks(lines: Sequence[Line]) -> Iterator[Block]:
    """Yield the fenced blocks among some lines, each followed by the blocks inside it."""
    i = 0
    while i < len(lines):
        number, text = lines[i]
        opening = FENCE.match(text)
        rest = opening[2].strip() if opening else ""
        is_inline = opening and "`" in rest and opening[1][0] == "`"
        if not opening or is_inline or (opening[1][0] == ":" and not rest.startswith("{")):
            i += 1
            continue
        end = next((j for j in range(i + 1, len(lines)) if closes(opening[1], lines[j][1])), None)
        body = tuple(lines[i + 1 : len(lines) if end is None else end])
        directive = DIRECTIVE.fullmatch(rest)
        name, argument = (directive[1], directive[2]) if directive else ("", rest)
        closed = end is not None
        block = Block(name, argument, number, body, opening[1], closed, *_split_options(body))
        yield block
        if name not in CODE_BLOCKS:
            yield from _blocks(block.content)
        i = len(lines) if end is None else end + 1


def _split_options(body: tuple[Line, ...]) -> tuple[tuple[Line, ...], ...]:
    """Return the YAML header's lines if there is one, the options' lines, and the other lines."""
    texts = [text.strip() for _, text in body]
    if texts[:1] == ["---"] and "---" in texts[1:]:
        end = texts.index("---", 1)
        return body[1:end], body[1:end], body[end + 1 :]
    count = next((i for i, text in enumerate(texts) if not OPTION.fullmatch(text)), len(texts))
    return (), body[:count], body[count:]


def closes(fence: str, line: str) -> bool:
    """Return whether a line closes a block that `fence` opened."""
    found = FENCE.match(line)
    return bool(found and found[1].startswith(fence) and not found[2].strip())


@dataclass(frozen=True)
class Project:
    """A project's folder and its source files."""

    root: Path

    @cached_property
    def pages(self) -> tuple[Page, ...]:
        """Every Markdown file of the book, whether or not the contents name it."""
        return tuple(page for page in self.pages_and_decks if not page.file.endswith(DECK))

    @cached_property
    def decks(self) -> tuple[Page, ...]:
        """The decks of slides."""
        return tuple(page for page in self.pages_and_decks if page.file.endswith(DECK))

    @cached_property
    def pages_and_decks(self) -> tuple[Page, ...]:
        """Pages and decks, in the order of their files.

        Hidden files, and files in folders whose names begin with ``_``, are for contributors.
        """
        files = self.files("book/**/*.md")
        return tuple(Page(*file) for file in files if not HIDDEN_OR_UNDERSCORED.search(file[0]))

    def paths(self, *patterns: str) -> Iterator[str]:
        """Yield the names of the files that match, except hidden and compiled ones."""
        for path in sorted({path for pattern in patterns for path in self.root.glob(pattern)}):
            name = path.relative_to(self.root).as_posix()
            if not HIDDEN_OR_COMPILED.search(name) and not path.is_dir():
                yield name

    def unreadable(self, file: str) -> str:
        """Return why a file cannot be read, or ""."""
        try:
            with (self.root / file).open("rb"):
                return ""
        except OSError as error:
            return error.strerror or str(error)

    def contents(self, *patterns: str) -> Iterator[tuple[str, bytes]]:
        """Yield the names and contents of the files that match and can be read."""
        for file in self.paths(*patterns):
            if not self.unreadable(file):
                yield file, (self.root / file).read_bytes()

    def files(self, *patterns: str) -> list[tuple[str, str]]:
        """Return the names and texts of the files that match.

        Invalid bytes are replaced; `byhand.checking.patterns` reports them. Files that cannot be
        read are omitted; `byhand.checking.files` reports them.
        """
        return [(file, text.decode(errors="replace")) for file, text in self.contents(*patterns)]
