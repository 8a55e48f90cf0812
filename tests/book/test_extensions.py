"""The book's own Sphinx extensions, apart from a build: see test_build.py for the whole."""

import doctest
import subprocess
import sys
from pathlib import Path

import pytest
from extensions import load


def test_examples_in_docstrings_hold():
    result = doctest.testmod(load("failed_cells"))
    assert result.attempted >= 2
    assert result.failed == 0


def test_a_failure_outside_any_cell_has_no_line():
    assert load("failed_cells").locate("# Page", "DeadKernelError: Kernel died") == (
        None,
        "DeadKernelError: Kernel died",
    )


@pytest.fixture
def sources(tmp_path):
    for name in ("mha/a.py", "mha/examples/b.toml", "book/_ext/c.py", "requirements.lock"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("one", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "name", ["mha/a.py", "mha/examples/b.toml", "book/_ext/c.py", "requirements.lock"]
)
def test_numbers_are_outdated_when_what_they_come_from_changes(sources, name):
    fingerprint = load("fresh_numbers").fingerprint
    before = fingerprint(sources)
    assert fingerprint(sources) == before
    (sources / name).write_text("two", encoding="utf-8")
    assert fingerprint(sources) != before
    (sources / name).write_text("one", encoding="utf-8")
    assert fingerprint(sources) == before


def test_numbers_are_not_outdated_by_what_they_do_not_come_from(sources):
    fingerprint = load("fresh_numbers").fingerprint
    before = fingerprint(sources)
    (sources / "README.md").write_text("two", encoding="utf-8")
    (sources / "mha" / "a.pyc").write_text("two", encoding="utf-8")
    assert fingerprint(sources) == before


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
    extension = str(Path(load("printed_switch").__file__).parent)
    (source / "conf.py").write_text(
        f"import sys\nsys.path.insert(0, {extension!r})\n"
        "extensions = ['myst_parser', 'printed_switch']\n"
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
