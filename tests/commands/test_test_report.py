"""The report of a run of the tests counts what ran, and says what did not."""

import re

import pytest
from book_site import ROOT

RESULTS = """\
<testsuites><testsuite>
<testcase name="test_one[a]">
<properties><property name="counted" value="1200"/></properties>
</testcase>
<testcase name="test_one[b]"><failure/></testcase>
<testcase name="test_one[c]"><skipped/></testcase>
<testcase name="test_one_more"/>
<testcase name="test_two"><error/></testcase>
</testsuite></testsuites>
"""


@pytest.fixture
def report(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import report

    return report


def test_it_counts_what_held_and_what_was_counted(report, tmp_path):
    (tmp_path / "tests.xml").write_text(RESULTS, encoding="utf-8")
    rows = (
        report.Row("ones", ("test_one",), "links"),
        report.Row("twos", ("test_two",)),
        report.Row("threes", ("test_three",)),
    )
    page = report.written(tmp_path / "tests.xml", rows)
    assert "2 of 5 tests held, 1 were left out." in page
    assert "| 1 | 2 | ones (1,200 links) |" in page
    assert "| 0 | 1 | twos |" in page
    assert "| – | – | not run: threes |" in page
    assert "- any browser but Chromium" in page


def test_every_test_of_a_row_exists(report):
    files = (ROOT / "tests").rglob("test_*.py")
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    there = set(re.findall(r"^def (test_\w+)", text, re.MULTILINE))
    assert {name for row in report.ROWS for name in row.tests} <= there
