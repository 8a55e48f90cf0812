"""Folds of code: one at the end of each section; print omits code.

A cell tagged ``teaches`` stays open up to its first assertion. All other code of a section and its
subsections is in one fold at the end of the section's text, with the subsections' titles. A
solution or other container of cells, and a folded section, have their own fold. A fold is a
``<details>``, so it opens without a script; `code.ts` adds the button that opens all.
"""

import ast

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.application import Sphinx

from byhand.chapter.section_folds import fold_kind, raw_html

TEACHES = "tag_teaches"  # the class that MyST-NB gives to cells with the tag


def fold_code(app: Sphinx, doctree: nodes.document, name: str) -> None:
    """Fold code on the screen and omit it on paper, after MyST-NB has hidden tagged cells."""
    folded: dict[nodes.Element, list[nodes.Element]] = {}
    for cell in parts_of_cells(doctree, "cell_code"):
        parent = cell.parent
        code = take_code(cell)
        if code is not None and app.builder.format == "html":
            folded.setdefault(parent, []).append(code)
    folds: dict[nodes.Element, list[nodes.Element]] = {}
    for parent, blocks in folded.items():
        home = element_with_fold(parent)
        title = [title_of(parent)] if parent is not home else []
        folds[home] = [*folds.get(home, ()), *title, *blocks]
    for home, blocks in folds.items():
        place = last_subsection(home)
        end = first_section_index(place)
        place[end:end] = fold(blocks)


def fold(content: list[nodes.Element]) -> list[nodes.Element]:
    """Return code in a fold, whose summary describes it."""
    blocks = (block for one in content for block in one.findall(nodes.literal_block))
    inside = describe_code("\n".join(block.astext() for block in blocks))
    contents = f'<span class="code-fold-content">: {inside}</span>' if inside else ""
    begin = raw_html(f'<details class="code-fold"><summary>In code{contents}</summary>\n')
    return [begin, *content, raw_html("</details>\n")]


def parts_of_cells(node: nodes.Element, kind: str) -> list[nodes.container]:
    """Return the nodes that MyST-NB marks as cells, or as one kind of part of a cell."""
    return [one for one in node.findall(nodes.container) if one.get("nb_element") == kind]


def take_code(cell: nodes.container) -> nodes.container | None:
    """Remove the code that folds away from a cell, and return it; also remove an empty cell."""
    sources = parts_of_cells(cell, "cell_code_source")
    if not sources:  # a tag has removed it
        return None
    (code,) = sources
    for own in [node for node in cell.children if isinstance(node, HideCodeCellNode)]:
        if code in own.children:  # MyST-NB's own fold, where a tag asks for one
            own.replace_self(code)
    if TEACHES in cell["classes"]:
        return split_at_first_assertion(code)
    cell.remove(code)
    if not cell.children:
        cell.parent.remove(cell)
    return code


def element_with_fold(parent: nodes.Element) -> nodes.Element:
    """Return the element whose fold contains the code of `parent`."""
    return element_with_fold(parent.parent) if is_subsection(parent) else parent


def is_subsection(node: nodes.Element) -> bool:
    """Return whether a node is a section inside a page's section, and is not folded."""
    around = [node, node.parent, node.parent and node.parent.parent]
    return all(isinstance(one, nodes.section) for one in around) and not fold_kind(node)


def last_subsection(home: nodes.Element) -> nodes.Element:
    """Return the last subsection of an element, or the element itself."""
    parts = [child for child in home.children if is_subsection(child)]
    return last_subsection(parts[-1]) if parts else home


def title_of(section: nodes.Element) -> nodes.paragraph:
    """Return a subsection's title as a line above its code."""
    (title,) = (child for child in section.children if isinstance(child, nodes.title))
    words = [child.deepcopy() for child in title.children]
    return nodes.paragraph("", "", *words, classes=["code-fold-part"])


def first_section_index(parent: nodes.Element) -> int:
    """Return the index of an element's first section, where its own text ends."""
    sections = (i for i, child in enumerate(parent.children) if isinstance(child, nodes.section))
    return next(sections, len(parent.children))


def split_at_first_assertion(code: nodes.container) -> nodes.container | None:
    """Return code up to its first assertion, and the rest if there is any."""
    (block,) = code.findall(nodes.literal_block)
    text = block.astext()
    asserting = (one for one in ast.parse(text).body if any(map(is_assertion, ast.walk(one))))
    first = next(asserting, None)
    if first is None:
        return None
    lines = text.splitlines(keepends=True)
    rest: nodes.container = code.deepcopy()
    (block_of_rest,) = rest.findall(nodes.literal_block)
    set_text(block_of_rest, "".join(lines[first.lineno - 1 :]))
    set_text(block, "".join(lines[: first.lineno - 1]).rstrip())
    return rest


def set_text(block: nodes.literal_block, text: str) -> None:
    """Replace the text of a code block."""
    block.rawsource = text
    block[:] = [nodes.Text(text)]


def is_assertion(node: ast.AST) -> bool:
    """Return whether a node of parsed code is an assertion."""
    return isinstance(node, ast.Assert)


def describe_code(code: str) -> str:
    r"""Return a short description of code, for the summary of its fold.

    Examples
    --------
    >>> describe_code("from mha import softmax\nassert True\nassert softmax")
    'set-up, 2 checks'
    >>> describe_code("1 + 1")
    ''
    """
    parsed = ast.parse(code)
    words = ["set-up"] if isinstance(parsed.body[0], ast.Import | ast.ImportFrom) else []
    checks = sum(map(is_assertion, ast.walk(parsed)))
    if checks:
        words.append("1 check" if checks == 1 else f"{checks} checks")
    return ", ".join(words)
