"""Code for PyTorch in a chapter, and numbers that are asked for elsewhere: where each is seen."""

import book_site as site
import pytest
from bs4 import BeautifulSoup
from one_book import ASKED, PYTORCH, build, on_paper

from byhand.notebooks.text import plain

CONFIG = {
    "extensions": [
        "myst_nb",
        "byhand.chapter.code_folds",
        "byhand.chapter.section_folds",
        "byhand.chapter.in_pytorch",
        "byhand.chapter.asked",
    ]
}
PAGE = (
    site.FRONT
    + f"""# A page

```{{code-cell}}
import numpy as np
x = np.array([[2.0, 0], [-1, 5]])
```

{ASKED}
## In PyTorch

{PYTORCH}
Words of its own.

## Summary

No more.
"""
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pytorch")
    assert build(folder, {"index": PAGE}, **CONFIG) == ""
    return folder


def test_code_and_what_it_prints_wait_in_a_fold(folder):
    html = (folder / "html" / "index.html").read_text(encoding="utf-8")
    fold = BeautifulSoup(html, "html.parser").select_one("details.in-pytorch")
    code, output = fold.select("noscript.late pre")
    assert code.get_text().startswith("import torch\n\nx = torch.tensor(")
    assert output.get_text().strip().endswith("[-0.3333,  1.6667]]) nan")


def test_nothing_of_what_is_asked_for_elsewhere_is_on_the_page_or_in_a_notebook(folder):
    assert "The sum" not in (folder / "html" / "index.html").read_text(encoding="utf-8")
    assert plain(ASKED, lambda role, inside: inside, folder) == ""


def test_paper_leaves_the_fold_out(folder):
    body = on_paper(folder, **CONFIG)
    assert "No more" in body
    assert "Words of its own" not in body


def test_a_notebook_has_both(tmp_path):
    assert plain(PYTORCH, lambda role, inside: inside, tmp_path) == (
        "```python\nimport torch\n\nx = torch.tensor([[2.0, 0], [-1, 5]])\n"
        "print(x / 3, torch.nan)\n```\n\n"
        "```text\ntensor([[ 0.6667,  0.0000],\n        [-0.3333,  1.6667]]) nan\n```"
    )


CHAPTERS = [name for name in site.toc_pages() if name.startswith(("mechanism/", "transformer/"))]


@pytest.mark.parametrize("name", CHAPTERS)
def test_each_chapter_has_one(name):
    text = site.source(name)
    assert text.count("\n## In PyTorch\n") == text.count("\n```{pytorch}\n") == 1
