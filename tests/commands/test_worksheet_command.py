"""The worksheet command: sheets and a key on paper and as Markdown, the same for the same seed."""

import re
import subprocess

import printed_book
import pytest
from book_site import ROOT

from mha.practice.worksheets import worksheet

pytestmark = pytest.mark.pdf

NAMES = ["key-23.md", "key-23.pdf", "worksheets-23.md", "worksheets-23.pdf"]


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
    done = make(folder, "--seed", "23", "--students", "3", "--difficulty", "hard")
    assert done.returncode == 0, done.stderr
    return folder


def test_four_files_are_made(made):
    assert sorted(path.name for path in made.iterdir()) == NAMES


def test_every_student_has_a_sheet_that_begins_a_page(made):
    starts = [page for page in text_of(made / NAMES[3]) if "Name:" in page]
    assert [re.search(r"Worksheet (\d)", page).group(1) for page in starts] == ["1", "2", "3"]
    for student, page in enumerate(starts, 1):
        run = worksheet(23, student, difficulty="hard").run
        for token, row in zip(run.tokens, run.embeddings, strict=True):
            numbers = " ".join(f"{x:.1f}".replace("-", "−") for x in row)
            assert f"{token} {numbers}" in page


def test_the_key_on_paper_has_every_step(made):
    text = " ".join(text_of(made / NAMES[1]))
    for student in (1, 2, 3):
        sheet = worksheet(23, student, difficulty="hard")
        steps = [line[2:] for line in sheet.key().splitlines() if line.startswith("- ")]
        assert len(steps) >= 12 + 9 + 9
        for step in steps:
            name, _, line = step.partition(": ")
            result = re.split(" [=≈] ", line)[-1]
            assert re.search(re.escape(result).replace(r"\ ", r"\s*"), text), step
            assert name.partition(",")[0] in text
    assert "raw" not in text
    assert "needspace" not in text


def test_fonts_are_embedded_and_have_unicode(made):
    for name in (NAMES[1], NAMES[3]):
        done = subprocess.run(["pdffonts", made / name], capture_output=True, text=True, check=True)
        rows = done.stdout.splitlines()[2:]
        assert rows
        for row in rows:
            embedded, _, to_unicode = row.split()[-5:-2]
            assert (embedded, to_unicode) == ("yes", "yes"), row
            assert "Type 3" not in row


def test_the_same_seed_gives_the_same_bytes(made, tmp_path):
    done = make(tmp_path, "--seed", "23", "--students", "3", "--difficulty", "hard")
    assert done.returncode == 0, done.stderr
    for name in NAMES:
        assert (tmp_path / name).read_bytes() == (made / name).read_bytes(), name


def test_letter_paper_and_chosen_stages(tmp_path):
    arguments = ["--seed", "23", "--students", "1", "--stages", "key,weights", "--paper", "letter"]
    assert make(tmp_path, *arguments, "--heads", "2").returncode == 0
    done = subprocess.run(
        ["pdfinfo", tmp_path / NAMES[3]], capture_output=True, text=True, check=True
    )
    assert "612 x 792 pts (letter)" in done.stdout
    text = " ".join(text_of(tmp_path / NAMES[3]))
    assert re.findall(r"\d\. (\w+)[ \w]*:", text) == ["Keys", "Attention"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--students", "0"], "students is 0; a whole number of at least 1 is wanted"),
        (
            ["--students", "2", "--stages", "odd"],
            "stage is 'odd'; one of query, key, value, scores, scaled_scores, exponentials,"
            " weights, head_outputs is wanted",
        ),
        (["--students", "2", "--heads", "0"], None),
    ],
)
def test_bad_input_gets_one_sentence_and_nothing_is_lost(made, arguments, sentence):
    before = {path.name: path.read_bytes() for path in made.iterdir()}
    done = make(made, "--seed", "23", *arguments)
    assert done.returncode == 1
    error = done.stderr.strip()
    assert error.startswith("error: ")
    assert "\n" not in error
    if sentence:
        assert error == f"error: {sentence}"
    assert {path.name: path.read_bytes() for path in made.iterdir()} == before


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    done = make(tmp_path / "file", "--seed", "23", "--students", "1")
    assert done.returncode == 1
    assert done.stderr == f"error: {tmp_path / 'file'} cannot be written: File exists\n"
