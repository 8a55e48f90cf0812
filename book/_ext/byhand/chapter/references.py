"""Look up numbered references without reading their page again for each.

Sphinx loads the whole page that a reference leads to, each time, only to see what kind of thing it
leads to. A page here has hundreds of tables; keeping it takes half of the time off the writing. And
where a page refers to itself, it is there already.
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.domains.std import StandardDomain
from sphinx.environment import BuildEnvironment


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.add_domain(RememberingDomain, override=True)
    app.connect("doctree-read", forget)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def forget(app: Sphinx, doctree: nodes.document) -> None:
    """Remember a page no longer as it was before it was read just now."""
    domain = app.env.get_domain("std")
    assert isinstance(domain, RememberingDomain)
    if domain.remembering is not None:
        domain.remembering.pages.pop(app.env.docname, None)


class _Remembering:
    """An environment that loads each page once. Who looks up references changes no page."""

    def __init__(self, env: BuildEnvironment) -> None:
        self._env = env
        self.pages: dict[str, nodes.document] = {}
        self.here: nodes.document | None = None  # the page that is written

    def __getattr__(self, name: str) -> Any:
        return getattr(self._env, name)

    def get_doctree(self, docname: str) -> nodes.document:
        if self.here is not None and self.here["source"] == self._env.doc2path(docname):
            return self.here
        if docname not in self.pages:
            self.pages[docname] = self._env.get_doctree(docname)
        return self.pages[docname]


class RememberingDomain(StandardDomain):
    """Sphinx's own domain, with a memory while it looks up numbers."""

    remembering: _Remembering | None = None

    def _resolve_numref_xref(self, env: BuildEnvironment, *arguments: Any) -> Any:
        if self.remembering is None:
            self.remembering = _Remembering(env)
        reference = arguments[-2]
        self.remembering.here = reference.document
        return super()._resolve_numref_xref(self.remembering, *arguments)  # type: ignore[arg-type]
