"""Required parts of a chapter: exercises with solutions, questions, boxes, views of its example.

Chapters are the pages of `FOLDERS`, and the pages of worked examples. An example's chapter shows
every stage of its run.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest

from byhand.checking.blocks import EXERCISES
from byhand.checking.box_calls import BOX_CALL
from byhand.checking.sources import Block, Fault, Finding, Page, Project
from mha.examples import ExampleError, example_from
from mha.runs.record import trace

FOLDERS = ("mechanism/", "transformer/")
EXAMPLES = "examples/"
IMPORT = "from mha.chapters import *"
STAGES = (
    *("embeddings", "query", "key", "value", "scores", "scaled_scores", "exponentials"),
    *("weights", "head_outputs", "concat", "output"),
)
"""The stages of a run that its chapter shows as tables, in the order of the computation."""

MIN_COUNTS = {"exercise": 4, "quiz": 3, "box": 1}
MAX_WIDE_FIGURES = 3
"""The most figures of full width in a chapter."""
SOLUTIONS = ("solution", "solution-start")
DIFFICULTY = re.compile(r"(?:^|\s)difficulty-\d+(?:\s|$)")
NAME = re.compile(r"^    name: (\S+)$", re.MULTILINE)


def check(project: Project) -> Iterator[Finding]:
    """Find missing parts of chapters, and lines of code that two example chapters share."""
    data = {
        file.removeprefix("mha/examples/").removesuffix(".toml"): text
        for file, text in project.files("mha/examples/*.toml")
    }
    examples = [page for page in project.pages if page.name.startswith(EXAMPLES)]
    yield from _shared_lines(examples)
    for page in project.pages:
        name = page.name.removeprefix(EXAMPLES)
        is_example = page in examples and name in data
        if is_example or page.name.startswith(FOLDERS):
            faults = [*_missing_parts(page), *_unsolved_exercises(page)]
            faults += (
                _example_faults(page, name, data[name])
                if is_example
                else _pytorch_fold_faults(page)
            )
            yield from (Finding(page.file, *fault) for fault in faults)
    for file, text in project.files("tests/commands/test_questions_alone.py"):
        for page in project.pages:
            for block in page.blocks:
                label = block.argument.strip()
                if block.name == "asked" and f'"{label}' not in text:
                    message = f"no test computes the answer of {label}; an entry in ANSWERS of"
                    yield Finding(page.file, block.line, f"{message} {file} is wanted")


def figure_labels(page: Page) -> Iterator[Fault]:
    """Find figures whose label in the cell's header is not that in its code."""
    for cell in page.cells:
        try:
            tree = ast.parse(cell.code)
        except (SyntaxError, ValueError):
            continue  # `blocks.syntax_errors` reports it
        shown = [
            keyword.value.value
            for call in ast.walk(tree)
            if isinstance(call, ast.Call)
            for keyword in call.keywords
            if keyword.arg == "name"
            and isinstance(keyword.value, ast.Constant)
            and str(keyword.value.value).startswith("fig-")
        ]
        given = NAME.findall("\n".join(text for _, text in cell.header))
        if shown and shown != given:
            message = f"the code names the figure {', '.join(map(str, shown))}, but the header"
            yield cell.line, f"{message} {', '.join(given) or 'has no name'}; one label is wanted"


def _title_line(page: Page) -> int:
    return next((n for n, text in page.prose if text.startswith("# ")), page.front_length + 1)


def _missing_parts(page: Page) -> Iterator[Fault]:
    """Find a chapter with too few exercises, quizzes or boxes, or too many wide figures."""
    names = Counter(block.name for block in page.blocks)
    counts = {
        "exercise": sum(names[name] for name in EXERCISES),
        "quiz": names["quiz"] + names["predict"],
        "box": sum(len(BOX_CALL.findall(cell.code)) for cell in page.cells),
    }
    many = {"exercise": "exercises", "quiz": "quizzes", "box": "boxes that ask for a number"}
    for kind, least in MIN_COUNTS.items():
        if counts[kind] < least:
            message = f"the chapter has {counts[kind]} {many[kind]}; at least {least}"
            yield _title_line(page), f"{message} {'is' if least == 1 else 'are'} wanted"
    wide = [cell for cell in page.cells if "full-width" in cell.options.get("tags", (0, ""))[1]]
    if len(wide) > MAX_WIDE_FIGURES:
        message = f"the chapter has {len(wide)} figures of full width; at most {MAX_WIDE_FIGURES}"
        yield wide[MAX_WIDE_FIGURES].line, f"{message} are wanted"
    if page.name.startswith("mechanism/") and not wide:
        message = "the chapter has no figure of full width; the tag full-width is wanted in one"
        yield _title_line(page), f"{message} to three cells"


