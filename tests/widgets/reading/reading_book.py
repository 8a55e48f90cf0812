"""A small book for the scripts of reading and exercises, and a reader who opens its pages."""

from accessible import violations
from book_site import ROOT, STATIC, copy_storage
from small_book import build

from byhand.site.policy import early_scripts
from mha import load_example, trace
from mha.widgets.assets import ARITHMETIC, BOXES, publish
from mha.widgets.boxes import your_turn, your_turns
from mha.widgets.build import build_query
from mha.widgets.rows import fill_row

SCRIPTS = ("reading.js", *ARITHMETIC, *BOXES, "lessons.js")
KEY = "attention-by-hand.progress"
RUN = trace(load_example("the-cat-sat"))
MADE = {
    "query": your_turn(RUN, "query", 0, 1),
    "percent": your_turn(RUN, "weights", 2, 1, head=1, percent=True),
    "output": your_turn(RUN, "head_outputs", 1, 0),
    "power": your_turn(RUN, "exponentials", 1, 1),
    "several": your_turns(RUN, "scores", [(0, 1), (0, 2, 1)]),
    "row": fill_row(RUN, "weights", 0),
    "build": build_query(trace(load_example("river-bank")), 2, {1: (0.9, 1)}, solution=(1, 1)),
}
STEPS = ["A worked page", "Queries", "Scores", "Head 1", "Head 2", "Questions", "Summary"]

WORKED = """# A worked page

```{read-in-steps}
```

An introduction with $x^2$.

## Queries

Read {ref}`of-head-2` later, and now work this number:

%(query)s

## Scores

A paragraph before.

### Head 1

%(percent)s

(of-head-2)=
### Head 2

The word aardvark stands here.

%(output)s

%(power)s

## Questions

```{quiz} one
Which is right, $a$ or $b$?

- [ ] The first, $a$ :: No: this is the **first** note.
- [x] The second, $b$ :: Yes, it is.
- [ ] Neither :: No: this is the third note.
```

```{quiz} several
:multiple:

Which are right?

- [x] This :: Yes, this.
- [ ] That :: No, not that.
- [x] Those :: Yes, those.
```

## Summary

The end.
"""
OTHER = (
    "# Another page\n\nWithout steps.\n\n```{quiz} two\nWhich?\n\n- [x] A :: a\n- [ ] B :: b\n```\n"
)
KINDS = """# Other kinds of questions

```{predict} doubled
What happens to the aardvark?

- [ ] It grows :: No: it does not grow.
- [x] It sleeps :: Yes, it sleeps.
```

The revealed sentence stands here.

%(several)s

%(row)s

%(build)s
"""
LONG = (
    "# A long page with a title that takes more than one line on a telephone\n\n"
    "```{read-in-steps}\n```\n\nThe beginning.\n\n## The one section\n\n"
    + "".join(
        f"Paragraph {i} says something. " + "It goes on and on. " * 30 + "\n\nIt leads on:\n\n"
        f"| table {i} | b |\n| --- | --- |\n" + "| 1 | 2 |\n" * 5 + "\n"
        for i in range(23)
    )
    + "The last words.\n"
)
INDEX = "# Index\n\n```{toctree}\nworked\nother\nlong\nkinds\n```\n"


def build_book(folder):
    """Build the small book with the book's theme, templates, style and scripts."""
    publish(folder / "html" / "_static")
    boxes = {name: made._repr_mimebundle_()["text/markdown"] for name, made in MADE.items()}
    pages = {"worked": WORKED % boxes, "kinds": KINDS % boxes}
    warnings = build(
        folder,
        pages | {"index": INDEX, "other": OTHER, "long": LONG},
        html_context={"early_scripts": early_scripts()},
        html_theme="sphinx_book_theme",
        html_static_path=[str(STATIC)],
        templates_path=[str(ROOT / "book" / "_templates")],
        html_css_files=["book.css", "boxes.css", "reading.css"],
        html_js_files=[(name, {"defer": "defer"}) for name in SCRIPTS],
        html_title="Test",
        html_theme_options={"show_navbar_depth": 1},
        mathjax_path="frame-around.js",
        language="en",
    )
    assert warnings == "", warnings


class Reader:
    """A reader whose pages share one browser context, and so one local storage."""

    def __init__(self, book, context, theme="light"):
        self.book, self.context = book, context
        self.requests, self.errors = [], []
        self.page = context.new_page()
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        self.page.add_init_script(
            f"try {{ localStorage.setItem('mode', '{theme}');"
            f" localStorage.setItem('theme', '{theme}'); }} catch (error) {{}}"
        )

    def open(self, name="worked", fragment=""):
        """Load a page, even if only the fragment of its address differs from the current page."""
        if self.page.url != "about:blank":
            copy_storage(self.page)
            self.page.goto("about:blank")
        self.page.goto((self.book / f"{name}.html").as_uri() + fragment)
        self.page.wait_for_load_state("load")
        return self.page

    def again(self):
        """Reload the current page without the fragment of its address."""
        copy_storage(self.page)
        self.page.evaluate("history.replaceState(null, '', location.pathname)")
        self.page.reload()
        return self.page

    def violations(self):
        return violations(self.page)


def box(page, name):
    """Return a box for a number by its name in `MADE`."""
    return page.locator(f"#{MADE[name].name}")


def answer(page, name, text):
    """Type an answer into a box and check it."""
    box(page, name).get_by_label("Your answer").fill(text)
    box(page, name).get_by_role("button", name="Check").click()


def choose(page, name, *options):
    """Choose options of a quiz and check them."""
    quiz = page.locator(f"#quiz-{name}")
    for option in options:
        quiz.get_by_label(option, exact=False).check()
    quiz.get_by_role("button", name="Check").click()


def badge(page, title):
    """Return the text beside a page's link in the table of contents."""
    return page.locator(f"nav.bd-links li:has(> a:has-text('{title}')) .progress-badge")


def read_in_steps(page):
    """Start reading the page in steps."""
    page.get_by_role("button", name="Read in steps").click()
