"""Each fault of `tests/faults.py` is told with its file and line, and nothing else is said."""

import re
import shutil
import subprocess
import sys

import pytest
from book_site import FRONT, ROOT
from bs4 import BeautifulSoup
from faults import FAULTS, IN_CELLS, LEADS_NOWHERE, PAGE, cell
from small_project import build, copy_without_pages, published, write_contents

from byhand.checking import check_sources

SOUND = FRONT + "# A page\n\nText, and *more* of it.\n\n## A section\n\n"
DATA = ("mha/examples/cat-sat.toml", "mha/audit/sources/mha-tutorial.json")


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """Return the sources of a small book, without what would build it."""
    project = tmp_path_factory.mktemp("sound")
    for name in (*DATA, "_config.yml", "book/references.bib"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, project / name)
    write_contents(project, ["index"])
    (project / PAGE).write_text(SOUND + "\n", encoding="utf-8")
    return project


def put(project, fault):
    """Put a fault into a project."""
    file = project / fault.file
    before = "" if fault.whole else file.read_text(encoding="utf-8")
    if fault.old:
        assert fault.old in before
        text = before.replace(fault.old, fault.text, 1)
    else:
        text = fault.text if fault.whole else f"{SOUND}{fault.text}\n"
    file.write_text(text, encoding="utf-8")


def test_the_sound_book_has_no_fault(sound):
    assert check_sources(sound) == []


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.what)
def test_a_fault_is_told_with_file_and_line(sound, tmp_path, fault):
    project = shutil.copytree(sound, tmp_path / "book")
    put(project, fault)
    found = check_sources(project)
    wanted = (fault.file, fault.line)
    assert any(place[:2] == wanted and fault.message in place.message for place in found), found
    assert {finding.file for finding in found} == {wanted[0]}, found
    assert all("\n" not in str(finding) for finding in found)


def test_the_book_s_own_sources_have_no_fault():
    assert [str(finding) for finding in check_sources(ROOT)] == []


def test_a_page_is_checked_alone_and_an_unknown_one_is_refused(sound, tmp_path):
    project = shutil.copytree(sound, tmp_path / "book")
    (project / "book" / "alone.md").write_text("# Alone\n", encoding="utf-8")
    assert check_sources(project, ["index"]) == []
    assert [finding.file for finding in check_sources(project, ["alone"])] == ["book/alone.md"]
    with pytest.raises(ValueError, match=r"^lost is no page; one of alone, index is wanted$"):
        check_sources(project, ["lost"])


def test_the_check_needs_no_sphinx():
    code = "import sys, byhand.checking as c, pathlib; c.check_sources(pathlib.Path.cwd())"
    code += "; print(sorted({'sphinx', 'docutils', 'IPython'} & set(sys.modules)))"
    path = {"PYTHONPATH": f"{ROOT}:{ROOT / 'book' / '_ext'}"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=path, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "text",
    [
        "````{note}\n```{code-cell}\nx = 1\n```\n````\n",
        "~~~text\n```{code-cell}\n~~~\n",
        "`<script>` is told, and `![](x)` too.\n",
        "> Obviously, as the source says.\n",
        "| a \\| b | c |\n| --- | --- |\n| d | e |\n",
        "```{code-cell}\nrng = np.random.default_rng(7)\nx = rng.integers(3)\n```\n",
        "![A dot](icon.svg)\n",
    ],
)
def test_what_is_sound_is_left_alone(sound, tmp_path, text):
    project = shutil.copytree(sound, tmp_path / "book")
    (project / "book" / "icon.svg").write_text("", encoding="utf-8")
    (project / PAGE).write_text(SOUND + text, encoding="utf-8")
    assert check_sources(project) == []


# ---- What only a build can tell ----


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return a copy of the project with a book of one page, built."""
    project = tmp_path_factory.mktemp("project")
    copy_without_pages(project)
    write_contents(project, ["index"])
    (project / PAGE).write_text(SOUND, encoding="utf-8")
    assert build(project).returncode == 0
    return project


def give_a_cell(project, seconds):
    """Set how long a cell may take: on a busy machine some need longer than one would wait."""
    config = project / "_config.yml"
    text, changed = re.subn(
        r"(?m)^  timeout: \d+$", f"  timeout: {seconds}", config.read_text("utf-8")
    )
    assert changed == 1
    config.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(("what", "code", "message", "line"), IN_CELLS, ids=lambda x: str(x)[:30])
def test_a_cell_s_fault_is_one_line_and_the_last_good_book_stays(
    built, monkeypatch, what, code, message, line
):
    monkeypatch.setenv("PYTHONOPTIMIZE", "2")
    before = published(built)
    give_a_cell(built, 8 if "within 8 seconds" in message else 60)
    text = f"{SOUND}{cell(*code)}\n\nSo {{eval}}`x`.\n"
    (built / PAGE).write_text(text, encoding="utf-8")
    done = build(built)
    first, *others = done.stderr.splitlines()
    number = SOUND.count("\n") + 2 + line
    assert first.startswith(f"{PAGE}:{number}: WARNING: this cell failed: {message}"), done.stderr
    assert [other[:30] for other in others if other] == ["error: the book was not built;"]
    assert published(built) == before


def test_what_leads_nowhere_is_told_with_file_and_line_all_at_once(built):
    texts = [text for text, _ in LEADS_NOWHERE]
    (built / PAGE).write_text(SOUND + "\n\n".join(texts) + "\n", encoding="utf-8")
    told = build(built).stderr
    for i, (text, message) in enumerate(LEADS_NOWHERE):
        line = "\n\n".join([SOUND.rstrip("\n"), *texts[:i], ""]).count("\n") + 1
        line += 3 * text.startswith("(twice)")  # where it stands again
        assert re.search(rf"{PAGE}:{line}: WARNING: .*{re.escape(message)}", told), told


STRANGE = ("{eval}`open(1)`", "*a* $c$ <b>")
SHOWN = [
    "from mha.chapters import *",
    'run, show = open_example("cat-sat")',
    f"strange = trace(replace(run.example, tokens={STRANGE!r}))",
    'tables.stage_table(strange, "weights")',
]


def test_a_token_is_text_wherever_a_page_shows_it(built):
    views = ['blocks.stage_block(strange, "scores")', "figures.weight_maps(strange)"]
    views += ["explorer(strange)", 'your_turn(strange, "scores", 0, 1)']
    cells = [cell(*SHOWN), *(cell(view) for view in views)]
    (built / PAGE).write_text(SOUND + "\n\n".join(cells) + "\n", encoding="utf-8")
    done = build(built)
    assert done.returncode == 0, done.stderr
    page = BeautifulSoup(published(built)["index.html"], "html.parser")
    headers = [found.get_text(strip=True) for found in page.select("article th")]
    assert min(headers.count(token) for token in STRANGE) >= 4  # two tables: a row and a column
    drawn = " ".join(found.get_text(" ") for found in page.select("article svg text"))
    assert all(token in drawn for token in STRANGE)
    assert not page.select("article th :is(em, b, .math)")
