"""The loader of templates, which names the file and the line of an error."""

import traceback
from typing import Any

from jinja2 import TemplateError
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.jinja2glue import BuiltinTemplateLoader

from byhand.digests import ROOT

FOLDER = ROOT / "book" / "_templates"


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    app.connect("config-inited", use_own_loader)


def use_own_loader(app: Sphinx, config: Any) -> None:
    """Let Sphinx use the loader of this module."""
    config.template_bridge = f"{__name__}.{TemplateLoader.__name__}"


class TemplateLoader(BuiltinTemplateLoader):
    """Sphinx's loader of templates, with errors that name the file and the line."""

    # The type of the abstract class says None.
    def render(self, template: str, context: dict[str, Any]) -> str:  # type: ignore[override]
        """Return the text of a template; an error in one of ours has its place."""
        try:
            return str(super().render(template, context))
        except TemplateError as error:
            frames = traceback.extract_tb(error.__traceback__)
            ours = [frame for frame in frames if frame.filename.startswith(f"{FOLDER}/")]
            if not ours:
                raise
            place = f"{ours[-1].filename}:{ours[-1].lineno}"
            raise ExtensionError(f"{place}: this template fails: {error}") from error
