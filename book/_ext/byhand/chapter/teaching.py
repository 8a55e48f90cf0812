"""What the page for teachers says of time: computed from the pages, not typed.

The role ``{minutes}`mechanism/softmax` `` shows how long a chapter takes to read, and
``{exercise-minutes}`` how long its exercises take. ``{exercise-times}`` lists the exercises of all
chapters by difficulty, with their minutes.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.parsers.rst.states import Inliner
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

from byhand.chapter.difficulty import HARDEST, level_of
from byhand.chapter.openings import MINUTES_BY_DIFFICULTY
from byhand.checking.solutions import EXERCISES
from byhand.checking.sources import Page
from byhand.contents import read_contents

logger = logging.getLogger(__name__)


class page_minutes(nodes.Inline, nodes.Element):  # noqa: N801 (docutils names nodes so)
    """The minutes of a page, which may not have been read yet."""


def minutes(
    name: str, rawtext: str, text: str, lineno: int, inliner: Inliner, *_: object
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Show how long a page takes to read, or its exercises to work."""
    return [page_minutes(rawtext, page=text, of=name)], []


class ShowMinutes(SphinxPostTransform):
    """Put in the minutes, which are known of every page by now."""

    default_priority = 400

    def run(self, **kwargs: Any) -> None:
        """Change the document in place."""
        for node in list(self.document.findall(page_minutes)):
            found = self.env.metadata.get(node["page"], {}).get(node["of"])
            if found is None:
                logger.warning("there is no page %s", node["page"], location=node)
            node.replace_self(nodes.Text(str(found)))


class ExerciseTimes(Directive):
    """``{exercise-times}``: a row a chapter, a column a difficulty, the minutes beside."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        env = self.state.document.settings.env
        lines = table("Exercises by difficulty")
        heads = [f"{level} ({time} min each)" for level, time in MINUTES_BY_DIFFICULTY.items()]
        lines += row("Chapter", *heads, "Minutes")
        for name in read_contents(Path(env.srcdir).parent / "_toc.yml").chapters:
            env.note_dependency(env.doc2path(name))
            text = Path(env.doc2path(name)).read_text(encoding="utf-8")
            found = sorted(exercises(Page(f"{name}.md", text)))
            for level, line, label in found:
                if not level:
                    logger.warning("exercise %s has no difficulty", label, location=(name, line))
            if found:
                worked = f"{{exercise-minutes}}`{name}`"
                lines += row(f"{{doc}}`/{name}`", *cells(found), worked)
        node = nodes.Element()
        self.state.nested_parse(StringList([*lines, "```"], ""), self.content_offset, node)
        return node.children


def exercises(page: Page) -> Iterator[tuple[int, int, str]]:
    """Yield the exercises of a page: difficulty, line, label."""
    for block in page.blocks:
        if block.name in EXERCISES:
            _, classes = block.options.get("class", (0, ""))
            yield level_of(classes.split()), block.line, block.options["label"][1]


def cells(found: list[tuple[int, int, str]]) -> list[str]:
    """Return the cells of a chapter: its exercises by difficulty."""
    return [
        ", ".join(
            f"{{numref}}`{{number}} <{label}>`" for level, _, label in found if level == wanted
        )
        for wanted in range(1, HARDEST + 1)
    ]


def table(caption: str, *options: str, looks: str = "words") -> list[str]:
    """Return how a list table of words begins."""
    return [f"```{{list-table}} {caption}", ":header-rows: 1", f":class: {looks}", *options, ""]


def row(*texts: str) -> list[str]:
    """Return a row of a list table."""
    return [f"{'* -' if i == 0 else '  -'} {text}".rstrip() for i, text in enumerate(texts)]


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    app.add_role("minutes", minutes)
    app.add_role("exercise-minutes", minutes)
    app.add_directive("exercise-times", ExerciseTimes)
    app.add_post_transform(ShowMinutes)
