"""The numbers that pages have, as the reading of the book left them."""

from docutils import nodes
from sphinx.environment import BuildEnvironment


def of(env: BuildEnvironment, page: str, figtype: str, node: nodes.Element) -> str:
    """Return the number of a figure, table, equation or exercise, or nothing if it has none."""
    ids = node.get("ids") or [""]
    number = env.toc_fignumbers.get(page, {}).get(figtype, {}).get(ids[0], ())
    return ".".join(map(str, number))


def of_chapter(env: BuildEnvironment, page: str) -> str:
    """Return a chapter's number, or nothing if it has none."""
    return ".".join(map(str, env.toc_secnumbers.get(page, {}).get("", ())))
