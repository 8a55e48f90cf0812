"""Build a small book with the book's own extension for quizzes, as files in a folder."""

import io
import re

from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

CONFIG = {
    "extensions": ["myst_nb", "byhand.quiz"],
    "html_theme": "basic",
    "myst_enable_extensions": ["dollarmath"],
    "nb_eval_name_regex": ".*",
    "nb_mime_priority_overrides": [
        ("html", "text/markdown", 0),
        ("latex", "text/markdown", 0),
        ("latex", "image/svg+xml", 1),
    ],
    "nb_render_markdown_format": "myst",
    "project": "Test",
    "source_suffix": {".md": "myst-nb"},  # Sphinx keeps what an earlier test said of its default
}


def build(folder, pages, *, builder="html", execute="off", **config):
    """Write pages, build them all, and return the warnings."""
    source = folder / "source"
    source.mkdir(exist_ok=True)
    for name, text in pages.items():
        (source / f"{name}.md").write_text(text, encoding="utf-8")
    warnings = io.StringIO()
    with patch_docutils(), docutils_namespace():
        app = Sphinx(
            source,
            None,
            folder / builder,
            folder / "doctrees",
            builder,
            confoverrides=CONFIG | {"nb_execution_mode": execute} | config,
            status=None,
            warning=warnings,
        )
        app.build()
    return re.sub(r"\x1b\[[0-9;]*m", "", warnings.getvalue())
