"""The kernel that the preview has started before a page needs it."""

import logging

import pytest
from myst_nb.core.config import NbParserConfig
from myst_nb.core.execute import inline
from nbformat.v4 import new_code_cell, new_notebook
from preview_kernel import Spare, hand_out

pytestmark = pytest.mark.slow

CELL = """\
import os, sys
(os.getpid(), os.getcwd(), "mha.chapters" in sys.modules, sorted(set(globals()) - {"os", "sys"}))"""
CONFIG = NbParserConfig(execution_mode="inline")


@pytest.fixture
def spare(monkeypatch):
    monkeypatch.setattr(inline, "ModifiedNotebookClient", inline.ModifiedNotebookClient)
    spare = Spare()
    hand_out(spare)
    yield spare
    spare.settle()
    left, _ = spare.take()
    if left:
        left._cleanup_kernel()


def run(page):
    """Return what the cell gives on a page, and its number."""
    notebook = new_notebook(cells=[new_code_cell(CELL)])
    with inline.NotebookClientInline(notebook, page, CONFIG, logging.getLogger("page")) as client:
        count, (output,) = client.code_cell_outputs(0)
    return count, *eval(output["data"]["text/plain"])


@pytest.mark.parametrize("is_settled", [False, True])
def test_the_next_page_takes_it_as_if_it_had_started_its_own(spare, tmp_path, is_settled):
    spare.begin()
    waiting = spare.waiting.km.provisioner.process.pid
    spare.begin()
    assert not spare.is_settled
    if is_settled:
        spare.settle()
        assert spare.is_settled
    count, process, folder, has_imports, names = run(tmp_path / "page.md")
    assert (count, process, folder, has_imports) == (1, waiting, str(tmp_path), True)
    assert spare.take() == (None, False)
    count, process, folder, has_imports, own_names = run(tmp_path / "page.md")
    assert (count, process != waiting, folder) == (1, True, str(tmp_path))
    assert not has_imports
    assert names == own_names


def test_one_that_a_page_has_done_with_is_ended_when_nobody_waits(spare, tmp_path):
    spare.begin()
    used = spare.waiting.km.provisioner.process
    run(tmp_path / "page.md")
    assert used.poll() is None
    assert not spare.is_settled
    spare.settle()
    assert spare.is_settled
    assert used.poll() is not None


def test_one_that_ends_while_it_waits_is_not_handed_out(spare, tmp_path):
    spare.begin()
    spare.waiting.km.provisioner.process.kill()
    spare.settle()
    assert spare.is_settled
    assert spare.take() == (None, False)


def test_where_none_can_be_started_the_page_starts_its_own(spare, tmp_path, monkeypatch):
    async def refused(self, **options):
        raise OSError("no more processes")

    with monkeypatch.context() as patch:
        patch.setattr(spare.kind, "async_start_new_kernel", refused)
        spare.begin()
        assert spare.waiting is None
    count, _, _, has_imports, _ = run(tmp_path / "page.md")
    assert (count, has_imports) == (1, False)
