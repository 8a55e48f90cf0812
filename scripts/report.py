"""One page of what a run of all tests has counted, and of what was not checked.

`scripts/test.py --report` prints it, and leaves it in `_build/report.md`. A row is a promise of the
book, the tests that hold it to it, and how many cases of them ran and held; a test may count
something itself and say so with pytest's `record_property("counted", ...)`.
"""

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from environment import BUILD

RESULTS = BUILD / "tests.xml"  # what pytest writes of each test
REPORT = BUILD / "report.md"


@dataclass(frozen=True)
class Row:
    """A line of the report.

    Parameters
    ----------
    what : str
        What held.
    tests : tuple of str
        The functions that test it, without parameters.
    counted : str, default ""
        What these tests count themselves, if they do.
    """

    what: str
    tests: tuple[str, ...]
    counted: str = ""


ROWS = (
    Row(
        "views of pages: no request outside, no message, nothing that axe finds",
        ("test_page_loads_from_a_file_without_errors_fits_and_is_accessible",),
    ),
    Row(
        "pages with every control used, over http and from files: no violation of the policy",
        ("test_every_control_of_a_page_keeps_its_policy",),
    ),
    Row("pages whose links lead somewhere", ("test_internal_links_lead_somewhere",), "links"),
    Row(
        "readings of all lines of arithmetic: each holds as it is printed",
        (
            "test_every_line_of_the_built_pages_holds_as_it_is_printed",
            "test_every_line_of_the_printed_book_holds_as_far_as_it_can_be_read",
        ),
        "lines",
    ),
    Row(
        "faults put in: each told in one line with its place, the last good book kept",
        (
            "test_a_fault_is_told_with_file_and_line",
            "test_a_cell_s_fault_is_one_line_and_the_last_good_book_stays",
        ),
    ),
    Row(
        "comparisons of builds in two places, of two users, at two times: no byte differs",
        (
            "test_two_builds_from_nothing_are_byte_identical",
            "test_a_build_again_from_nothing_gives_the_same_bytes",
            "test_a_wheel_has_the_same_bytes",
            "test_worksheets_and_the_audit_have_the_same_bytes",
            "test_an_unchanged_book_is_not_typeset_again_and_the_same_inputs_give_the_same_bytes",
            "test_the_same_seed_gives_the_same_files",
            "test_the_same_seed_gives_the_same_bytes_and_each_student_a_file",
            "test_the_same_seed_gives_the_same_bank_and_another_another",
        ),
    ),
    Row(
        "functions under abuse: no argument changed, nothing warned, one sentence",
        ("test_no_argument_changes_and_what_is_refused_gets_a_sentence",),
        "examples",
    ),
    Row(
        "files of others, unmodified and licensed",
        ("test_a_vendored_file_is_unmodified_and_has_its_licence",),
    ),
)

NOT_CHECKED = (
    "any browser but Chromium; a screen reader",
    "the accessible edition with a validator such as veraPDF",
    "links to other sites: no test asks a network",
    "mutation testing of the package",
)


def written(results: Path, rows: tuple[Row, ...] = ROWS) -> str:
    """Return the page for a file of results in JUnit's form."""
    cases = list(ElementTree.parse(results).iter("testcase"))
    held = sum(outcome_of(case) == "held" for case in cases)
    skipped = sum(outcome_of(case) == "skipped" for case in cases)
    lines = [
        f"# What was counted on {datetime.datetime.now(datetime.UTC).date()}",
        "",
        f"{held:,} of {len(cases):,} tests held"
        + (f", {skipped:,} were left out." if skipped else "."),
        "",
        "| held | of | what |",
        "| ---: | ---: | --- |",
        *(line(row, cases) for row in rows),
        "",
        "Not checked here:",
        "",
        *(f"- {what}" for what in NOT_CHECKED),
        "",
    ]
    return "\n".join(lines)


def line(row: Row, cases: list[ElementTree.Element]) -> str:
    """Return a row as a line of the table; what did not run is said to have not."""
    own = [case for case in cases if case.get("name", "").partition("[")[0] in row.tests]
    ran = [case for case in own if outcome_of(case) != "skipped"]
    if not ran:
        return f"| – | – | not run: {row.what} |"
    held = sum(outcome_of(case) == "held" for case in ran)
    total = sum(counts(ran))
    more = f" ({total:,} {row.counted})" if row.counted and total else ""
    return f"| {held:,} | {len(ran):,} | {row.what}{more} |"


def outcome_of(case: ElementTree.Element) -> str:
    """Return whether a test held, failed or was skipped."""
    if case.find("skipped") is not None:
        return "skipped"
    failed = case.find("failure") is not None or case.find("error") is not None
    return "failed" if failed else "held"


def counts(cases: list[ElementTree.Element]) -> Iterator[int]:
    """Yield what tests have counted themselves."""
    for case in cases:
        for found in case.iter("property"):
            if found.get("name") == "counted":
                yield int(found.get("value", "0"))


def tell() -> None:
    """Print the page for the run that has just ended, and keep it."""
    if not RESULTS.is_file():
        return  # pytest has not begun
    REPORT.write_text(written(RESULTS), encoding="utf-8")
    print(f"\n{REPORT.read_text(encoding='utf-8')}")
