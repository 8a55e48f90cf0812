"""The book's own Sphinx package, apart from a build: see test_build.py for the whole."""

import importlib
import pickle
import pkgutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from book_site import ROOT
from docutils import nodes
from docutils.core import publish_doctree
from docutils.utils import new_document
from hypothesis import given
from hypothesis import strategies as st
from sphinx import addnodes
from sphinx.transforms import SphinxSmartQuotes
from sphinx.transforms.post_transforms.code import HighlightLanguageVisitor
from sphinx.util.nodes import NodeMatcher

import byhand
from byhand import quick_walks, references
from byhand.contents import read_contents
from byhand.digests import digest_of, files_in
from byhand.document import Document
from byhand.failed_cells import locate
from byhand.print_book.pages import leave_out_screen_only

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
        "  - {caption: Two, chapters: [{file: d, sections: [{file: d/e}]}, {file: f}]}\n",
        encoding="utf-8",
    )
    contents = read_contents(toc)
    assert contents.pages == ("start", "a/b", "c", "d", "d/e", "f")
    assert contents.chapters == ("a/b", "c", "d", "f")
    assert contents.printed == ("start", "a/b", "c", "d", "f")
    assert [(p.number, p.caption, p.pages, p.below) for p in contents.parts] == [
        (1, "One", ("a/b", "c"), {}),
        (2, "Two", ("d", "f"), {"d": ("d/e",)}),
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


CHANGES = ("mha", "_config.yml")
COUNTED = ["mha/a.py", "mha/examples/b.toml", "mha/audit/c.json", "mha/widgets/d.js", "_config.yml"]
IGNORED = ["README.md", "mha/__pycache__/a.pyc", "mha/.a.py.swp"]


@pytest.fixture
def files(tmp_path):
    for name in (*COUNTED, *IGNORED):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("one", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("name", COUNTED)
def test_a_digest_changes_with_every_file_and_name(files, name):
    before = digest_of(CHANGES, root=files)
    assert digest_of(CHANGES, root=files) == before
    (files / name).write_text("two", encoding="utf-8")
    assert digest_of(CHANGES, root=files) != before
    (files / name).write_text("one", encoding="utf-8")
    assert digest_of(CHANGES, root=files) == before
    assert digest_of(CHANGES, root=files, salt="other") != before
    (files / name).rename(files / f"{name}.renamed")
    assert digest_of(CHANGES, root=files) != before


@pytest.mark.parametrize("name", IGNORED)
def test_a_digest_does_not_change_with_what_does_not_count(files, name):
    before = digest_of(CHANGES, root=files)
    (files / name).write_text("two", encoding="utf-8")
    assert digest_of(CHANGES, root=files) == before


def test_every_file_of_the_package_counts():
    command = ["git", "ls-files", "-co", "--exclude-standard", "mha"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    files = {ROOT / name for name in done.stdout.splitlines() if (ROOT / name).is_file()}
    assert {".py", ".toml", ".json"} <= {file.suffix for file in files}
    assert files <= set(files_in(["mha"]))


# ---- Quick walks ----


TABLE = """\
== ==
1  2
== ==
"""


def all_below(node):
    """Yield a node and all below it, as docutils' documentation has it."""
    yield node
    for child in node.children:
        yield from all_below(child)


class Made(nodes.General, nodes.Element):
    """A kind of which nothing is made before a walk has looked for it."""


class Loaded(nodes.General, nodes.Element):
    """Another, whose first element comes out of a file."""


unseen = object.__new__(Loaded)
vars(unseen).update(children=[], attributes={})
LOADED = pickle.dumps(unseen)


@pytest.mark.parametrize(
    "kind", [nodes.Text, nodes.paragraph, nodes.Element, nodes.Inline, Made, Loaded]
)
def test_a_walk_finds_all_of_a_kind_also_what_was_made_meanwhile(kind):
    quick_walks.setup(None)
    page = publish_doctree(f"A\n=\n\nSome *text*, and\n\n- a `list`\n\n  - in a list\n\n{TABLE}")
    for turn in range(3):
        wanted = [id(node) for node in all_below(page) if isinstance(node, kind)]
        assert [id(node) for node in page.findall(kind)] == wanted
        for condition in (lambda node: isinstance(node, kind), NodeMatcher(kind, Loaded)):
            assert [id(node) for node in page.findall(condition)] == wanted
        below = [id(node) for node in page.findall(kind, include_self=False)]
        assert below == [place for place in wanted if place != id(page)]
        if turn == 1:  # deep in a table that was found to hold none of these
            next(page.findall(nodes.entry))[0] += [nodes.Text("3"), nodes.strong("", "4"), Made()]
        elif kind is Made:
            page += kind()
        elif kind is Loaded:
            page.children.append(pickle.loads(LOADED))


def test_a_walk_goes_past_a_table_that_has_nothing_for_it(monkeypatch):
    quick_walks.setup(None)
    table = next(publish_doctree(TABLE).findall(nodes.table))
    seen = []
    monkeypatch.setattr(quick_walks, "everything", lambda node: seen.append(node) or [node])
    for kind in (nodes.math, nodes.comment, nodes.math):
        quick_walks.make(kind)
        assert list(table.findall(kind)) == []
    assert seen == [table]
    table[0] += nodes.row()
    assert list(table.findall(nodes.math)) == []
    assert seen == [table, table]


@pytest.mark.parametrize("in_a_table", [True, False])
def test_code_has_the_language_that_was_set_before_it_in_a_table_too(in_a_table):
    quick_walks.setup(None)
    page = publish_doctree(f"{TABLE}\n::\n\n  after\n")
    place = next(page.findall(nodes.entry)) if in_a_table else page
    place.insert(0, addnodes.highlightlang(lang="x", force=False, linenothreshold=1))
    place.insert(0, nodes.literal_block("", "before"))
    page.walkabout(HighlightLanguageVisitor(page, "default"))
    assert [block["language"] for block in page.findall(nodes.literal_block)] == ["default", "x"]


@pytest.mark.parametrize("is_own", [True, False])
def test_a_page_that_refers_to_itself_is_not_loaded_for_it(is_own):
    page, other = new_document("/book/a.md"), new_document("/book/b.md")
    loaded = {"a": page, "b": other}
    env = SimpleNamespace(
        doc2path=lambda name: f"/book/{name}.md", get_doctree=lambda name: loaded.pop(name)
    )
    remembering = references._Remembering(env)
    remembering.here = page
    name, wanted = ("a", page) if is_own else ("b", other)
    for _ in range(2):
        assert remembering.get_doctree(name) is wanted
    assert (name in loaded) == is_own


@given(st.lists(st.lists(st.text("ab .-'\"\\\0", min_size=1), max_size=3), max_size=3))
def test_marks_become_what_they_are_where_every_text_is_looked_at(paragraphs):
    def page():
        page = new_document("page")
        page.settings.smart_quotes, page.settings.smartquotes_locales = True, None
        for texts in paragraphs:
            first, *others = [*texts, ""]
            page += nodes.paragraph("", "", nodes.emphasis("", first), *map(nodes.Text, others))
        return page

    class Marks(SphinxSmartQuotes):
        is_available = staticmethod(lambda: True)
        config = SimpleNamespace(smartquotes_action="qDe")

    wanted, found = page(), page()
    quick_walks.set_each(Marks(wanted, None))
    quick_walks.set_marks(transform := Marks(found, None))
    assert found.pformat() == wanted.pformat()
    assert transform.document is found


def test_paper_has_no_cell_that_is_tagged_for_the_screen_alone():
    cells = [nodes.container(classes=["cell", *tags]) for tags in ([], ["tag_screen-only"])]
    page = new_document("page")
    page += cells
    leave_out_screen_only(page)
    assert page.children == cells[:1]
