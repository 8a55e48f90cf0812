"""The book's own Sphinx package, apart from a build: see test_build.py for the whole."""

import ast
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest
from book_site import ROOT

import byhand
from byhand.contents import read_contents
from byhand.document import Document
from byhand.failed_cells import locate
from byhand.fresh_numbers import fingerprint, sources

PACKAGE = Path(byhand.__file__).parent


def test_the_package_loads_every_part_that_it_has():
    modules = [module.name for module in pkgutil.iter_modules(byhand.__path__)]
    parts = [m for m in modules if hasattr(importlib.import_module(f"byhand.{m}"), "setup")]
    assert sorted(byhand.PARTS) == sorted(parts)


def test_the_commands_import_the_package_without_sphinx():
    code = "import sys, byhand.contents, byhand.document; print('sphinx' in sys.modules)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=PACKAGE.parent, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_contents_are_those_of_the_file(tmp_path):
    toc = tmp_path / "_toc.yml"
    toc.write_text(
        "root: start\nparts:\n"
        "  - {caption: One, chapters: [{file: a/b}, {file: c}]}\n"
        "  - {caption: Two, chapters: [{file: d}]}\n",
        encoding="utf-8",
    )
    contents = read_contents(toc)
    assert contents.pages == ("start", "a/b", "c", "d")
    assert contents.chapters == ("a/b", "c", "d")
    assert [(p.number, p.caption, p.pages) for p in contents.parts] == [
        (1, "One", ("a/b", "c")),
        (2, "Two", ("d",)),
    ]
    toc.write_text("root: alone\n", encoding="utf-8")
    assert read_contents(toc).pages == ("alone",)


@pytest.mark.parametrize("chapters", [None, ("a", "b/c")])
def test_a_document_is_found_by_the_variable_that_saving_returns(tmp_path, monkeypatch, chapters):
    document = Document(name="week", title="W&k “1”", chapters=chapters, solutions="only")
    for name, value in document.save(tmp_path / "document.json").items():
        monkeypatch.setenv(name, value)
    assert Document.load() == document


def test_without_a_variable_the_whole_book_is_meant():
    assert Document.load() == Document()
    assert not Document().is_reader


def test_a_failure_outside_any_cell_has_no_line():
    assert locate("# Page", "DeadKernelError: Kernel died") == (
        None,
        "DeadKernelError: Kernel died",
    )


WATCHED = [
    "mha/a.py",
    "mha/examples/b.toml",
    "mha/audit/sources/c.json",
    "mha/widgets/d.js",
    "book/_ext/byhand/e.py",
    "book/_ext/byhand/quiz/f.py",
    "book/_ext/byhand/temml/g.js",
    "requirements.lock",
    "_config.yml",
]
IGNORED = [
    "README.md",
    "book/index.md",
    "mha/__pycache__/a.pyc",
    "mha/.a.py.swp",
    "book/_ext/byhand/print_book/preamble.tex",
]


@pytest.fixture
def project(tmp_path):
    for name in (*WATCHED, *IGNORED):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("one", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("name", WATCHED)
def test_numbers_are_outdated_when_what_they_come_from_changes(project, name):
    before = fingerprint(project)
    assert fingerprint(project) == before
    (project / name).write_text("two", encoding="utf-8")
    assert fingerprint(project) != before
    (project / name).write_text("one", encoding="utf-8")
    assert fingerprint(project) == before
    (project / name).rename(project / f"{name}.renamed")
    assert fingerprint(project) != before


@pytest.mark.parametrize("name", IGNORED)
def test_numbers_are_not_outdated_by_what_they_do_not_come_from(project, name):
    before = fingerprint(project)
    (project / name).write_text("two", encoding="utf-8")
    assert fingerprint(project) == before


def test_every_file_of_the_package_counts():
    command = ["git", "ls-files", "-co", "--exclude-standard", "mha"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    files = {ROOT / name for name in done.stdout.splitlines() if (ROOT / name).is_file()}
    assert {".py", ".toml", ".json"} <= {file.suffix for file in files}
    assert files <= set(sources())


def test_what_is_not_watched_changes_no_page():
    reading = [path for path in PACKAGE.rglob("*.py") if "print_book" not in path.parts]
    assert len(reading) > 10
    for path in reading:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            assert not [name for name in names if name.startswith("byhand.print_book")], path


PAGE = """# Page

```{printed-switch}
```

One [≈ 0.5]{.printed} and [another]{.class} number.
"""


@pytest.mark.parametrize(("builder", "shown"), [("html", True), ("latex", False), ("text", False)])
def test_the_switch_and_the_printed_numbers_are_for_html_alone(tmp_path, builder, shown):
    source = tmp_path / "source"
    source.mkdir()
    (source / "index.md").write_text(PAGE, encoding="utf-8")
    (source / "conf.py").write_text(
        f"import sys\nsys.path.insert(0, {str(PACKAGE.parent)!r})\n"
        "extensions = ['myst_parser', 'byhand.printed_switch']\n"
        "myst_enable_extensions = ['attrs_inline']\n"
        "project, html_theme = 'p', 'basic'\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "sphinx", "-q", "-b", builder, source, tmp_path / "out"]
    subprocess.run(command, check=True)
    files = [f for f in (tmp_path / "out").rglob("*") if f.suffix in (".html", ".tex", ".txt")]
    text = "".join(f.read_text(encoding="utf-8") for f in files if f.stem in ("index", "p"))
    assert "another" in text
    assert ('type="checkbox"' in text) == shown
    assert ("0.5" in text) == shown
