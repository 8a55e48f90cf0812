"""Each fault of `faults.py` is reported with its file and line, and nothing else is reported."""

import re
import shutil

import pytest
from book_site import FRONT, ROOT
from faults import FAULTS, IN_CELLS, LEADS_NOWHERE, PAGE, cell
from small_project import build, copy_without_pages, write_contents

from byhand.checking import check_sources, fix_sources

SOUND = FRONT + "# A page\n\nText, and *more* of it.\n\n## A section\n\n"
DATA = ("mha/examples/cat-sat.toml", "mha/audit/sources/mha-tutorial.json")


@pytest.fixture(scope="module")
def sound_sources(tmp_path_factory):
    """Return the sources of a small book without faults, and without the code that builds it."""
    project = tmp_path_factory.mktemp("sound")
    for name in (*DATA, "_config.yml", "book/references.bib"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, project / name)
    write_contents(project, ["index"])
    (project / PAGE).write_text(SOUND + "\n", encoding="utf-8")
    return project


def insert_fault(project, fault):
    """Put a fault into a project."""
    file = project / fault.file
    before = "" if fault.whole else file.read_text(encoding="utf-8")
    if fault.old:
        assert fault.old in before
        text = before.replace(fault.old, fault.text, 1)
    else:
        text = fault.text if fault.whole else f"{SOUND}{fault.text}\n"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.what)
def test_a_fault_is_told_with_file_and_line(sound_sources, tmp_path, fault):
    project = shutil.copytree(sound_sources, tmp_path / "book")
    insert_fault(project, fault)
    found = check_sources(project)
    wanted = (fault.file, fault.line)
    assert any(place[:2] == wanted and fault.message in place.message for place in found), found
    assert {finding.file for finding in found} == {wanted[0]}, found
    assert all("\n" not in str(finding) for finding in found)


def test_the_book_s_own_sources_have_no_fault():
    assert [str(finding) for finding in check_sources(ROOT)] == []


def test_a_page_is_checked_alone_and_an_unknown_one_is_refused(sound_sources, tmp_path):
    project = shutil.copytree(sound_sources, tmp_path / "book")
    (project / "book" / "alone.md").write_text("# Alone\n", encoding="utf-8")
    assert check_sources(project, ["index"]) == []
    assert [finding.file for finding in check_sources(project, ["alone"])] == ["book/alone.md"]
    with pytest.raises(ValueError, match=r"^lost is no page; one of alone, index is wanted$"):
        check_sources(project, ["lost"])


def test_fix_writes_a_page_as_jupyter_saves_it_and_leaves_a_faulty_one(sound_sources, tmp_path):
    project = shutil.copytree(sound_sources, tmp_path / "book")
    page = project / PAGE
    head = cell("---", "tags: [teaches]", "mystnb: {image: {alt: A}}", "---", "", "x = 1  ")
    page.write_text(f"{SOUND}Text.\n{head}\nMore.\n\n\n", encoding="utf-8")
    assert [finding.line for finding in check_sources(project)] == [19]
    assert fix_sources(project, ["lost"]) == []
    assert fix_sources(project) == [PAGE]
    fixed = page.read_text(encoding="utf-8")
    header = "---\nmystnb:\n  image:\n    alt: A\ntags: [teaches]\n---"
    assert fixed.removeprefix(SOUND) == (
        f"Text.\n\n```{{code-cell}}\n{header}\nx = 1  \n```\n\nMore.\n"
    )
    assert fix_sources(project) == []
    assert check_sources(project) == []
    for fault in ("```{code-cell}\nx = 1", "```{code-cell}\n---\na: [\n---\nx = 1\n```\n\n\n"):
        page.write_text(SOUND + fault, encoding="utf-8")
        assert fix_sources(project) == []
        assert page.read_text(encoding="utf-8") == SOUND + fault


# ---- Faults that only a build finds ----


def build_errors(project, pages):
    """Build a book with more pages, expect a failure, and return the error output."""
    copy_without_pages(project)
    write_contents(project, ["index", *pages])
    for name, text in ({"index": SOUND} | pages).items():
        (project / "book" / f"{name}.md").write_text(text, encoding="utf-8")
    done = build(project)
    assert done.returncode != 0
    return done.stderr


def test_faults_of_cells_are_a_line_each(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONOPTIMIZE", "2")  # assertions hold all the same
    pages, wanted = {}, []
    first = SOUND.count("\n") + 2
    for place, (_, code, message, line) in enumerate(IN_CELLS):
        pages[f"page-{place:02}"] = f"{SOUND}{cell(*code)}\n\nSo {{eval}}`x`.\n"
        told = f"book/page-{place:02}.md:{first + line}: WARNING: this cell failed: {message}"
        wanted.append(told)
    told = build_errors(tmp_path, pages).splitlines()
    assert len(told) == len(wanted) + 1, told
    assert all(line.startswith(start) for line, start in zip(told, wanted, strict=False)), told
    assert told[-1].startswith("error: the book was not built;")


def test_what_leads_nowhere_is_told_with_file_and_line_all_at_once(tmp_path):
    texts = [text for text, _ in LEADS_NOWHERE]
    other = FRONT.rstrip("\n") + "\n# A page\n{nope}`a`\n"  # whatever stands before it
    other += "\n```{code-cell}\n1\n```\n{nope}`b`\n\n```{code-cell}\n2\n```\n\n\n{nope}`c`\n"
    other += "\n## All numbers\n\n```{raw} html\n<noscript></noscript>\n```\n"
    page = SOUND + "\n\n".join(texts) + "\n"
    told = build_errors(tmp_path, {"page": page, "other": other})
    for i, (text, message) in enumerate(LEADS_NOWHERE):
        line = "\n\n".join([SOUND.rstrip("\n"), *texts[:i], ""]).count("\n") + 1
        line += 3 * text.startswith("(twice)")  # where it stands again
        line += 2 * text.startswith("```{code-cell}")  # its last line shows the figure
        assert re.search(rf"book/page.md:{line}: WARNING: .*{re.escape(message)}", told), told
    lines = [n for n, line in enumerate(other.splitlines(), 1) if "nope" in line]
    found = re.findall(r"other\.md:(\d+): WARNING: Unknown interpreted", told)
    assert [int(line) for line in found] == lines
    assert "other.md: WARNING: a <noscript> cannot be inside “All numbers”" in told
