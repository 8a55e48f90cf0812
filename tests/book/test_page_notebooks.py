"""Each page that computes can be had as a notebook, which runs."""

import book_site as site
import nbformat
import pytest
from nbclient import NotebookClient

from byhand.page_notebooks import notebook

SOURCE = (
    site.FRONT
    + """# A page

```{code-cell}
---
tags: [remove-input]
---
x = 2
```

With {eval}`x`.

```{code-cell}
assert x == 2
```
"""
)


def codes(made):
    return [cell.source for cell in made.cells if cell.cell_type == "code"]


def test_a_notebook_has_the_cells_of_its_source():
    made = notebook(SOURCE, "A page")
    nbformat.validate(made)
    assert [cell.cell_type for cell in made.cells] == [
        "markdown",
        "markdown",
        "code",
        "markdown",
        "code",
    ]
    assert "the page “A page” of *Attention by Hand*" in made.cells[0].source
    assert codes(made) == ["x = 2", "assert x == 2"]
    assert made.cells[2].metadata.tags == ["remove-input"]
    assert made.metadata.kernelspec.name == "python3"


def test_the_same_source_gives_the_same_notebook():
    first, second = (nbformat.writes(notebook(SOURCE, "A page")) for _ in range(2))
    assert first == second


@pytest.mark.book
@pytest.mark.parametrize("name", site.toc_pages())
def test_each_page_that_computes_has_its_notebook_and_names_it(name):
    file = site.path(name).with_suffix(".ipynb")
    links = [link["href"] for link in site.soup(name).select(".page-notebook a[download]")]
    if name in site.notebooks():
        assert links == [file.name]
        made = nbformat.read(file, as_version=4)
        nbformat.validate(made)
        assert len(codes(made)) == site.source(name).count("```{code-cell}")
    else:
        assert links == []
        assert not file.exists()


@pytest.mark.book
def test_a_notebook_runs(tmp_path):
    file = site.path("examples/play-football").with_suffix(".ipynb")
    made = nbformat.read(file, as_version=4)
    NotebookClient(made, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert any(cell.get("outputs") for cell in made.cells)
