"""One page of what a run of all tests has counted, and of what was not checked.

`scripts/test.py --report` prints it, and leaves it in `_build/report.md`. A row is a promise of the
book, the tests that hold it to it, and how many cases of them ran and held; a test may count
something itself and say so with pytest's `record_property("counted", ...)`, and what it found wrong
with a property of that name, such as "requests outside".

    .venv/bin/python scripts/report.py

puts what the last such run has counted into README.md, between the two marks there.
"""

import datetime
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from environment import BUILD, ROOT, fail

RESULTS = BUILD / "tests.xml"  # what pytest writes of each test
REPORT = BUILD / "report.md"
README = ROOT / "README.md"
MARKED = re.compile(r"(?<=<!-- counted -->\n).*?(?=<!-- end -->)", re.DOTALL)
MUTANTS = ROOT / "docs" / "mutants.md"  # written by scripts/mutants.py


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
    wrong : tuple of str, default ()
        What there should be none of. A failed test that has not counted it has found one.
    """

    what: str
    tests: tuple[str, ...]
    counted: str = ""
    wrong: tuple[str, ...] = ()


ROWS = (
    Row(
        "views of pages, in two widths and themes",
        ("test_page_loads_from_a_file_without_errors_fits_and_is_accessible",),
        wrong=("requests outside", "messages of the browser", "violations of accessibility"),
    ),
    Row(
        "pages with every control used, below a path over http and from files",
        ("test_every_control_of_a_page_keeps_its_policy",),
        wrong=("violations of the policy", "requests outside"),
    ),
    Row(
        "pages whose links lead somewhere",
        ("test_internal_links_lead_somewhere",),
        "links",
        ("broken links",),
    ),
    Row(
        "readings of all lines of arithmetic: each holds as it is printed",
        (
            "test_every_line_of_the_built_pages_holds_as_it_is_printed",
            "test_every_line_of_the_printed_book_holds_as_far_as_it_can_be_read",
        ),
        "lines",
        ("false lines",),
    ),
    Row(
        "faults put in: each told in one line with its place, the last good book kept",
        (
            "test_a_fault_is_told_with_file_and_line",
            "test_a_cell_s_fault_is_one_line_and_the_last_good_book_stays",
        ),
        wrong=("faults not caught, or told without a place",),
    ),
    Row(
        "comparisons of builds in two places, of two users, at two times",
        (
            "test_two_builds_from_nothing_are_byte_identical",
            "test_a_build_again_from_nothing_gives_the_same_bytes",
            "test_a_wheel_has_the_same_bytes",
            "test_worksheets_and_the_audit_have_the_same_bytes",
            "test_readers_editions_worksheets_and_packs_have_the_same_bytes",
            "test_an_unchanged_book_is_not_typeset_again_and_the_same_inputs_give_the_same_bytes",
            "test_the_same_seed_gives_the_same_files",
            "test_the_same_seed_gives_the_same_bytes_and_each_student_a_file",
            "test_the_same_seed_gives_the_same_bank_and_another_another",
        ),
        wrong=("comparisons with a byte that differs",),
    ),
    Row(
        "public names under abuse: no argument changed, nothing warned, one sentence",
        ("test_no_argument_changes_and_what_is_refused_gets_a_sentence",),
        "examples",
        ("failures",),
    ),
    Row(
        "kinds of files and command lines fuzzed: done, or one sentence and no traceback",
        (
            "test_a_data_file_of_an_example_is_read_or_refused_with_its_name",
            "test_the_numbers_of_a_document_are_judged_or_refused",
            "test_claims_are_read_or_refused_with_the_file",
            "test_a_class_list_is_read_or_refused",
            "test_a_rule_fits_its_document_or_is_refused",
            "test_a_command_line_of_the_audit",
            "test_a_command_line_of_the_transcription",
            "test_a_command_line_of_the_worksheets",
            "test_a_command_line_of_build",
            "test_a_command_line_of_check",
            "test_a_command_line_of_test",
        ),
        "examples",
        ("failures",),
    ),
    Row(
        "places where strange words come out: as text, and nothing of them runs",
        (
            "test_a_page_shows_every_token_as_it_is_written",
            "test_the_explorer_s_data_are_whole",
            "test_no_word_runs_and_the_explorer_shows_them",
            "test_the_printed_book_has_them_letter_by_letter",
            "test_the_questions_are_read_as_they_are_written",
            "test_slides_show_them",
            "test_figures_and_tables_hold_them",
            "test_words_of_others_are_text_in_the_sheets_and_the_key",
            "test_words_of_others_are_text_on_paper",
        ),
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
    "the mathematics against PyTorch's: `scripts/test.py --torch` does that",
    "changes of the package that mutmut does not make: properties, and what runs on import",
)


@dataclass(frozen=True)
class Count:
    """What a row counts: how many held, of how many that ran; of what did not run, none."""

    held: int
    ran: int
    what: str

    def line(self) -> str:
        """Return the line of the table."""
        if not self.ran:
            return f"| – | – | not run: {self.what} |"
        return f"| {self.held:,} | {self.ran:,} | {self.what} |"

    def phrase(self) -> str:
        """Return the part of a sentence."""
        if not self.ran:
            return f"not run: {self.what}"
        of = "" if self.held == self.ran else f"{self.held:,} of "
        return f"{of}{self.ran:,} {self.what}"


def written(results: Path, rows: tuple[Row, ...] = ROWS) -> str:
    """Return the page for a file of results in JUnit's form."""
    cases = cases_of(results)
    skipped = sum(outcome_of(case) == "skipped" for case in cases)
    lines = [
        f"# What was counted on {_date(results)}",
        "",
        tests_held(cases) + (f", {skipped:,} were left out." if skipped else "."),
        "",
        "| held | of | what |",
        "| ---: | ---: | --- |",
        *(count.line() for count in counted(cases, rows)),
        "",
        "Not checked here:",
        "",
        *(f"- {what}" for what in NOT_CHECKED),
        "",
    ]
    return "\n".join(lines)


