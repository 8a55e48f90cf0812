"""The report of a run of the tests counts what ran, and says what did not."""

import re

import pytest
from book_site import ROOT

RESULTS = """\
<testsuites><testsuite>
<testcase name="test_one[a]">
<properties>
<property name="counted" value="1200"/><property name="broken links" value="0"/>
</properties>
</testcase>
<testcase name="test_one[b]">
<properties><property name="broken links" value="17"/></properties><failure/>
</testcase>
<testcase name="test_one[c]"><skipped/></testcase>
<testcase name="test_one_more"/>
<testcase name="test_two"><error/></testcase>
</testsuite></testsuites>
"""


@pytest.fixture
def report():
    import report

    return report


def test_it_counts_what_held_and_what_was_counted(report, tmp_path):
    (tmp_path / "tests.xml").write_text(RESULTS, encoding="utf-8")
    rows = (
        report.Row("ones", ("test_one",), "links", ("broken links", "requests outside")),
        report.Row("twos", ("test_two",), wrong=("failures",)),
        report.Row("threes", ("test_three",)),
    )
    page = report.written(tmp_path / "tests.xml", rows)
    assert "2 of 5 tests held, 1 were left out." in page
    wrong = "17 broken links, 1 requests outside"  # who fails without a count has found one
    assert f"| 1 | 2 | ones (1,200 links): {wrong} |" in page
    assert "| 0 | 1 | twos: 1 failures |" in page
    assert "| – | – | not run: threes |" in page
    assert "- any browser but Chromium" in page


def test_what_there_should_be_none_of_is_counted_where_it_is_looked_for(report):
    """A name that no test counts is told from failures alone: those of bytes, faults, examples."""
    files = (ROOT / "tests").rglob("test_*.py")
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    wrong = {name for row in report.ROWS for name in row.wrong}
    said = {name for name in wrong if f'record_property("{name}"' in text}
    assert wrong - said == {
        *(
            "comparisons with a byte that differs",
            "failures",
            "faults not caught, or told without a place",
        )
    }


def test_every_test_of_a_row_exists(report):
    files = (ROOT / "tests").rglob("test_*.py")
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    there = set(re.findall(r"^def (test_\w+)", text, re.MULTILINE))
    assert {name for row in report.ROWS for name in row.tests} <= there


MUTANTS = """\
What mutmut changed on 2026-01-02.

| part | changes | tried | noticed | share |
| --- | ---: | ---: | ---: | ---: |
| mathematics | 3,000 | 1,100 | 1,000 | 90.9% |
| verdicts | 10 | 10 | 9 | 90.0% |
"""


def test_it_adds_up_the_changes_that_tests_notice(report, tmp_path):
    page = tmp_path / "mutants.md"
    page.write_text(MUTANTS, encoding="utf-8")
    found = report.mutants(page)
    what = "changes of the package that a test notices, of 3,010 that mutmut can make (2026-01-02)"
    assert found.line() == f"| 1,009 | 1,110 | {what} |"
    assert found.phrase() == f"1,009 of 1,110 {what}"
    assert report.mutants(tmp_path / "none").line().startswith("| – | – | not run: ")


def test_readme_is_told_what_the_last_run_counted(report, tmp_path, monkeypatch):
    results, readme = tmp_path / "tests.xml", tmp_path / "README.md"
    results.write_text(RESULTS, encoding="utf-8")
    readme.write_text("Before\n\n<!-- counted -->\nold\n<!-- end -->\nAfter\n", encoding="utf-8")
    for name, path in (("RESULTS", results), ("README", readme), ("MUTANTS", tmp_path / "none")):
        monkeypatch.setattr(report, name, path)
    rows = (report.Row("ones", ("test_one",), "links"), report.Row("twos", ("test_two",)))
    said = report.paragraph(results, rows)
    assert "2 of 5 tests held. 1 of 2 ones (1,200 links); 0 of 1 twos; not run: changes" in said
    report.main()
    text = readme.read_text(encoding="utf-8")
    assert text.startswith("Before\n\n<!-- counted -->\nOne whole run, on 2")
    assert text.endswith(".\n<!-- end -->\nAfter\n")
    assert "\nold\n" not in text
    monkeypatch.setattr(report, "RESULTS", tmp_path / "none.xml")
    with pytest.raises(SystemExit, match=r"there is no none\.xml; run scripts/test\.py --report"):
        report.main()


def test_readme_has_a_place_for_it(report):
    assert report.MARKED.search((ROOT / "README.md").read_text(encoding="utf-8"))


def test_what_no_test_notices_has_a_reason_and_is_little():
    text = (ROOT / "docs" / "mutants.md").read_text(encoding="utf-8")
    shares = [float(share) for share in re.findall(r" ([\d.]+)% \|$", text, re.MULTILINE)]
    assert len(shares) == 3
    assert min(shares) >= 95
    assert "none yet" not in text


def test_the_files_that_begin_are_there(request):
    plugins = request.config.pluginmanager.get_plugins()
    (shared,) = (plugin for plugin in plugins if hasattr(plugin, "LONGEST_FIRST"))
    assert [name for name in shared.LONGEST_FIRST if not (shared.TESTS / name).is_file()] == []
