"""Run a page's cells only when what they give may have changed.

What a page computes depends on its cells and expressions, in their order, on the package with its
data, on the locked packages, and on the files that the cells open. While all of these are what they
were, the results of the last run stand in for a kernel, so that prose can be edited without
computing anything. At the first cell or expression that is not what it was, a kernel starts, runs
everything that came before, and goes on from there.

Pages that need a kernel are run ahead of Sphinx's reading, on all processors; Sphinx then reads
every page one after another, so that the book does not depend on how many processors there were.
"""

import ast
import json
import logging
import multiprocessing
import os
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Literal

from myst_nb import sphinx_ as myst_nb_sphinx
from myst_nb.core.execute import create_client
from myst_nb.core.execute.inline import NotebookClientInline
from myst_nb.core.read import is_myst_markdown_notebook
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode, from_dict
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError

from byhand import cell_outputs, forked_kernels, in_kernel
from byhand.digests import KEPT, ROOT, digest_of

MADE_FROM = (
    "mha",
    "requirements.lock",
    "_config.yml",
    "book/_ext/byhand/in_kernel.py",
    "book/_ext/byhand/forked_kernels.py",
    "book/_ext/byhand/cell_outputs.py",
)

# Run in a page's kernel before its first cell: which files of the project do its cells open?
WATCH = """
def _watch():
    import os, sys
    opened, root = set(), {root!r}
    def remember(event, arguments):
        if event == "open" and isinstance(arguments[0], (str, bytes)):
            path = os.path.realpath(os.fsdecode(arguments[0]))
            if path.startswith(root) and os.path.isfile(path):
                opened.add(path)
    sys.addaudithook(remember)
    return opened
_opened_files = _watch()
"""
TELL = "print(sorted(_opened_files))"  # after a cell that ends in ; no value would be shown

Event = dict[str, Any]  # one cell or expression: its kind, source, outputs


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    myst_nb_sphinx.create_client = _client
    app.connect("env-before-read-docs", run_ahead)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _client(
    notebook: NotebookNode, source: str, nb_config: Any, logger: Any, read_fmt: Any = None
) -> Any:
    """Return what executes a page: ours where cells run while the page is read."""
    if nb_config.execution_mode != "inline":
        return create_client(notebook, source, nb_config, logger, read_fmt)
    return KeptResultsClient(notebook, Path(source), nb_config, logger)


