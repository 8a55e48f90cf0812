"""Cells, before any of them runs: each can be read, will run, and gives the same each time."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from byhand.checking.finding import Finding
from byhand.checking.sources import Page, Project, parsed

LONGEST = 15  # lines of code in a cell
LEFT_OUT = re.compile(r"\b(remove-cell|remove_cell|skip-execution)\b")
EXCEPTIONS = Path(__file__).with_name("exceptions.toml")

SEED = "a generator with a seed, as in np.random.default_rng(2024), is wanted"
CLOCK = "it differs each time; a value that is written down is wanted"
OUTSIDE = "a page needs nothing from outside; a file of the project is wanted"

SEEDED = ("default_rng", "SeedSequence", "RandomState", "Random", "PCG64", "Philox", "MT19937")
NEVER_SEEDED = re.compile(
    r"(?:(?:np|numpy)\.random|random)\.(?!Generator$)\w+|os\.urandom|uuid\.uuid[14]|secrets\.\w+"
)
CLOCKS = re.compile(
    r"time\.(?:time|monotonic|perf_counter|process_time|localtime|gmtime|ctime|strftime)(?:_ns)?"
    r"|(?:datetime\.)?(?:datetime|date)\.(?:now|today|utcnow)"
)
NETWORK = ("urllib", "requests", "socket", "http", "ftplib", "httpx", "aiohttp", "smtplib")


def check(project: Project) -> Iterator[Finding]:
    """Look at the cells and expressions of every page."""
    allowed = tomllib.loads(EXCEPTIONS.read_text(encoding="utf-8"))["long-cells"]
    for page in project.pages:
        yield from unreadable(page)
        yield from left_out(page)
        yield from long_cells(page, allowed.get(page.name, 0))
        yield from unsteady(page)


def unreadable(page: Page) -> Iterator[Finding]:
    """Find cells and expressions that are not Python."""
    for before, source in page.sources():
        error = parsed(source)
        if isinstance(error, SyntaxError):
            line = before + (error.lineno or 1)
            yield Finding(page.file, line, f"this is not Python: {error.msg}")


def left_out(page: Page) -> Iterator[Finding]:
    """Find tags by which a cell would not run: an assertion that does not run proves nothing."""
    for cell in page.cells:
        lines = {number for number, _ in cell.content}
        for number, text in cell.body:
            if number not in lines and (tag := LEFT_OUT.search(text)):
                message = (
                    f"a cell tagged {tag[1]} may not run; tag it remove-input and remove-output"
                )
                yield Finding(page.file, number, message)


def long_cells(page: Page, allowed: int = 0) -> Iterator[Finding]:
    """Find cells of more lines than a reader takes in at once, but for some allowed ones."""
    found = []
    for cell in page.cells:
        if (count := len(cell.code.strip().splitlines())) > LONGEST:
            message = f"this cell has {count} lines; at most {LONGEST} are wanted"
            found.append(Finding(page.file, cell.line, message))
    if len(found) > allowed:
        yield from found


def unsteady(page: Page) -> Iterator[Finding]:
    """Find what gives another result each time: randomness without a seed, clocks, the network."""
    names = dict(pair for _, node in page.nodes for pair in _imported(node))
    for line, node in page.nodes:
        for message in _faults(node, names):
            yield Finding(page.file, line, message)


def _imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield the names that a statement imports, and what they stand for."""
    if isinstance(node, ast.Import):
        yield from ((alias.asname, alias.name) for alias in node.names if alias.asname)
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _faults(node: ast.AST, names: dict[str, str]) -> Iterator[str]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        modules = [alias.name for alias in node.names]
        for module in [node.module or ""] if isinstance(node, ast.ImportFrom) else modules:
            if module.partition(".")[0] in NETWORK:
                yield f"{module} speaks to a network; {OUTSIDE}"
    if not isinstance(node, ast.Call):
        return
    called = _dotted(node.func, names)
    last = called.rpartition(".")[2]
    if last in SEEDED and ("random" in called or last == "default_rng"):
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        if not given or (isinstance(given[0], ast.Constant) and given[0].value is None):
            yield f"{called}() has no seed; {SEED}"
    elif NEVER_SEEDED.fullmatch(called):
        yield f"{called} has no seed of its own; {SEED}"
    elif CLOCKS.fullmatch(called):
        yield f"{called} reads the clock; {CLOCK}"
    elif called == "id":
        yield f"id() is an object's address; {CLOCK}"


def _dotted(node: ast.AST, names: dict[str, str]) -> str:
    """Return the full name of what is called, as far as it is one."""
    if isinstance(node, ast.Name):
        return names.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value, names)}.{node.attr}"
    return ""
