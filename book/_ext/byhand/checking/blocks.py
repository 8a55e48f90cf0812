"""Blocks of a page: the syntax and length of cells, and exercises with their solutions.

Sphinx itself reports labels that are missing or defined twice. Unpaired exercises and solutions it
reports without a line, or it stops; therefore they are checked here.
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import yaml

from byhand.checking.sources import EVAL, Block, Fault, Finding, Line, Page, Project, nearest

HOLDS = re.compile(r"\{holds\}`([^`]+)`")
MAX_CELL_LENGTH = 15  # lines of code in a cell
EXCEPTIONS = tomllib.loads(Path(__file__).with_name("exceptions.toml").read_text("utf-8"))

EXERCISES = ("exercise", "exercise-start")
"""The blocks with an exercise, or with the start of one."""

PAIRS = {"exercise-start": "exercise-end", "solution-start": "solution-end"}

ANSWER_ASSERTION = re.compile(r"^assert check\(", re.MULTILINE)
"""A line of a cell with the answer to a programming exercise, which its ``check`` confirms."""


TAGS = (
    *("remove-input", "remove-output", "remove-cell", "hide-input", "hide-output", "teaches"),
    *("beside", "full-width", "screen-only", "without-script", "not-finite"),
    *("front-picture", "front-row"),
)
"""The tags that a cell may have, besides ``of-NAME`` with the id of an instrument."""

KEYS: dict[tuple[str, ...], tuple[str, ...]] = {
    (): ("mystnb", "tags"),
    ("mystnb",): ("figure", "image"),
    ("mystnb", "figure"): ("caption", "name", "alt", "align", "width", "height", "classes"),
    ("mystnb", "image"): ("alt", "width", "height", "scale", "align", "classes"),
}
"""The keys of a cell's header, by their group."""


def unknown_options(page: Page) -> Iterator[Fault]:
    """Find unknown tags and keys in the headers of cells."""
    for cell in page.cells:
        lines = [(n, t) for n, t in cell.options_lines]
        text = "\n".join(t if cell.header else t.strip().removeprefix(":") for _, t in lines)
        try:
            header = yaml.safe_load(text)
        except yaml.YAMLError:
            continue  # `data.front_matter_faults` reports it
        for path, known in KEYS.items():
            group = header
            for key in path:
                group = group.get(key) if isinstance(group, dict) else None
            for key in group if isinstance(group, dict) else ():
                if key not in known:
                    group_name = f" of {path[-1]}" if path else ""
                    message = f"unknown key {key!r}{group_name} in the cell's header"
                    yield _line_with(lines, str(key)), f"{message}; {nearest(str(key), known)}"
        tags = header.get("tags") if isinstance(header, dict) else None
        for tag in tags if isinstance(tags, list) else ():
            if tag not in TAGS and not str(tag).startswith("of-"):
                yield _line_with(lines, str(tag)), f"unknown tag {tag!r}; {nearest(str(tag), TAGS)}"


def _line_with(lines: list[Line], text: str) -> int:
    return next((number for number, line in lines if text in line), lines[0][0])


def syntax_errors(page: Page) -> Iterator[Fault]:
    """Find cells and expressions that are not Python, and `{holds}` without an expression."""
    for before, source in page.code_sources():
        try:
            ast.parse(source)
        except SyntaxError as error:
            yield before + (error.lineno or 1), f"this is not Python: {error.msg}"
        except ValueError as error:  # a NUL byte
            yield before + 1, f"this is not Python: {error}"
    for number, text in page.prose:
        for words in HOLDS.findall(text):
            if " | " not in words:
                message = f"{{holds}}`{words}` has no comparison"
                yield number, f"{message}; words | comparison is wanted"
        for expression in EVAL.findall(text):
            try:
                body = ast.parse(expression.strip()).body
            except (SyntaxError, ValueError):
                continue  # reported above
            if len(body) != 1 or not isinstance(body[0], ast.Expr):
                message = f"{{eval}}`{expression}` is a statement, which has no value"
                yield number, f"{message}; an expression is wanted"


