"""Each page that computes can be had as a notebook: executed, clean, and it runs."""

import json
import re

import book_site as site
import jupytext
import nbformat
import pytest
from docutils import nodes
from docutils.utils import new_document
from jupytext.config import load_jupytext_configuration_file
from wheel_only import run

from byhand.notebooks.text import plain
from byhand.notebooks.writing import FORMS, Words, notebook
from byhand.reading.results import Results
from byhand.reading.steps import Step

SOURCE = (
    site.FRONT
    + """(label)=
# A page

```{lead}
Its one sentence with {eval}`x`.
```

```{code-cell}
---
tags: [remove-input]
---
x = 2
```

With {eval}`x` and {given}`0.5`, as {numref}`tbl-one` and {cite:t}`vaswani2017` say.

```{quiz} a-question
How many?

- [x `x == 2`] Two. :: Right.
- [ ] Three. :: Wrong.
```

```{code-cell}
assert x == 2
x
```
"""
)


def page_with(label, said):
    page = new_document("a page")
    page += nodes.reference("", said, internal=True, refid=label)
    return page


STEPS = [
    Step("expression", 0, 1, "x"),
    Step("cell", 1, 1, "x = 2"),
    Step("expression", 2, 1, "x"),
    Step("cell", 3, 1, "assert x == 2\nx"),
]
OUTPUTS = [[{"data": {"text/plain": "1"}}], [], [{"data": {"text/plain": "'2'"}}], []]
LEFT_OVER = re.compile(  # what only the book's Sphinx can read
    r"\{[a-z:]+\}`|^`{3,}\{|^:{3,}|^\([\w-]+\)=$|^:[a-z-]+:|\]\{\.|^- \[[x ]|<span", re.MULTILINE
)

# Run in a Python that has NumPy and `mha` alone: what does the last line of each cell show?
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


def codes(made):
    return [cell.source for cell in made.cells if cell.cell_type == "code"]


def test_its_text_is_plain(tmp_path):
    (tmp_path / "page.md").write_text(SOURCE, encoding="utf-8")
    words = Words(page_with("tbl-one", "Table 1.1"), Results("", STEPS, OUTPUTS))
    made = notebook(tmp_path / "page.md", "A page", words)
    assert made.cells[1].source == "# A page\n\n*Its one sentence with 1.*"
    assert made.cells[3].source == (
        "With 2 and 0.5, as Table 1.1 and Vaswani et al. (2017) say.\n\n"
        "**Question**\n\nHow many?\n\n- Two.\n- Three."
    )


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("```{math}\n:label: a\nx = 1\n```", "$$\nx = 1\n$$"),
        ("```{exercise} Two\n:label: ex-b\nWork.\n```", "**Exercise 1.2 (Two)**\n\nWork."),
        (
            "```{solution-start} ex-b\n:class: dropdown\n```\n\nSo.",
            "**Solution to Exercise 1.2**\n\nSo.",
        ),
        ("```{aims}\n- read\n```", "After this page you can\n\n- read"),
        ("::::{div} a\n:::{div} b\nIn.\n:::\n::::", "In."),
        ("```python\n{ref}`kept`\n```", "```python\n{ref}`kept`\n```"),
        ("[0.81]{.slip}[, wrong]{.screen-only}", "0.81"),
        (
            "```{list-table} A\n* - a\n  - b\n* - 1\n  - 2\n```",
            "| a | b |\n| --- | --- |\n| 1 | 2 |",
        ),
        ("```{literalinclude} a.py\n:pyobject: f\n```", "```python\ndef f(): ...\n```"),
        (
            "```{literalinclude} a.py\n:start-at: return\n:dedent: 4\n```",
            "```python\nreturn 1\n```",
        ),
        ("Text below a cell.\n:::", "Text below a cell."),
        ("```{read-in-steps}\n```", ""),
    ],
)
def test_blocks_become_plain_markdown(text, wanted, tmp_path):
    (tmp_path / "a.py").write_text("import re\ndef f(): ...\ndef g():\n    return 1\n", "utf-8")
    said = {"ex-b": "Exercise 1.2"}
    assert plain(text, lambda role, inside: said.get(inside, inside), tmp_path) == wanted


ANSWERS = (
    site.FRONT
    + """# A page

```{predict} how-many
:reveals: 2
How many?

- [x `True`] Two. :: Right.
- [ ] Three. :: Wrong.
```

```{code-cell}
x = 2
```

Two of them.

More text.

```{exercise}
:label: ex-b
Work.
```

```{solution-start} ex-b
```

So.

```{code-cell}
assert x == 2
```

```{solution-end}
```

## Read next
"""
)


def test_no_answer_stands_below_its_question(tmp_path):
    (tmp_path / "page.md").write_text(ANSWERS, encoding="utf-8")
    words = Words(page_with("ex-b", "Exercise 1.2"), None)
    made = notebook(tmp_path / "page.md", "A page", words)
    read = "\n\n".join(cell.source for cell in made.cells[2:])
    assert read == (
        "x = 2\n\n<details><summary>Answer</summary>\n\nTwo of them.\n\n</details>\n\n"
        "More text.\n\n**Exercise 1.2**\n\nWork.\n\n## Read next\n\n"
        "## Solutions\n\n**Solution to Exercise 1.2**\n\nSo.\n\nassert x == 2"
    )


@pytest.mark.parametrize("name", site.notebooks())
def test_jupytext_opens_and_saves_a_page_without_noise(name):
    text = site.source(name)
    config = load_jupytext_configuration_file(str(site.ROOT / "jupytext.toml"))
    opened = jupytext.reads(text, fmt="md:myst", config=config)
    assert len(codes(opened)) == text.count("```{code-cell}")
    kept = nbformat.reads(nbformat.writes(opened), as_version=4)  # as Jupyter holds it
    assert jupytext.writes(kept, fmt="md:myst", config=config) == text


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
