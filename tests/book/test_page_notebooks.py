"""Each page with code is available as a notebook that is executed, clean and runnable."""

import json
import random
import re

import book_site as site
import jupytext
import nbformat
import pytest
from jupytext.config import load_jupytext_configuration_file
from wheel_only import run

from byhand.checking.normal_form import normal_form
from byhand.checking.sources import Page
from byhand.notebooks.writing import FORMS

LEFT_OVER = re.compile(  # what only the book's Sphinx can read
    r"\{[a-z:]+\}`|^`{3,}\{|^:{3,}|^\([\w-]+\)=$|^:[a-z-]+:|\]\{\.|^- \[[x ]|<span", re.MULTILINE
)

# Run in a Python that has NumPy and `mha` alone. Prints the output of the last line of each cell.
RUN = """
import ast, json, sys
def shown(value):
    if hasattr(value, "on_page"):  # a notebook of the book keeps no scripts
        return value.on_page()[0]["text/html"]
    if hasattr(value, "_repr_html_"):
        return value._repr_html_()
    if hasattr(value, "_repr_mimebundle_"):
        bundle = value._repr_mimebundle_()
        bundle = bundle[0] if isinstance(bundle, tuple) else bundle  # the second has metadata
        return bundle.get("text/html") or bundle["image/svg+xml"]
    return value._repr_svg_() if hasattr(value, "_repr_svg_") else repr(value)
for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as file:
        cells = json.load(file)["cells"]
    names, results = {"__name__": "__main__", "display": shown}, []  # as Jupyter has it
    for cell in (cell for cell in cells if cell["cell_type"] == "code"):
        *body, last = ast.parse("".join(cell["source"])).body
        is_value = isinstance(last, ast.Expr)
        exec(compile(ast.Module(body if is_value else [*body, last], []), name, "exec"), names)
        value = eval(compile(ast.Expression(last.value), name, "eval"), names) if is_value else None
        results.append(None if value is None else shown(value))
    print("RESULTS", json.dumps(results))
"""


def letters_and_digits(text):
    """Return the letters and digits of a text, without all other characters."""
    return re.sub(r"[\W_]", "", text)


def codes(made):
    return [cell.source for cell in made.cells if cell.cell_type == "code"]


@pytest.mark.parametrize("name", site.notebooks())
def test_jupytext_opens_and_saves_a_page_without_noise(name):
    text = site.source(name)
    config = load_jupytext_configuration_file(str(site.ROOT / "jupytext.toml"))
    opened = jupytext.reads(text, fmt="md:myst", config=config)
    assert len(codes(opened)) == text.count("```{code-cell}")
    kept = nbformat.reads(nbformat.writes(opened), as_version=4)  # as Jupyter holds it
    assert jupytext.writes(kept, fmt="md:myst", config=config) == text


def changed(text, draws):
    """Return a page with changes of the kind that an editor makes."""
    lines = text.split("\n")
    front = lines.index("---", 1)
    for _ in range(12):
        place, kind = draws.randrange(front + 1, len(lines)), draws.randrange(5)
        if kind == 0:
            lines[place] += "  "
        elif kind == 1 and not lines[place]:
            del lines[place]
        elif kind == 2:
            lines.insert(place, "")
        elif kind == 3:
            lines[place] = re.sub(r"^(:?tags: )\[(.*)\]$", r"\1['\2']", lines[place])
        elif lines[place].startswith("tags: "):  # the last key of a header, moved to its top
            lines.insert(place - lines[place::-1].index("---") + 1, lines.pop(place))
    return "\n".join(lines)


@pytest.mark.parametrize("name", site.notebooks())
def test_the_form_that_the_checks_want_is_that_of_jupytext(name):
    config = load_jupytext_configuration_file(str(site.ROOT / "jupytext.toml"))
    draws = random.Random(name)
    for _ in range(3):
        text = changed(site.source(name), draws)
        opened = jupytext.reads(text, fmt="md:myst", config=config)
        kept = nbformat.reads(nbformat.writes(opened), as_version=4)
        wanted = jupytext.writes(kept, fmt="md:myst", config=config)
        assert normal_form(Page(f"book/{name}.md", text)) == wanted


@pytest.mark.book
@pytest.mark.parametrize("name", site.toc_pages())
def test_each_page_that_computes_has_its_notebook_and_names_it(name):
    file = site.path(name).with_suffix(".ipynb")
    links = [link["href"] for link in site.soup(name).select(".page-notebook a[download]")]
    if name not in site.notebooks():
        assert links == []
        assert not file.exists()
        return
    assert links == [file.name]
    made = nbformat.read(file, as_version=4)
    nbformat.validate(made)
    assert made.metadata.kernelspec.name == "python3"
    assert "of Attention by Hand" in made.cells[0].source
    assert len(codes(made)) == site.source(name).count("```{code-cell}")
    for cell in made.cells:
        if cell.cell_type == "markdown":
            assert LEFT_OVER.findall(cell.source) == [], cell.source
        else:
            assert cell.execution_count
            for output in cell.outputs:
                assert output.output_type != "error"
                assert set(output.get("data", {})) <= set(FORMS)
    it_says_what_the_page_says_and_answers_at_the_end(made, site.soup(name).find("article"))


def it_says_what_the_page_says_and_answers_at_the_end(made, article):
    said = [cell.source for cell in made.cells if cell.cell_type == "markdown"]
    body, _, answers = map(letters_and_digits, "\n".join(said).partition("## Solutions\n"))
    elsewhere = "table, mha-quiz, mha-your-turn, .screen-only, .cell_output, noscript"
    otherwise = "math, a, code, sup, .printed, .screen-only, .on-site, .off-site"
    for paragraph in article.select(f"p:not([class], :is({elsewhere}) *):not(:has({otherwise}))"):
        is_answer = paragraph.find_parent(class_="solution") is not None
        wanted = letters_and_digits(paragraph.get_text())
        assert wanted in (answers if is_answer else body), paragraph
        assert len(wanted) < 60 or not is_answer or wanted not in body
    for feedback in article.select(".quiz-feedback > p"):
        assert letters_and_digits(feedback.get_text()) not in body or len(feedback.get_text()) < 40


@pytest.mark.book
def test_every_notebook_runs_where_the_package_is_installed_and_gives_what_it_shows(
    wheel_with_plots, tmp_path, monkeypatch
):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")  # as when the pages are built
    files = [site.path(name).with_suffix(".ipynb") for name in site.notebooks()]
    (tmp_path / "run.py").write_text(RUN, encoding="utf-8")
    said = run(wheel_with_plots, "-W", "error", "run.py", *files, cwd=tmp_path)
    said = [line.removeprefix("RESULTS ") for line in said.splitlines() if "RESULTS " in line]
    assert len(said) == len(files) > 10
    compared = 0
    for file, line in zip(files, said, strict=True):
        made = nbformat.read(file, as_version=4)
        cells = [cell for cell in made.cells if cell.cell_type == "code"]
        for cell, result in zip(cells, json.loads(line), strict=True):
            for output in cell.outputs:
                if output.output_type == "execute_result":
                    data = output.data
                    kept = [data[kind] for kind in FORMS if kind in data]
                    assert "".join(kept[0]).strip() == result.strip(), (file.name, cell.source)
                    compared += 1
    assert compared > 300