def run_ahead(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Run the pages whose results are not kept, the longest first, on all processors.

    Each process reads a page until its last cell has run, keeps the results, and reads no further.
    A page that fails keeps nothing, and says so when Sphinx reads it.
    """
    now = made_from()
    paths = {name: Path(env.doc2path(name)) for name in docnames}
    waiting = [name for name, path in paths.items() if computes(path) and not is_kept(path, now)]
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    if min(processors, len(waiting)) < 2:
        return
    waiting.sort(key=lambda name: -paths[name].stat().st_size)
    global _reading
    _reading = app
    fork = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(processors, fork, initializer=_begin) as pool:
        list(pool.map(_read, waiting))


_reading: Sphinx | None = None


def _begin() -> None:
    logging.disable(logging.CRITICAL)
    forked_kernels.begin()
    KeptResultsClient.reads_on = False


def _read(name: str) -> None:
    assert _reading is not None
    try:
        _reading.builder.read_doc(name, _cache=False)
    except Exception:  # HasRun, or what Sphinx meets again when it reads the page
        return


def made_from(root: Path = ROOT) -> str:
    """Return a digest of what every page's results depend on."""
    return digest_of(MADE_FROM, root=root, salt=sys.version)


def _file(page: Path) -> Path:
    """Return where a page's results are kept."""
    return KEPT / page.relative_to(ROOT / "book").with_suffix(".json")


def computes(source: Path) -> bool:
    """Tell whether a page has cells."""
    text = source.read_text(encoding="utf-8")
    return is_myst_markdown_notebook(text) and "{code-cell}" in text


def is_kept(page: Path, made_from: str) -> bool:
    """Tell whether a page has results, and nothing that they depend on has changed.

    Parameters
    ----------
    page : Path
        Its source. Whether its cells have changed is not looked at.
    made_from : str
        What `made_from` gives now.
    """
    return _kept(page, made_from) is not None


def _kept(page: Path, made_from: str) -> dict[str, Any] | None:
    """Return a page's results, or None where something that they depend on has changed."""
    file = _file(page)
    if not file.is_file():
        return None
    kept: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    if kept["made_from"] != made_from or kept["files"] != _digests(kept["files"]):
        return None
    return kept


def kept_events(page: Path) -> list[Event]:
    """Return what the cells and expressions of a page gave when they last ran, in their order."""
    kept = _kept(page, made_from())
    return kept["events"] if kept else []


def _digests(files: Iterable[str]) -> dict[str, str]:
    """Return a digest of each file of the project, that of nothing for one that is gone."""
    return {name: digest_of([name]) for name in files}


class HasRun(Exception):  # noqa: N818 - nothing is wrong
    """A page's cells have run, and nothing else was wanted of it."""


class KeptResultsClient(NotebookClientInline):
    """Answer for a page's kernel from kept results, as long as these answer what is asked."""

    reads_on = True  # where False, reading a page ends with its cells, by HasRun

    def start_client(self) -> None:
        """Begin with what is kept, or start a kernel; a page without cells may need neither."""
        self._made_from = made_from()
        self._kept = _kept(self.path, self._made_from)
        self._events: list[Event] = []
        self._is_live = False
        self._last_cell_executed = -1
        self._cell_error: Exception | None = None
        self._faults: list[tuple[str, str]] = []  # a cell, and what is wrong with what it gave
        if self._kept is not None:
            self.notebook.metadata["language_info"] = self._kept["language_info"]
        elif any(cell.cell_type == "code" for cell in self.notebook.cells):
            self._start_kernel()

    def _start_kernel(self) -> None:
        """Start a kernel and bring it to where the page is."""
        past, self._events = self._events, []
        super().start_client()
        self._client.shutdown_kernel = "immediate"  # nothing of a cell waits for the end
        self._is_live = True
        outputs = self._client.eval_expression(in_kernel.source())
        if [output.get("data", {}).get("text/plain") for output in outputs] != ["True"]:
            raise ExtensionError("a kernel did not start with its assertions on; nothing is built")
        self._client.eval_expression(WATCH.format(root=f"{ROOT}{os.sep}"))
        for event in past:
            if event["kind"] == "cell":
                self._run_cell(event["index"])
            else:
                self.eval_variable(event["source"])

    def _recall(self, kind: Literal["cell", "expression"], source: str) -> Event | None:
        """Return the kept result of what comes next; if there is none, go on with a kernel."""
        if self._is_live:
            return None
        position, events = len(self._events), self._kept["events"] if self._kept else []
        if position < len(events):
            event: Event = events[position]
            if (event["kind"], event["source"]) == (kind, source):
                self._events.append(event)
                return event
        self._start_kernel()
        return None

    def code_cell_outputs(self, cell_index: int) -> tuple[int | None, list[NotebookNode]]:
        """Return a cell's number and outputs; run what comes before it first."""
        while self._cell_error is None and cell_index > self._last_cell_executed:
            self._run_cell(self._last_cell_executed + 1)
        cell = self.notebook.cells[cell_index]
        return cell.get("execution_count"), cell.get("outputs", [])

    def _run_cell(self, index: int) -> None:
        cell = self.notebook.cells[index]
        computes = cell.cell_type == "code" and bool(cell.source.strip())
        event = self._recall("cell", cell.source) if computes else None
        if event is not None:
            cell["execution_count"] = event["count"]
            cell["outputs"] = _nodes(event["outputs"])
        elif self._is_live:
            self._execute(index)
        self._last_cell_executed = index
        if computes and event is None:
            count, outputs = cell.get("execution_count"), cell.outputs
            self._events.append(
                {"kind": "cell", "source": cell.source, "index": index}
                | {"count": count, "outputs": outputs}
            )

    def _execute(self, index: int) -> None:
        """Run a cell in the kernel, and note what is wrong with what it gave."""
        cell = self.notebook.cells[index]
        try:
            super().code_cell_outputs(index)
        except DeadKernelError as error:
            self._cell_error, self._exc_string = error, str(error)
            self._faults.append((cell.source, "its kernel died, perhaps for want of memory"))
        if isinstance(self._cell_error, CellTimeoutError):
            seconds = self.nb_config.execution_timeout
            self._faults.append((cell.source, f"it did not end within {seconds} seconds"))
        if cell.cell_type == "code":
            found = cell_outputs.faults(cell.outputs, cell.metadata)
            self._faults += [(cell.source, message) for message in found]

    def eval_variable(self, name: str) -> list[NotebookNode]:
        """Return what an expression gives where the page is now, nothing after a failure."""
        if self._cell_error is not None:
            return []
        event = self._recall("expression", name)
        if event is not None:
            return _nodes(event["outputs"])
        outputs: list[NotebookNode] = super().eval_variable(name)
        self._events.append({"kind": "expression", "source": name, "outputs": outputs})
        return outputs

    def finalise_client(self) -> None:
        """Finish the notebook, where a kernel has run."""
        if self._is_live:
            super().finalise_client()

    def close_client(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        """Keep the results of a page that ran to its end."""
        if self._is_live:
            self._end(is_whole=exc_type is None)
        else:
            self.exec_metadata = {
                "mtime": 0.0,
                "runtime": 0.0,
                "method": "kept",
                "succeeded": True,
                "error": None,
                "traceback": None,
                "faults": [],
            }
        if exc_type is None and not self.reads_on:
            raise HasRun

    def _end(self, *, is_whole: bool) -> None:
        """End the kernel."""
        if self._cell_error is None and is_whole and not self._faults:
            self._keep(self._opened_files())
        super().close_client(None, None, None)
        self.exec_metadata["faults"] = self._faults

    def _opened_files(self) -> list[str]:
        """Return the files of the project that the page's cells have opened."""
        (output,) = self._client.eval_expression(TELL)
        paths: list[str] = ast.literal_eval(output["text"])
        return [Path(path).relative_to(ROOT).as_posix() for path in paths]

    def _keep(self, files: list[str]) -> None:
        results = {
            "made_from": self._made_from,
            "files": _digests(files),
            "language_info": self.notebook.metadata.get("language_info"),
            "events": self._events,
        }
        file = _file(self.path)
        file.parent.mkdir(parents=True, exist_ok=True)
        waiting = file.with_suffix(f".{os.getpid()}.new")  # the preview runs pages in two processes
        waiting.write_text(json.dumps(results), encoding="utf-8")
        waiting.replace(file)


def _nodes(outputs: list[dict[str, Any]]) -> list[NotebookNode]:
    """Return outputs as a notebook has them; each call gives its own."""
    return [from_dict(output) for output in outputs]  # type: ignore[no-untyped-call]