def paragraph(results: Path, rows: tuple[Row, ...] = ROWS) -> str:
    """Return what README says of a run: the rows of the page as a sentence."""
    cases = cases_of(results)
    listed = "; ".join(count.phrase() for count in counted(cases, rows))
    return f"One whole run, on {_date(results)}: {tests_held(cases)}. {listed}."


def cases_of(results: Path) -> list[ElementTree.Element]:
    """Return the cases of a file of results."""
    return list(ElementTree.parse(results).iter("testcase"))


def tests_held(cases: list[ElementTree.Element]) -> str:
    """Return how many of all tests held."""
    held = sum(outcome_of(case) == "held" for case in cases)
    return f"{held:,} of {len(cases):,} tests held"


def counted(cases: list[ElementTree.Element], rows: tuple[Row, ...]) -> Iterator[Count]:
    """Yield what each row counts, and last the changes of the package."""
    for row in rows:
        own = [case for case in cases if case.get("name", "").partition("[")[0] in row.tests]
        ran = [case for case in own if outcome_of(case) != "skipped"]
        held = sum(outcome_of(case) == "held" for case in ran)
        total = sum(sum(counts(case, "counted")) for case in ran)
        more = f" ({total:,} {row.counted})" if row.counted and total else ""
        none = ", ".join(f"{sum(found_wrong(case, w) for case in ran):,} {w}" for w in row.wrong)
        yield Count(held, len(ran), f"{row.what}{more}{none and f': {none}'}")
    yield mutants(MUTANTS)


def mutants(page: Path) -> Count:
    """Count the changes of the package that a test notices, from the page that lists them."""
    what = "changes of the package that a test notices"
    if not page.is_file():
        return Count(0, 0, what)
    text = page.read_text(encoding="utf-8")
    rows = re.findall(r"^\| [a-z ]+ \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \| [\d.]+% \|$", text, re.M)
    numbers = [[int(cell.replace(",", "")) for cell in row] for row in rows]
    possible, tried, noticed = map(sum, zip(*numbers, strict=True))
    date = re.findall(r"on (\d{4}-\d\d-\d\d)", text)[0]
    return Count(noticed, tried, f"{what}, of {possible:,} that mutmut can make ({date})")


def _date(results: Path) -> datetime.date:
    return datetime.datetime.fromtimestamp(results.stat().st_mtime, datetime.UTC).date()


def outcome_of(case: ElementTree.Element) -> str:
    """Return whether a test held, failed or was skipped."""
    if case.find("skipped") is not None:
        return "skipped"
    failed = case.find("failure") is not None or case.find("error") is not None
    return "failed" if failed else "held"


def counts(case: ElementTree.Element, name: str) -> Iterator[int]:
    """Yield what a test has counted itself, by the name that it gives it."""
    for found in case.iter("property"):
        if found.get("name") == name:
            yield int(found.get("value", "0"))


def found_wrong(case: ElementTree.Element, name: str) -> int:
    """Count what a test found wrong: one, where it failed without having counted."""
    found = list(counts(case, name))
    return sum(found) if found else int(outcome_of(case) == "failed")


def tell() -> None:
    """Print the page for the run that has just ended, and keep it."""
    if not RESULTS.is_file():
        return  # pytest has not begun
    REPORT.write_text(written(RESULTS), encoding="utf-8")
    print(f"\n{REPORT.read_text(encoding='utf-8')}")


def main() -> None:
    """Put what the last run has counted into README.md."""
    if not RESULTS.is_file():
        fail(f"there is no {RESULTS.name}; run scripts/test.py --report before")
    text = README.read_text(encoding="utf-8")
    if not MARKED.search(text):
        fail("README.md has no marks <!-- counted --> and <!-- end -->; both are wanted")
    said = "\n".join(textwrap.wrap(paragraph(RESULTS), 100))
    README.write_text(MARKED.sub(lambda _: f"{said}\n", text), encoding="utf-8")
    print(said)


if __name__ == "__main__":
    main()
