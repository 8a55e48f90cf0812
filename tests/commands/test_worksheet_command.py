"""The worksheet command: sheets, key and answers on paper, the same for the same seed."""

import re
import subprocess

import printed_book
import pytest
from book_site import ROOT
from bs4 import BeautifulSoup
from packs import worksheet_pages as pages
from packs.paper import check
from sheet_reader import tables, wrong

from mha.practice.worksheets import PLACES, TASKS, key, sheet, worksheet
from mha.runs.rounding import shown

pytestmark = pytest.mark.pdf

NAMES = [f"answers-23.{kind}" for kind in ("csv", "json", "pdf")]
NAMES += [f"{name}-23.{kind}" for name in ("key", "worksheets") for kind in ("md", "pdf")]
ARGUMENTS = ["--seed", "23", "--difficulty", "hard", "--course", "Algebra", "--date", "Week 1"]


def make(folder, *arguments):
    """Run the command for a folder."""
    return printed_book.build(ROOT, "worksheet", "--to", str(folder), *arguments)


def text_of(pdf):
    """Return what stands in a PDF, a text a page, with single spaces."""
    done = subprocess.run(["pdftotext", "-layout", pdf, "-"], capture_output=True, check=True)
    pages = done.stdout.decode().split("\f")[:-1]
    return [re.sub(r"[ \n]+", " ", page) for page in pages]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sheets")
    (folder / "class.csv").write_text("name,id\nEmmy Noether,e17\nŁukasz Dvořák,x2\n")
    done = make(folder, *ARGUMENTS, "--class", str(folder / "class.csv"))
    assert done.returncode == 0, done.stderr
    (folder / "class.csv").unlink()
    return folder


def test_the_files_are_made(made):
    assert sorted(path.name for path in made.iterdir()) == NAMES


