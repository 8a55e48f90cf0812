"""Results of a page's cells and expressions, kept until one of their inputs changes.

The inputs are the cells and expressions in their order, the package with its data, the locked
packages, and the files that the cells open. While they are unchanged, the results of the last run
are used, so that an edit of prose computes nothing.
"""

import json
import multiprocessing
import signal
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple

from sphinx.errors import ExtensionError
from sphinx.util import logging

from byhand.digests import KEPT, ROOT, digest_of
from byhand.reading import page_runner
from byhand.reading.page_code import Step
from byhand.reading.traced_numbers import TextPart

logger = logging.getLogger(__name__)

INPUTS = ("mha", "requirements.lock", "_config.yml", "book/_ext/byhand/reading")
IMPORTED = [  # slow imports of many pages, done once before the processes fork
    "byhand.reading.page_runner",
    "mha.chapters",
    "matplotlib.figure",
    "matplotlib.backends.backend_svg",
]
IGNORED_FOLDERS = (".venv", "_build", "mha")  # files there change results only through `INPUTS`


class StepResult(NamedTuple):
    """The outputs of a step, and the live numbers in them."""

    outputs: list[dict[str, Any]]  # in the notebook format
    explorers: str  # names: the one of an expression, or those of a cell with spaces between
    parts: list[TextPart]  # of the expression's text; empty if it has no number of that explorer


@dataclass
class Results:
    """The outputs of a page's steps, and their errors and faults.

    They are kept as JSON unless a step failed, so a kept file has neither errors nor faults.
    """

    made_from: str  # the digest of the inputs
    steps: list[Step]
    # the outputs of each step that ran, in the notebook format
    outputs: list[list[dict[str, Any]]] = field(default_factory=list)
    # the errors of expressions, by the number of the step
    errors: dict[int, str] = field(default_factory=dict)
    # lines of the page, with their faults
    faults: list[tuple[int, str]] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)  # a digest of each file that a cell opened
    # `explorers` and `parts` of the `StepResult` of a step, by its number as text: a key of JSON
    live_numbers: dict[str, tuple[str, list[TextPart]]] = field(default_factory=dict)

    def expression_outputs(self) -> dict[tuple[int, str], list[dict[str, Any]]]:
        """Return the outputs of each expression, by the index of the cell before it."""
        pairs = zip(self.steps, self.outputs, strict=False)
        return {(s.index, s.source): given for s, given in pairs if s.kind == "expression"}

    def result_of(self, number: int) -> StepResult:
        """Return the result of a step; steps after a failed cell have no output."""
        outputs = self.outputs[number] if number < len(self.outputs) else []
        return StepResult(outputs, *self.live_numbers.get(str(number), ("", [])))


def inputs_digest(root: Path = ROOT) -> str:
    """Return a digest of the inputs that all pages share."""
    return digest_of(INPUTS, root=root, salt=sys.version)


def _file(page: Path) -> Path:
    """Return the file of a page's kept results."""
    return KEPT / page.relative_to(ROOT / "book").with_suffix(".json")


def _digests(files: Iterable[str]) -> dict[str, str]:
    """Return the digest of each file of the project; a missing file has a digest too."""
    return {name: digest_of([name], root=ROOT) for name in files}


def load_valid(page: Path, steps: Sequence[Step], digest: str) -> Results | None:
    """Return the kept results of a page, or None if an input has changed.

    `digest` is that of the inputs now, from `inputs_digest`.
    """
    found = load_last(page)
    if found is None or found.made_from != digest or found.files != _digests(found.files):
        return None
    if [step.without_line for step in found.steps] != [step.without_line for step in steps]:
        return None
    found.steps = list(steps)  # the lines may have changed
    return found


def load_last(page: Path) -> Results | None:
    """Return the results of the last complete run of a page, even if inputs have changed."""
    file = _file(page)
    if not file.is_file():
        return None
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        return Results(**data | {"steps": [Step(**step) for step in data["steps"]], "errors": {}})
    except (KeyError, TypeError, ValueError):  # damaged, or kept by another version of the package
        return None


def compute(
    page: Path, steps: Sequence[Step], digest: str, limits: page_runner.Limits | None = None
) -> Results:
    """Run the steps of a page within limits, return their results, and save them if none failed."""
    limits = limits or page_runner.Limits()
    if not __debug__:  # the book's claims would not be checked
        raise ExtensionError("Python runs without assertions; nothing is built")
    results = Results(digest, list(steps))
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(IMPORTED)
    ours, theirs = context.Pipe(duplex=False)
    tasks = [(step.kind, step.source) for step in steps]
    given = (tasks, str(page.parent), str(ROOT), theirs, limits.processor)
    process = context.Process(target=page_runner.run, args=given, daemon=True)
    process.start()
    theirs.close()
    try:
        _receive(ours, process, results, limits)
    finally:
        process.kill()
        process.join()
    logger.info("%s: its cells have run", page)
    if not results.faults and not results.errors:
        _save(page, results)
    return results


def _receive(
    connection: Connection, process: BaseProcess, results: Results, limits: page_runner.Limits
) -> None:
    """Receive the results of steps until all have run or one has failed."""
    for number, step in enumerate(results.steps):
        try:
            if number == 0:
                connection.recv()  # "ready": imports do not count as time of the cell
            if not connection.poll(limits.clock):
                fault = f"it did not end within {limits.clock:,} seconds; perhaps it waits for ever"
                results.faults.append((step.line, fault))
                return
            outputs, error = connection.recv()
        except EOFError:
            process.join()
            fault = "its process ended, perhaps because the memory was full"
            if process.exitcode == -signal.SIGXCPU:
                fault = f"it did not end within {limits.processor} seconds of processor time"
            results.faults.append((step.line, fault))
            return
        results.outputs.append(outputs)
        if step.kind == "expression":
            if error is not None:
                results.errors[number] = error[1]
            continue
        if error is not None:
            line, message = error
            statement = step.source.splitlines()[line - 1].strip()
            results.faults.append((step.line + line - 1, f"{statement} raised {message}"))
            return
    files, results.live_numbers = connection.recv()
    opened = [Path(path).relative_to(ROOT) for path in files]
    results.files = _digests(
        path.as_posix() for path in opened if path.parts[0] not in IGNORED_FOLDERS
    )


def _save(page: Path, results: Results) -> None:
    file = _file(page)
    file.parent.mkdir(parents=True, exist_ok=True)
    waiting = file.with_suffix(".new")
    waiting.write_text(json.dumps(asdict(results)), encoding="utf-8")
    waiting.replace(file)
