"""Build a small book with the book's own extension for quizzes, as files in a folder."""

import io
import re

import pytest
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

from byhand.reading import results

CONFIG = {
    "extensions": ["myst_nb", "byhand.quiz"],
    "html_theme": "basic",
    "myst_enable_extensions": ["dollarmath"],
    "nb_execution_mode": "off",
    "nb_custom_formats": {".md": ["nbformat.reads", {"as_version": 4}, False]},
    "nb_mime_priority_overrides": [
        ("html", "text/markdown", 0),
        ("latex", "text/markdown", 0),
        ("latex", "image/svg+xml", 1),
    ],
    "nb_render_markdown_format": "myst",
    "project": "Test",
    "source_suffix": {".md": "myst-nb"},  # Sphinx keeps what an earlier test said of its default
}


def build(folder, pages, *, builder="html", **config):
    """Write pages, build them all, and return the warnings."""
    source = folder / "book"
    source.mkdir(exist_ok=True)
    config = CONFIG | config
    config["extensions"] = [*config["extensions"], "byhand.reading"]
    for name, text in pages.items():
        (source / f"{name}.md").write_text(text, encoding="utf-8")
    warnings = io.StringIO()
    with patch_docutils(), docutils_namespace(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(results, "ROOT", folder)
        patch.setattr(results, "KEPT", folder / "results")
        app = Sphinx(
            source,
            None,
            folder / builder,
            folder / "doctrees",
            builder,
            confoverrides=config,
            status=None,
            warning=warnings,
        )
        app.build()
    return re.sub(r"\x1b\[[0-9;]*m", "", warnings.getvalue())
