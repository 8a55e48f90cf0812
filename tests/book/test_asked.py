"""A number that an exercise is asked for: computed when the page runs, and nowhere to be seen."""

import book_site as site
import pytest
from one_book import build

from byhand.notebooks.text import plain

CONFIG = {"extensions": ["myst_nb", "byhand.chapter.asked"]}
BLOCK = """\
```{asked} ex-one
:answer: x.sum()
:places: 1
The sum.
```
"""
PAGE = (
    site.FRONT
    + f"""# A page

```{{code-cell}}
import numpy as np
x = np.array([0.5, 2])
```

{BLOCK}
"""
)


def test_nothing_of_it_is_on_the_page_or_in_a_notebook(tmp_path):
    assert build(tmp_path, {"index": PAGE}, **CONFIG) == ""
    html = (tmp_path / "html" / "index.html").read_text(encoding="utf-8")
    assert "The sum" not in html
    assert plain(BLOCK, lambda role, inside: inside, tmp_path) == ""


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("x.sum()", "y.sum()", "{asked} ex-one: NameError: name 'y' is not defined"),
        (":places: 1\n", "", ":answer:, :places: and what is asked for are wanted"),
    ],
)
def test_one_that_cannot_be_asked_stops_the_build_with_its_line(right, wrong, said, tmp_path):
    warnings = build(tmp_path, {"index": PAGE.replace(right, wrong)}, **CONFIG)
    assert said in warnings
    line = PAGE.partition("```{asked}")[0].count("\n") + 1
    assert f"index.md:{line}:" in warnings
