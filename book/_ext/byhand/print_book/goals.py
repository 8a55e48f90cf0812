"""Where references lead: a page and an identifier on it, which is empty for the page itself.

And the number that is there, as the reading of the book left it.
"""

from collections.abc import Iterator

from docutils import nodes
from sphinx.environment import BuildEnvironment

from byhand.digests import ROOT

Goal = tuple[str, str]


def name_of(goal: Goal) -> str:
    """Return the name of a place in the whole document."""
    return "#".join(goal)


def names_of(page: str, root: nodes.Element) -> Iterator[Goal]:
    """Yield the names of everything in a tree."""
    if isinstance(root, nodes.document):
        yield page, ""
    for node in root.findall(nodes.Element):
        for identifier in node.get("ids", []):
            yield page, identifier
        if "label" in node:
            yield page, node["label"]


def goal_of(node: nodes.Element, page: str) -> Goal | None:
    """Return where a reference on a page leads to inside the book, None for another node."""
    if not isinstance(node, nodes.reference):
        return None
    if node.get("refid"):
        return page, node["refid"]
    if node.get("refuri", "").startswith("%"):
        page, _, identifier = node["refuri"][1:].partition("#")
        return page, identifier
    return None


def source_of(node: nodes.Node | None) -> str:
    """Return the file and the line at which a node, or the one around it, begins."""
    while node is not None and not (node.source and node.line):
        node = node.parent
    return f"{str(node.source).removeprefix(f'{ROOT}/')}:{node.line}" if node is not None else ""


def place_of(node: nodes.Node) -> str:
    """Return the same as a message begins."""
    source = source_of(node)
    return f"{source}: " if source else ""


def number_of(env: BuildEnvironment, page: str, figtype: str, node: nodes.Element) -> str:
    """Return the number of a figure, table, equation or exercise, or nothing if it has none."""
    numbers = env.toc_fignumbers.get(page, {}).get(figtype, {})
    number = next((numbers[i] for i in node.get("ids", []) if i in numbers), ())
    return ".".join(map(str, number or ()))


def number_of_section(env: BuildEnvironment, page: str, section: nodes.Element) -> str:
    """Return the number of a section or of a page, or nothing if it has none."""
    numbers = env.toc_secnumbers.get(page, {})
    if isinstance(section.parent, nodes.document):
        return number_of_chapter(env, page)
    number = next((numbers[f"#{i}"] for i in section["ids"] if f"#{i}" in numbers), ())
    return ".".join(map(str, number or ()))


def number_of_chapter(env: BuildEnvironment, page: str) -> str:
    """Return a chapter's number, or nothing if it has none."""
    return ".".join(map(str, env.toc_secnumbers.get(page, {}).get("") or ()))
