"""Build a small book with the book's own extension for quizzes, as files in a folder."""

import io
import re
from contextlib import contextmanager

import pytest
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

from byhand.document import Document
from byhand.print_book.book import printable_page
from byhand.print_book.references import names_of
from byhand.print_book.writer import Writer
from byhand.reading import results

CONFIG = {
    "extensions": ["myst_nb", "byhand.quiz"],
    "html_theme": "basic",
    "myst_enable_extensions": ["dollarmath"],
    "nb_execution_mode": "off",
    "nb_custom_formats": {".md": ["nbformat.reads", {"as_version": 4}, False]},
    "nb_mime_priority_overrides": [
        ("html", "text/markdown", 0),
        ("typst", "text/markdown", 0),
        ("typst", "image/svg+xml", 1),
        ("typst", "text/plain", 2),
    ],
    "nb_render_markdown_format": "myst",
    "project": "Test",
    "source_suffix": {".md": "myst-nb"},  # Sphinx keeps what an earlier test said of its default
}


def build(folder, pages, builder="html", **config):
    """Write pages, build them all, and return the warnings."""
    source = folder / "book"
    source.mkdir(exist_ok=True)
    for name, text in pages.items():
        (source / f"{name}.md").write_text(text, encoding="utf-8")
    with application(folder, builder, **config) as (app, warnings):
        app.build()
    return re.sub(r"\x1b\[[0-9;]*m", "", warnings.getvalue())


def on_paper(folder, name="index", **config):
    """Return a built HTML page as the printing program reads it."""
    with application(folder, "typst", **config) as (app, _):
        page = printable_page(app.env, app.builder, name, Document())
        return Writer(app.env, name, 1, set(names_of(name, page)), {}).write(page)


@contextmanager
def application(folder, builder, **config):
    """Yield a Sphinx application with the book's own extension, and its warnings."""
    config = CONFIG | config
    config["extensions"] = [*config["extensions"], "byhand.reading", "byhand.print_book"]
    warnings = io.StringIO()
    with patch_docutils(), docutils_namespace(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(results, "ROOT", folder)
        patch.setattr(results, "KEPT", folder / "results")
        app = Sphinx(
            folder / "book",
            None,
            folder / builder,
            folder / "doctrees",
            builder,
            confoverrides=config,
            status=None,
            warning=warnings,
        )
        yield app, warnings