def _unsolved_exercises(page: Page) -> Iterator[Fault]:
    """Find exercises without a difficulty, or without a solution as the next block."""
    outer = [block for block in page.blocks if block.name in (*EXERCISES, *SOLUTIONS)]
    for block, after in zip_longest(outer, outer[1:]):
        if block.name not in EXERCISES:
            continue
        label = block.options.get("label", (0, ""))[1]
        if not DIFFICULTY.search(block.options.get("class", (0, ""))[1]):
            message = "the exercise has no difficulty; `:class: difficulty-1`, -2 or -3 is wanted"
            yield block.line, message
        if label and not _solves(after, label):
            message = f"the exercise has no solution below it; {{solution-start}} {label}"
            yield block.line, f"{message} is wanted"


def _solves(block: Block | None, label: str) -> bool:
    return block is not None and block.name in SOLUTIONS and block.argument.strip() == label


def _pytorch_fold_faults(page: Page) -> Iterator[Fault]:
    """Find a chapter without exactly one section "In PyTorch" that has one `{pytorch}`."""
    headings = [n for n, text in page.prose if text == "## In PyTorch"]
    blocks = [block.line for block in page.blocks if block.name == "pytorch"]
    for name, lines in (("section `## In PyTorch`", headings), ("{pytorch}", blocks)):
        if len(lines) != 1:
            number = lines[1] if lines else _title_line(page)
            yield number, f"the chapter has {len(lines)} {name}; one is wanted"


def _example_faults(page: Page, name: str, data: str) -> Iterator[Fault]:
    """Find missing parts of the chapter of an example."""
    if not any(text == f"(example-{name})=" for _, text in page.prose):
        yield _title_line(page), f"the chapter has no label; a line (example-{name})= is wanted"
    lines = [(n, t.strip()) for cell in page.cells for n, t in cell.content if _is_code(t)]
    opening = f'run, show = open_example("{name}")'
    for i, wanted in enumerate((IMPORT, opening)):
        if i >= len(lines) or lines[i][1] != wanted:
            number = lines[i][0] if i < len(lines) else _title_line(page)
            yield number, f"line {i + 1} of the chapter's code is not as in others; {wanted}"
            return
    for number, text in lines[2:]:
        if text.startswith(("from ", "import ")):
            message = "an example's chapter imports nothing else; a name of mha.chapters is wanted"
            yield number, message
    if not any(block.name == "read-in-steps" for block in page.blocks):
        yield _title_line(page), "the chapter has no {read-in-steps}; one is wanted after the aims"
    code = "\n".join(cell.code for cell in page.cells)
    if "show.explorer(" not in code:
        yield _title_line(page), "the chapter has no explorer; show.explorer(...) is wanted"
    if missing := _missing_stages(page, name, data):
        call = f'show.stage("{missing[0]}")'
        yield _title_line(page), f"no table shows {', '.join(missing)}; {call} is wanted"


def _missing_stages(page: Page, name: str, data: str) -> list[str]:
    """Return the stages of an example's run that its chapter does not show."""
    try:
        run = trace(example_from(name, data))
        trees = [ast.parse(cell.code) for cell in page.cells]
    except (ExampleError, SyntaxError, ValueError):
        return []  # reported elsewhere
    shown = {
        argument.value
        for tree in trees
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "stage"
        for argument in call.args
        if isinstance(argument, ast.Constant)
    }
    # The concatenation of one head is its output.
    wanted = [s for s in STAGES if getattr(run, s) is not None]
    return [s for s in wanted if s not in shown and (s != "concat" or run.num_heads > 1)]


def _shared_lines(pages: list[Page]) -> Iterator[Finding]:
    """Find lines of code that the chapters of two examples share, besides the import."""
    places: dict[str, dict[str, int]] = {}  # of each line: the files, with the first number
    for page in pages:
        for number, text in (line for cell in page.cells for line in cell.content):
            if _is_code(text) and text.strip() != IMPORT:
                places.setdefault(text.strip(), {}).setdefault(page.file, number)
    for found in places.values():
        for file, number in found.items() if len(found) > 1 else ():
            other = next(one for one in found if one != file)
            message = f"{other} has this line of code too; two example chapters may share none"
            yield Finding(file, number, f"{message}, so another name or view is wanted")


def _is_code(text: str) -> bool:
    """Return whether a line has more than brackets."""
    return bool(re.search(r"\w", text))