def long_cells(page: Page) -> Iterator[Fault]:
    """Find cells of more than `MAX_CELL_LENGTH` lines, except those in ``exceptions.toml``."""
    counts = {cell.line: len(cell.code.strip().splitlines()) for cell in page.cells}
    long = {line: count for line, count in counts.items() if count > MAX_CELL_LENGTH}
    if len(long) > EXCEPTIONS["long-cells"].get(page.name, 0):
        for line, count in long.items():
            yield line, f"this cell has {count} lines; at most {MAX_CELL_LENGTH} are wanted"


def check(project: Project) -> Iterator[Finding]:
    """Find solutions to exercises that do not exist, and labels that are given twice."""
    blocks = [(page.file, block) for page in project.pages for block in page.blocks]
    yield from _repeated_labels(blocks)
    solved: dict[str, str] = {}  # the file and line of each exercise's solution
    exercises = {b.options.get("label", (0, ""))[1] for _, b in blocks if b.name in EXERCISES}
    for file, block in blocks:
        label = block.argument.strip()
        if block.name == "asked" and label not in exercises:
            message = f"no exercise has the label {label!r}; the label of an exercise is wanted"
            yield Finding(file, block.line, message)
        if block.name in ("solution", "solution-start") and label not in exercises - {""}:
            message = f"a solution to an unknown exercise, {label!r}" if label else "a solution"
            yield Finding(file, block.line, f"{message}; the label of an exercise is wanted")
        elif block.name in ("solution", "solution-start"):
            place = f"{file}:{block.line}"
            if (other := solved.setdefault(label, place)) != place:
                message = f"the exercise {label} has a solution in {other}; one is wanted"
                yield Finding(file, block.line, message)


def _repeated_labels(blocks: list[tuple[str, Block]]) -> Iterator[Finding]:
    """Find exercises and questions that have the label of another one."""
    first: dict[str, str] = {}  # the file and line, by label
    for file, block in blocks:
        is_question = block.name in ("quiz", "predict")
        if not is_question and block.name not in EXERCISES:
            continue
        label = block.argument.strip() if is_question else block.options.get("label", (0, ""))[1]
        place = f"{file}:{block.line}"
        if label and (other := first.setdefault(label, place)) != place:
            message = f"the label {label} is also that of {other}; a label of its own is wanted"
            yield Finding(file, block.line, message)


def unpaired_ends(page: Page) -> Iterator[Fault]:
    """Find exercises and solutions whose start has no end, or whose end has no start."""
    opened: Block | None = None
    for block in page.blocks:
        if opened and block.name == PAIRS[opened.name]:
            opened = None
        elif block.name in PAIRS.values():
            start = block.name.replace("end", "start")
            yield block.line, f"nothing begins here; {{{start}}} is wanted before"
        elif block.name in PAIRS:
            yield from _not_ended(opened)
            opened = block
    yield from _not_ended(opened)


def folded_answers(page: Page) -> Iterator[Fault]:
    """Find cells in solutions to programming exercises that would be folded away."""
    cells: list[Block] | None = None
    for block in page.blocks:
        if block.name in ("solution-start", "solution-end"):
            cells = [] if block.name == "solution-start" else None
        elif block.name == "code-cell" and cells is not None:
            cells.append(block)
            if ANSWER_ASSERTION.search(block.code):
                for cell in cells:
                    if "teaches" not in cell.options.get("tags", (0, ""))[1]:
                        yield cell.line, "print omits this answer; the tag teaches is wanted"
                cells = []


def _not_ended(block: Block | None) -> Iterator[Fault]:
    if block:
        kind, end = block.name.partition("-")[0], PAIRS[block.name]
        yield block.line, f"this {kind} does not end; {{{end}}} is wanted"
