"""The pages without solutions: no answer in any file, and everything else unchanged."""

import json
import re
import zlib
from functools import cache
from urllib.parse import urlparse

import pytest
import without_solutions
from book_site import SITE, notebooks, toc_pages
from lxml import html

from mha.widgets.data_scripts import data_script, read_data

ANSWERS = {"solution", "quiz-answer", "your-turn-worked"}
ENOUGH = 50  # letters that an answer has in a row, so that they are its own


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site") / "html"
    without_solutions.write(SITE, folder)
    return folder


@cache
def page(folder, name):
    return html.document_fromstring((folder / f"{name}.html").read_text("utf-8"))


def answers(document):
    elements = document.iter(html.etree.Element)
    return [element for element in elements if ANSWERS & set(element.classes)]


def folded(text):
    return " ".join(text.split())


def cells(folder, name):
    return json.loads((folder / f"{name}.ipynb").read_text("utf-8"))["cells"]


def source(cell):
    return "".join(cell["source"])


def search_index_text(folder):
    text = (folder / "_static" / "search-index.js").read_text("utf-8")
    index = read_data(text)
    return " ".join(section[3] for section in index["sections"])


def test_no_file_has_a_solution_or_a_key(made):
    read = [path for path in made.rglob("*") if path.suffix in (".html", ".ipynb")]
    assert len(read) > len(toc_pages())
    for path in read:
        found = re.search(
            r"""class=\\?"(?:solution|quiz-answer|your-turn-worked)|data-right|quiz-verdict"""
            r"""|Solution to|\bsolution=[({]""",
            path.read_text("utf-8"),
        )
        is_reference = path == made / "reference" / "instruments.html"  # it explains the argument
        assert found is None or is_reference, (path, found[0])


def test_other_parts_of_the_pages_are_unchanged_and_no_other_file_has_answers(made):
    own, rest = set(), ""
    for name in toc_pages():
        was = html.document_fromstring((SITE / f"{name}.html").read_text("utf-8"))
        for answer in answers(was):
            own |= {folded(text) for text in answer.itertext()}
            answer.drop_tree()
        left = folded(page(made, name).text_content())
        assert left == folded(was.text_content()), name
        rest += left
    own = {text for text in own if len(text) > ENOUGH and text not in rest}
    assert len(own) > 200
    others = search_index_text(made)
    assert len(others) < len(search_index_text(SITE))
    for name in notebooks():
        others += folded("\n".join(map(source, cells(made, name))))
    assert [text for text in own if text in others] == []


def test_every_link_leads_somewhere(made):
    made = made.resolve()
    ids = {made / f"{name}.html": set(page(made, name).xpath("//@id")) for name in toc_pages()}
    for file in ids:
        for address in page(made, file.relative_to(made).with_suffix("")).xpath("//a/@href"):
            target, _, anchor = address.partition("#")
            anchor = re.sub("^([a-z]+)=([a-z0-9-]+).*", r"\1-\2", anchor)  # a state of its own
            there = (file.parent / target).resolve() if target else file
            assert urlparse(target).scheme or there.is_file(), (file, address)
            assert not anchor or anchor in ids.get(there, [anchor]), (file, address)
    labels = zlib.decompress((made / "objects.inv").read_bytes().split(b"\n", 4)[4]).decode()
    assert "-solution-" not in labels
    assert "std:label" in labels


def test_a_link_to_a_solution_becomes_text(tmp_path):
    book, folder = tmp_path / "book", tmp_path / "made"
    (book / "_static").mkdir(parents=True)
    (book / "_static" / "search-index.js").write_text(
        data_script("search-index", {"pages": [], "sections": []})
    )
    (book / "objects.inv").write_bytes(b"a\nb\nc\nd\n" + zlib.compress(b"sol std:label\nex -\n"))
    (book / "a.html").write_text('<p>See <a class="x" href="b.html#sol">one <i>way</i></a>.</p>')
    (book / "b.html").write_text(
        '<div class="solution"><div id="sol">1</div></div><a href="#c">c</a>'
    )
    without_solutions.write(book, folder)
    assert (folder / "a.html").read_text() == "<p>See one <i>way</i>.</p>"
    assert (folder / "b.html").read_text() == '<a href="#c">c</a>'
    assert zlib.decompress((folder / "objects.inv").read_bytes().split(b"\n", 4)[4]) == b"ex -\n"


@pytest.mark.parametrize("name", notebooks())
def test_a_notebook_ends_before_its_solutions_and_needs_nothing_that_is_gone(made, name):
    was, left = cells(SITE, name), cells(made, name)
    sources = [*map(source, was), "## Solutions"]
    before = was[: sources.index("## Solutions")]
    gone = "\n".join(source(cell) for cell in before if "solution=" in source(cell))
    assert [source(cell) for cell in left] == [
        source(cell) for cell in before if "solution=" not in source(cell)
    ]
    code = "\n".join(source(cell) for cell in left if cell["cell_type"] == "code")
    set_there, set_again = (set(re.findall(r"^(\w+) = ", text, re.M)) for text in (gone, code))
    assert (set_there - set_again).isdisjoint(re.findall(r"\w+", code))
