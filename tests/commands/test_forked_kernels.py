"""Kernels that are forks of one Python: each as if it had started by itself."""

import contextlib
import logging
import os
import subprocess
import sys
import time

import pytest
from book_site import ROOT
from jupyter_client.provisioning.factory import KernelProvisionerFactory
from myst_nb.core.config import NbParserConfig
from myst_nb.core.execute import inline
from nbformat.v4 import new_code_cell, new_notebook

from byhand import forked_kernels

pytestmark = pytest.mark.slow

CONFIG = NbParserConfig(execution_mode="inline")
NAMES = "sorted(set(globals()))"
PLACE = "import os, sys\n(os.getcwd(), sys.path, sys.argv[:1], sys.stdin.closed)"
PROCESS = """\
import os, sys
has_imports = "mha.chapters" in sys.modules
(os.getpid(), os.getppid(), os.getpgrp(), os.environ.get("COLOUR"), has_imports)"""

ASKS = """\
import os
from myst_nb.core.execute.inline import ModifiedNotebookClient
from nbformat.v4 import new_notebook
from byhand import forked_kernels

forked_kernels.begin()
client = ModifiedNotebookClient(new_notebook(), resources={"metadata": {"path": os.getcwd()}})
client.create_kernel_manager()
client.start_new_kernel()
client.start_new_kernel_client()
print(client.km.provisioner.process.pid, forked_kernels._origin.pid, flush=True)
os._exit(0)
"""


@contextlib.contextmanager
def forked():
    """Have kernels forked, and at the end the Python ended that they are forks of."""
    factory = KernelProvisionerFactory.instance()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(factory, "default_provisioner_name", factory.default_provisioner_name)
        patch.setattr(forked_kernels, "_origin", None)
        forked_kernels.begin()
        try:
            yield
        finally:
            if origin := forked_kernels._origin:
                origin.communicate()  # it ends with its input


@pytest.fixture
def forks():
    with forked():
        yield


def run(page, *cells):
    """Return what each cell of a page gives."""
    notebook = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    with inline.NotebookClientInline(notebook, page, CONFIG, logging.getLogger("page")) as client:
        outputs = [client.code_cell_outputs(place)[1] for place in range(len(cells))]
    return [eval(output["data"]["text/plain"]) for (output,) in outputs]


def is_running(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_page_finds_what_it_would_in_a_kernel_of_its_own(tmp_path):
    page = tmp_path / "page.md"
    own = run(page, NAMES, PLACE)
    with forked():
        assert run(page, NAMES, PLACE) == own


def test_each_page_has_a_process_of_its_own(forks, tmp_path, monkeypatch):
    monkeypatch.setenv("COLOUR", "red")
    ((first, origin, group, colour, has_imports),) = run(tmp_path / "page.md", PROCESS)
    assert (origin, group) == (forked_kernels._origin.pid, first)
    assert (colour, has_imports) == ("red", True)
    monkeypatch.setenv("COLOUR", "green")
    left = "COLOUR = 1\nimport mha\nmha.softmax = None\n1"
    assert run(tmp_path / "page.md", left) == [1]
    said, ((second, same_origin, _, colour, _),) = (
        run(tmp_path / "page.md", "import mha\n'COLOUR' in globals(), mha.softmax is None"),
        run(tmp_path / "page.md", PROCESS),
    )
    assert said == [(False, False)]
    assert (same_origin, colour) == (origin, "green")
    assert first != second
    assert not is_running(first)
    assert not is_running(second)


def test_a_cell_can_wait_for_a_process(forks, tmp_path):
    # Where a process that ended is gone at once, as for the origin, nobody can be told how it did.
    cell = "import subprocess, sys\nsubprocess.call([sys.executable, '-c', 'raise SystemExit(3)'])"
    assert run(tmp_path / "page.md", cell) == [3]


def test_kernels_end_with_the_process_that_asked_for_them(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", ASKS],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "book" / "_ext")},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    started = [int(number) for number in done.stdout.split()]
    assert len(started) == 2
    until = time.monotonic() + 30
    while any(map(is_running, started)):
        assert time.monotonic() < until, "a kernel outlives the build"
        time.sleep(0.1)


def test_where_processes_cannot_be_forked_each_kernel_starts_by_itself(monkeypatch):
    factory = KernelProvisionerFactory.instance()
    monkeypatch.setattr(factory, "default_provisioner_name", "local-provisioner")
    monkeypatch.setattr(sys, "platform", "darwin")
    forked_kernels.begin()
    assert factory.default_provisioner_name == "local-provisioner"
