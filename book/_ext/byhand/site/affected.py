"""The pages that an edit affects: those that were read anew, or all of them.

A page is written from its own source and from Sphinx's environment. In the environment each page
leaves what others show of it: its titles, numbers, labels, minutes and names. If the environment is
the same as before the edit, all other pages are the same, and the build keeps them as they are.
"""

import pickle
from collections.abc import Iterable
from operator import attrgetter
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

# Parts of the environment that no edit of a page changes; the trees of the pages; notes of reading.
PRIVATE = frozenset(
    {"app", "config", "domains", "doctreedir", "events", "project", "settings", "srcdir"}
    | {"_pickled_doctree_cache", "_write_doc_doctree_cache", "ref_context", "temp_data"}
    | {"all_docs", "dependencies", "sphinx_exercise_gated_registry", "sphinx_exercise_node_order"}
)
# A page's metadata that no other page shows.
OWN = frozenset({"lead", "source_map", "sources", "wordcount"})


class Affected:
    """The comparison of the environment before and after pages are read."""

    def __init__(self) -> None:
        self.before = ""

    def describe_before(self, app: Sphinx, env: BuildEnvironment, *_: object) -> None:
        """Describe the environment of the last build."""
        self.before = describe_shared(env)

    def pages(self, app: Sphinx, env: BuildEnvironment) -> Iterable[str]:
        """Return the pages to write besides those that were read."""
        is_same = self.before == describe_shared(env)
        # Only Sphinx knows which image files and downloads belong to a page.
        is_kept = is_same and not (env.images or env.dlfiles)
        return {app.config.root_doc} if is_kept else env.found_docs


def describe_shared(env: BuildEnvironment) -> str:
    """Return a text of all that pages may show of others, the same for equal environments."""
    shared = {name: value for name, value in vars(env).items() if name not in PRIVATE}
    shared["metadata"] = {page: _shown_elsewhere(notes) for page, notes in env.metadata.items()}
    # The list is in the order in which the pages were read.
    cited = env.domaindata.get("cite", {})
    by_page = sorted(cited.get("citation_refs", ()), key=attrgetter("docname"))
    shared["domaindata"] = env.domaindata | {"cite": cited | {"citation_refs": by_page}}
    return describe(shared)


def _shown_elsewhere(notes: dict[str, Any]) -> dict[str, Any]:
    """Return the metadata of a page that other pages may show, without lines of its source."""
    shown = {name: value for name, value in notes.items() if name not in OWN}
    slugs = {slug: found[1:] for slug, found in notes.get("myst_slugs", {}).items()}
    return shown | {"myst_slugs": slugs}


def describe(value: Any) -> str:
    """Return a text that is the same for equal values, without the lines of named tuples.

    Examples
    --------
    >>> describe({"b": {2, 1}, "a": [True, "text"]})
    "{'a': [True, 'text'], 'b': {1, 2}}"
    """
    if isinstance(value, nodes.Node):
        return value.pformat()
    if isinstance(value, dict):
        pairs = (f"{key!r}: {describe(one)}" for key, one in value.items())
        return f"{{{', '.join(sorted(pairs))}}}"
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(map(describe, value)))}}}"
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return describe({**value._asdict(), "line": None})
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(describe, value))}]"
    if value is None or isinstance(value, str | int | float):
        return repr(value)
    return repr(pickle.dumps(value))


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    affected = Affected()
    app.connect("env-before-read-docs", affected.describe_before, priority=0)
    app.connect("env-get-updated", affected.pages, priority=900)  # when the numbers are assigned
