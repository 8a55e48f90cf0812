"""Cells and expressions run in a process of their own, as a notebook's kernel would run them."""

import pytest
from myst_nb.core.read import read_myst_markdown_notebook

from byhand.reading import results
from byhand.reading.steps import Step, steps_of

SHOWS = """\
print("a")
print("b")
display(1)
import sys; print("oh", file=sys.stderr)
class Word:
    def _repr_markdown_(self): return "*c*"
Word()
"""


@pytest.fixture
def compute(tmp_path, monkeypatch):
    """Return a function that runs cells and expressions as those of a page."""
    monkeypatch.setattr(results, "ROOT", tmp_path)
    monkeypatch.setattr(results, "KEPT", tmp_path / "results")
    page = tmp_path / "book" / "page.md"
    page.parent.mkdir()

    def run(*sources, seconds=60):
        steps = [
            Step("expression" if source.startswith("=") else "cell", i, 10 * i, source.strip("="))
            for i, source in enumerate(sources)
        ]
        return results.compute(page, steps, "now", seconds)

    return run


def test_a_cell_gives_what_a_notebook_keeps(compute):
    (outputs,) = compute(SHOWS).outputs
    kinds = [output["output_type"] for output in outputs]
    assert kinds == ["stream", "display_data", "stream", "execute_result"]
    assert outputs[0] == {"output_type": "stream", "name": "stdout", "text": "a\nb\n"}
    assert outputs[3]["data"]["text/markdown"] == "*c*"


def test_an_expression_has_the_value_that_it_has_where_it_stands(compute):
    found = compute("x = 1", "=x", "x += 1;", "=x", "=f(y)")
    values = [output["data"]["text/plain"] for given in found.outputs for output in given]
    assert values == ["1", "2"]
    assert found.errors == {4: "NameError: name 'f' is not defined"}


def test_a_cell_that_never_ends_is_told(compute):
    found = compute("while True: pass", seconds=1)
    assert found.faults == [(0, "it did not end within 1 seconds")]


TEXT = """---
kernelspec: {name: python3}
---
# A

One {eval}`a
+ 1` and \\{eval}`no`, twice {eval}`b` {eval}`b`.

- [x `c == 1`] Yes. :: So.

```{code-cell}
---
mystnb:
  figure:
    caption: It is {eval}`d`.
---
d = 2
```
"""


def test_expressions_are_found_in_sentences_captions_and_marks():
    found = steps_of(read_myst_markdown_notebook(TEXT, add_source_map=True), TEXT)
    assert [step.source for step in found] == ["a + 1", "b", "bool(c == 1)", "d = 2", "d"]
    assert [step.kind == "cell" for step in found] == [False, False, False, True, False]
    assert found[3].line == 17
