"""Printed books: the contents of a PDF by poppler and pypdf, and a small book to print."""

import re
import subprocess

from small_project import copy_without_pages, write_pages

PAGES = {
    "index": """\
# A small book

```{code-cell}
from mha.runs.rounding import shown
third = 1 / 3
```

A third is {eval}`shown(third)`.
""",
    "alpha": r"""
(alpha)=
# Alpha

## Entropy of alpha

```{code-cell}
from mha.views import figures, tables
row = [0.75, 0.25]
```

```{math}
:label: alpha-sum
\begin{align}a &= b + u \\ d &= e\end{align}
```

The **entropy** is in {eq}`alpha-sum`, as {cite:t}`vaswani2017` have it.

```{code-cell}
tables.array_table([row], rows=["cat"], columns=["a", "b"], caption="Two numbers", name="tbl-two")
```

```{code-cell}
---
mystnb:
  figure:
    name: fig-bars
    caption: Two bars
---
figures.vector_bars([row], rows=["cat"], symbol="w")
```

```{exercise}
:label: ex-alpha
What is left?
```

```{solution} ex-alpha
:class: dropdown
A quarter is left, see {numref}`tbl-two`.
```
""",
    "beta": """
(beta)=
# Beta

```{lead}
One sentence about beta.
```

```{aims}
- say what beta is
```

## Entropy of beta

```{code-cell}
from mha.views import figures, tables
wide = [[0.1234] * 9]
```

As in {ref}`alpha`, by {eq}`alpha-sum`, {numref}`tbl-two`,
{numref}`fig-bars` and {numref}`ex-alpha`.

```{code-cell}
names = [f"column {i}" for i in range(9)]
tables.array_table(wide, rows=["dog"], columns=names, caption="A wide table", name="tbl-wide")
```

```{exercise}
:label: ex-beta
:class: difficulty-2
What is right?
```

```{solution} ex-beta
:class: dropdown
Nothing is right in {ref}`alpha`.
```

## Deeper: why beta

Because of the aardvark: {numref}`tbl-all`.

## All numbers of *beta*

No capybara.

```{code-cell}
tables.array_table([[0.25]], rows=["dog"], columns=["a"], caption="None of it", name="tbl-none")
```

Cited words.

```{code-cell}
tables.array_table([[0.5]], rows=["dog"], columns=["a"], caption="All of it", name="tbl-all")
```

## Afterwards

The end.
""",
}
TOC = """\
format: jb-book
root: index
parts:
  - caption: First part
    numbered: 2
    chapters:
      - file: alpha
  - caption: Second part
    numbered: 2
    chapters:
      - file: beta
  - caption: Back matter
    chapters:
      - file: bibliography
"""


def small_book(project):
    """Write a project with a book of two chapters in two parts."""
    copy_without_pages(project)
    (project / "_toc.yml").write_text(TOC, encoding="utf-8")
    write_pages(project, PAGES)
    bibliography = "# Bibliography\n\n## Papers\n\n```{bibliography}\n```\n"
    (project / "book" / "bibliography.md").write_text(bibliography, encoding="utf-8")
    return project


def text_of(pdf, *options):
    """Return the text of a PDF, one string per page."""
    done = poppler("pdftotext", "-enc", "UTF-8", *options, str(pdf), "-")
    return done.removesuffix("\f").split("\f")


def poppler(*command):
    """Return the output of one of poppler's programs."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def squeezed(text):
    """Return a text without whitespace and soft hyphens, which a PDF does not preserve."""
    return re.sub(r"\s+", "", text).replace("\u00ad", "")


def fonts(pdf):
    """Return each font's name, type, and whether it is embedded and has a Unicode map."""
    row = re.compile(r"^(\S+)\s+(.*?)\s+(yes|no)\s+(yes|no)\s+(yes|no)\s+\d+\s+\d+\s*$")
    found = [row.match(line) for line in poppler("pdffonts", str(pdf)).splitlines()[2:]]
    return [(m[1], m[2], m[3] == "yes", m[5] == "yes") for m in found if m]


def bookmarks(outline):
    """Yield the bookmarks of an outline."""
    for entry in outline:
        yield from bookmarks(entry) if isinstance(entry, list) else [entry]