def test_a_student_has_two_pages_and_each_says_whose_it_is(made):
    found = text_of(made / "worksheets-23.pdf")
    assert len(found) == 4
    for i, page in enumerate(found):
        name = ("Emmy Noether, e17", "Łukasz Dvořák, x2")[i // 2]
        assert f"Worksheet {i // 2 + 1}: {name} (seed 23, hard)" in page
        assert f"page {i % 2 + 1} of 2" in page
        assert "Attention by hand · Algebra · Week 1" in page
    titles = "|".join(text.partition(":")[0].partition(" of ")[0] for text in TASKS.values())
    asked = re.findall(rf"(\d)\. (?:{titles})[: ]", found[0] + found[1])
    assert sorted(set(asked)) == list("12345678")
    assert "A calculator with the key eˣ is allowed in tasks 6, 7 and 8" in found[0]


def test_the_key_on_paper_has_every_step_and_how_to_mark(made):
    first, *rest = text_of(made / "key-23.pdf")
    assert "How to mark" in first
    assert all(f" {number} " in first for number in range(1, 9))
    text = re.sub(r"\s", "", "".join(rest))
    for line in (made / "key-23.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("- "):
            step = re.sub(
                r"\$e\^\{(.*?)\}\$|\s", "", line[2:].translate(str.maketrans("₁₂₃₄", "1234"))
            )
            assert re.split("[=≈]", step)[-1] in text, line


def test_fonts_are_embedded_and_have_unicode(made):
    for name in ("worksheets-23.pdf", "key-23.pdf"):
        done = subprocess.run(["pdffonts", made / name], capture_output=True, text=True, check=True)
        rows = done.stdout.splitlines()[2:]
        assert any("Source" in row for row in rows)
        for row in rows:
            embedded, _, to_unicode = row.split()[-5:-2]
            assert (embedded, to_unicode) == ("yes", "yes"), row
            assert "Type 3" not in row


def test_the_same_seed_gives_the_same_bytes_and_each_student_a_file(made, tmp_path):
    (tmp_path / "class.csv").write_text("Łukasz Dvořák,x2\nEmmy Noether,e17\n")
    done = make(tmp_path, *ARGUMENTS, "--class", str(tmp_path / "class.csv"), "--each")
    assert done.returncode == 0, done.stderr
    names = {path.name for path in tmp_path.glob("*.pdf")}
    assert "worksheet-23-001-łukasz-dvořák-x2.pdf" in names
    assert {"worksheet-23-002-emmy-noether-e17.pdf", "key-23.pdf", "answers-23.pdf"} < names
    done = make(made, *ARGUMENTS, "--students", "1", "--paper", "letter")
    before = (made / "worksheets-23.pdf").read_bytes()
    done = make(made, *ARGUMENTS, "--students", "1", "--paper", "letter")
    assert done.returncode == 0, done.stderr
    assert (made / "worksheets-23.pdf").read_bytes() == before
    assert len(text_of(made / "worksheets-23.pdf")) == 2


# Letters of HTML and TeX; in a sheet's words, title and names they are text.
STRANGE = ("</script>", "<b>a'</b>", "*a*", "$c$", "\\d_e^f", "&lt;", "#%~{")
SAID = '<u>"Ex&" \\em $1$</u>'


def test_words_of_others_are_text_on_paper(tmp_path):
    (tmp_path / "class.csv").write_text("<i>Ada</i> & *Bo*,</b>\n", encoding="utf-8")
    done = make(tmp_path, "--seed", "3", "--class", str(tmp_path / "class.csv"), "--title", SAID,
                "--course", SAID, "--date", "</style>", "--difficulty", "hard",
                "--sentence", " ".join(STRANGE))  # fmt: skip
    assert done.returncode == 0, done.stderr
    for name in ("worksheets-3.pdf", "key-3.pdf", "answers-3.pdf"):
        said = "".join(text_of(tmp_path / name))
        assert f"{SAID} · {SAID} · </style>" in said
        assert "<i>Ada</i> & *Bo*" in said
        assert min(said.count(token) for token in STRANGE) >= 4


@pytest.mark.parametrize("stages", [None, [stage for stage in TASKS if stage != "output"]])
def test_what_is_printed_is_what_the_text_says(stages):
    sheet_of = worksheet(29, 2, stages=stages)
    soup = BeautifulSoup(pages.sheet_page(sheet_of, pages.Heading()), "html.parser")
    printed = {}
    for table in soup.select(".given table"):
        rows = [
            [cell.get_text() for cell in row.find_all("td")] for row in table.select("tbody tr")
        ]
        printed.setdefault(table.caption.get_text(), rows)
    wanted = {
        name: rows for (name, _), rows in tables(sheet(sheet_of).partition("### Your")[0]).items()
    }
    assert printed == wanted
    assert {cell.get_text() for cell in soup.select(".answers td")} == {""}
    soup = BeautifulSoup(pages.answers_page(sheet_of, pages.Heading()), "html.parser")
    found = [cell.get_text() for cell in soup.select("td")]
    rows = [row for table in tables(key(sheet_of)).values() for row in table]
    assert found == [cell for row in rows for cell in row]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--students", "0"], "--students is 0; 1 to 300 is wanted"),
        (
            ["--students", "2", "--title", "a" * 121],
            "--title has 121 letters; one line of 120 is wanted",
        ),
        (
            ["--students", "2", "--course", "a\U000f0000"],
            "--course has 2 letters; one line of 120 is wanted",
        ),
        (
            ["--students", "2", "--title", "\U00013080"],
            "--title has \U00013080 (U+13080, egyptian hieroglyph d010), and no font here has that"
            " character; install one that has, such as Debian's fonts-noto-core or fonts-noto-cjk",
        ),
    ],
)
def test_bad_input_gets_one_sentence_and_nothing_is_lost(made, arguments, sentence):
    before = {path.name: path.read_bytes() for path in made.iterdir()}
    done = make(made, "--seed", "23", *arguments)
    assert done.returncode == 1
    assert done.stderr == f"error: {sentence}\n"
    assert {path.name: path.read_bytes() for path in made.iterdir()} == before


def test_letters_that_a_font_has_are_taken():
    check("--title", "Łukasz Dvořák, Ελένη, Žofie")


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    done = make(tmp_path / "file", "--seed", "23", "--students", "1")
    assert done.returncode == 1
    assert done.stderr == f"error: {tmp_path / 'file'} cannot be written: File exists\n"


def test_the_rubric_speaks_of_every_task():
    assert set(pages.MISTAKES) == set(TASKS)


def test_the_reader_of_the_printed_answers_can_fail():
    one = worksheet(29, 2)
    _, faults = wrong(
        sheet(one), key(one).replace(shown(one.run.weights[0, 0, 0], PLACES), "9.999")
    )
    assert faults
