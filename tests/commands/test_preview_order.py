"""What the preview does first: what somebody waits for; other pages come behind."""

import math
import time
from types import SimpleNamespace

import pytest
from preview_pages import Task
from preview_work import PAUSE, Work

PAGES = frozenset({"looked-at", "other", "third"})


@pytest.fixture
def work(monkeypatch):
    work = Work.__new__(Work)
    work.env = SimpleNamespace(all_docs=dict.fromkeys(PAGES), found_docs=PAGES)
    work.view, work.saved, work.is_known = frozenset({"looked-at"}), set(), set(PAGES)
    work.to_read, work.to_run, work.to_write = set(), set(), set()
    work.to_check, work.to_search = set(), set()
    work.spare = SimpleNamespace(is_begun=True, is_settled=True)
    work.is_kept, work.read_since = True, 0
    work.asked_at, work.since = -math.inf, {}
    work.runner = SimpleNamespace(is_free=True, begin=lambda name: ("begin", name))
    monkeypatch.setattr(work, "_runs_next", lambda: False)
    for name in ("_read", "_write", "_check", "_search", "_keep"):
        monkeypatch.setattr(work, name, lambda *pages, name=name: (name, *pages))
    return work


def done(step):
    return step and step()


def test_a_page_that_is_looked_at_or_was_saved_is_urgent(work):
    work.to_read, work.to_write = {"other", "third"}, {"looked-at"}
    assert done(work._urgent()) == ("_write", "looked-at")
    work.saved = {"third"}
    assert done(work._urgent()) == ("_read", "third")
    work.view, work.saved = frozenset(), set()
    assert work._urgent() is None


def test_other_pages_wait_until_nobody_has_saved_or_opened_a_page_for_a_while(work):
    work.to_read = {"other"}
    assert done(work._behind()) == ("_read", "other")
    work._take(Task(view=work.view))
    assert work._behind() is None
    assert PAUSE - 1 < work._patience() <= PAUSE
    work.to_check = {"looked-at"}
    assert done(work._behind()) == ("_check",)


def test_they_do_not_wait_where_nothing_can_be_written_before(work):
    work.asked_at = time.monotonic()
    work.env.all_docs.pop("other")
    work.to_read, work.to_write = {"other"}, {"looked-at", "third"}
    assert work._urgent() is None
    assert done(work._behind()) == ("_read", "other")


def test_a_page_whose_cells_have_not_run_waits_for_them(work):
    work.to_read, work.to_run = {"other"}, {"other"}
    assert done(work._behind()) == ("begin", "other")
    work.runner.is_free = False
    assert work._behind() is None
    assert work._patience() is None


def test_cells_of_other_pages_wait_as_long(work):
    work.to_read, work.to_run, work.asked_at = {"other"}, {"other"}, time.monotonic()
    assert work._behind() is None
    assert PAUSE - 1 < work._patience() <= PAUSE


def test_what_is_known_is_written_down_when_no_page_waits_and_no_task_has_come(work):
    work.is_kept = False
    assert done(work._behind()) == ("_keep",)
    work.to_read, work.to_run, work.runner.is_free = {"other"}, {"other"}, False
    assert work._behind() is None
    work.to_read, work.asked_at = set(), time.monotonic()
    assert work._behind() is None
    patience = work._patience()
    work.read_since = len(PAGES) * 10
    assert 0 < work._patience() < patience
