"""Code for PyTorch in a chapter: what it types and prints are numbers of the run."""

import book_site as site
import pytest
from bs4 import BeautifulSoup
from one_book import build, on_paper

from byhand.notebooks.text import plain

CONFIG = {
    "extensions": [
        "myst_nb",
        "byhand.chapter.code_folds",
        "byhand.chapter.section_folds",
        "byhand.chapter.in_pytorch",
    ]
}
BLOCK = """\
```{pytorch}
:given: x
:prints: x / 3, np.nan
import torch

x = torch.tensor([[2.0, 0], [-1, 5]])
print(x / 3, torch.nan)
---
tensor([[ 0.6667,  0.0000],
        [-0.3333,  1.6667]]) nan
```
"""
PAGE = (
    site.FRONT
    + f"""# A page

```{{code-cell}}
import numpy as np
x = np.array([[2.0, 0], [-1, 5]])
```

## In PyTorch

{BLOCK}
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


def test_paper_leaves_the_fold_out(folder):
    body = on_paper(folder, **CONFIG)
    assert "No more" in body
    assert "Words of its own" not in body


def test_a_notebook_has_both(tmp_path):
    assert plain(BLOCK, lambda role, inside: inside, tmp_path) == (
        "```python\nimport torch\n\nx = torch.tensor([[2.0, 0], [-1, 5]])\n"
        "print(x / 3, torch.nan)\n```\n\n"
        "```text\ntensor([[ 0.6667,  0.0000],\n        [-0.3333,  1.6667]]) nan\n```"
    )


REFUSED = {
    "1.6667]]": ("1.6666]]", "1.6666 stands where :prints: has 1.6666666666666667"),
    "5]])\nprint": ("6]])\nprint", "6.0 stands where :given: has 5.0"),
    ", np.nan": ("", "5 numbers, but :prints: has 4"),
    ":given: x\n": ("", "the code types numbers that no :given: names"),
    "x / 3, np": ("y / 3, np", "cannot be evaluated: NameError: name 'y' is not defined"),
    ":prints: x / 3, np.nan\n": ("", "code, a line ---, what it prints, and :prints: are wanted"),
}


def test_a_number_that_is_not_the_run_s_stops_the_build_with_its_line(tmp_path):
    front = PAGE.replace("---\n", "---\norphan: true\n", 1)
    pages = {f"page-{i}": front.replace(a, b) for i, (a, (b, _)) in enumerate(REFUSED.items())}
    warnings = build(tmp_path, {"index": "# Index\n"} | pages, **CONFIG)
    line = front.partition("```{pytorch}")[0].count("\n") + 1
    for name, (_, said) in zip(pages, REFUSED.values(), strict=True):
        told = [w for w in warnings.splitlines() if f"{name}.md:{line}:" in w]
        assert said in "".join(told), (said, warnings)


CHAPTERS = [name for name in site.toc_pages() if name.startswith(("mechanism/", "transformer/"))]


@pytest.mark.parametrize("name", CHAPTERS)
def test_each_chapter_has_one(name):
    text = site.source(name)
    assert text.count("\n## In PyTorch\n") == text.count("\n```{pytorch}\n") == 1
