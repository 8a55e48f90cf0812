"""Blocks on paper: every number of every head, under the number that the page gives the block."""

import re

import printed_book
import pytest
from printed_book import build, squeezed, text_of

from mha import load_example, tables, trace

pytestmark = pytest.mark.pdf
PAGE = """
(beta)=
# Beta

```{code-cell}
from mha import load_example, trace
from mha.views import blocks
small, large = trace(load_example("the-cat-sat")), trace(load_example("apple"))
```

See {numref}`tbl-small-2` and {numref}`tbl-large`.

```{code-cell}
blocks.stage_block(small, "weights", name="tbl-small", labels=["tbl-small-1", "tbl-small-2"])
```

```{code-cell}
blocks.stage_block(large, "weights", name="tbl-large")
```

```{code-cell}
blocks.stage_block(small, "query", "key", "value", name="tbl-qkv")
```

```{code-cell}
blocks.weighted_block(large, name="tbl-weighted")
```
"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """Return a small book with blocks, built and printed."""
    project = printed_book.small_book(tmp_path_factory.mktemp("book"))
    # The first chapter cites what stood in the second.
    printed_book.write(project, "beta", PAGE)
    done = build(project, "pdf")
    assert done.returncode == 0, done.stderr
    return project


def pages(project):
    return text_of(project / "_build" / "pdf" / "attention-by-hand.pdf", "-layout")


def lines(project):
    """Return the lines of the book, their words one space apart."""
    return [" ".join(line.split()) for page in pages(project) for line in page.splitlines()]


def test_heads_stand_beside_each_other_as_far_as_the_paper_goes(printed):
    run = trace(load_example("the-cat-sat"))
    both = zip(*(tables.stage_table(run, "weights", head=h).rows for h in range(2)), strict=True)
    found = lines(printed)
    for first, second in both:
        assert " ".join([*first, *second[1:]]) in found
    assert any(line.endswith("Head 1 Head 2") for line in found)


def test_every_number_of_the_wide_blocks_is_printed(printed):
    text = squeezed("".join(pages(printed)))
    run = trace(load_example("apple"))
    for head in range(run.num_heads):
        for table in (
            tables.stage_table(run, "weights", head=head),
            tables.weighted_values_table(run, head=head),
        ):
            for _, *numbers in table.rows:
                assert squeezed("".join(numbers)) in text


def test_a_block_has_one_number_and_its_parts_are_cited_by_it(printed):
    text = " ".join(lines(printed))
    assert re.search(r"See Table 2\.1.{0,12} and Table 2\.2", text)
    captions = re.findall(r"Table 2\.(\d): ([A-Z]\w+)", text)
    assert captions == [("1", "Attention"), ("2", "Attention"), ("3", "Queries"), ("4", "Weighted")]


def test_weights_are_tinted_and_nothing_runs_over_the_edge(printed):
    source = printed / "_build" / "print" / "attention-by-hand.typ"
    assert source.read_text(encoding="utf-8").count("fill: rgb(") == 2 * 9 + 3 * 25
    made = printed / "_build" / "pdf" / "attention-by-hand.pdf"
    edges = printed_book.poppler("pdftotext", "-bbox", str(made), "-")
    assert max(map(float, re.findall(r'xMax="([\d.]+)"', edges))) < 595 - 50
