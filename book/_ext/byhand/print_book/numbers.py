"""The numbers that pages have, as the reading of the book left them."""

from docutils import nodes
from sphinx.environment import BuildEnvironment


def of(env: BuildEnvironment, page: str, figtype: str, node: nodes.Element) -> str:
    """Return the number of a figure, table, equation or exercise, or nothing if it has none."""
    numbers = env.toc_fignumbers.get(page, {}).get(figtype, {})
    number = next((numbers[i] for i in node.get("ids", []) if i in numbers), ())
    return ".".join(map(str, number or ()))


def of_section(env: BuildEnvironment, page: str, section: nodes.Element) -> str:
    """Return the number of a section or of a page, or nothing if it has none."""
    numbers = env.toc_secnumbers.get(page, {})
    if isinstance(section.parent, nodes.document):
        return of_chapter(env, page)
    number = next((numbers[f"#{i}"] for i in section["ids"] if f"#{i}" in numbers), ())
    return ".".join(map(str, number or ()))


def of_chapter(env: BuildEnvironment, page: str) -> str:
    """Return a chapter's number, or nothing if it has none."""
    return ".".join(map(str, env.toc_secnumbers.get(page, {}).get("") or ()))
