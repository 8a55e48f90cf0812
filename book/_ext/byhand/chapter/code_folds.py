"""Keep code out of the reading path: it folds away at its section's end, and print leaves it out.

Open stays the code of a cell tagged ``teaches``, up to its first assertion: nothing that checks
stands in a reader's way. All other code of a section, with that of its subsections under their
titles, stands in one fold below the last of its words. A solution, or whatever else holds cells,
and a section that is folded away have a fold of their own. A fold is a ``<details>`` of the page,
so it opens without a script; `code.ts` adds the switch that opens all.
"""

import ast

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.application import Sphinx

from byhand.chapter.section_folds import beginning_of, html

TEACHES = "tag_teaches"  # the class that MyST-NB gives to cells with the tag


def fold_code(app: Sphinx, doctree: nodes.document, name: str) -> None:
    """Fold code on the screen and leave it out on paper, after MyST-NB has hidden what tags ask."""
    folded: dict[nodes.Element, list[nodes.Element]] = {}
    for cell in parts_of_cells(doctree, "cell_code"):
        parent = cell.parent
        code = take(cell)
        if code is not None and app.builder.format == "html":
            folded.setdefault(parent, []).append(code)
    folds: dict[nodes.Element, list[nodes.Element]] = {}
    for parent, blocks in folded.items():
        home = home_of(parent)
        title = [title_of(parent)] if parent is not home else []
        folds[home] = [*folds.get(home, ()), *title, *blocks]
    for home, blocks in folds.items():
        place = last_part(home)
        end = end_of_words(place)
        place[end:end] = fold(blocks)


def fold(content: list[nodes.Element]) -> list[nodes.Element]:
    """Return code in a fold, whose summary says what is inside."""
    blocks = (block for one in content for block in one.findall(nodes.literal_block))
    inside = contents("\n".join(block.astext() for block in blocks))
    more = f'<span class="code-fold-content">: {inside}</span>' if inside else ""
    begin = html(f'<details class="code-fold"><summary>In code{more}</summary>\n')
    return [begin, *content, html("</details>\n")]


def parts_of_cells(node: nodes.Element, kind: str) -> list[nodes.container]:
    """Return what MyST-NB marks as a cell, or a part of one."""
    return [one for one in node.findall(nodes.container) if one.get("nb_element") == kind]


def take(cell: nodes.container) -> nodes.container | None:
    """Take out of a cell the code that is not to stand open; what has nothing else goes too."""
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


def home_of(parent: nodes.Element) -> nodes.Element:
    """Return in whose fold the code of an element stands: a subsection's in that of its section."""
    return home_of(parent.parent) if is_subsection(parent) else parent


def is_subsection(node: nodes.Element) -> bool:
    """Tell whether a node is a part of a page's section, and is not folded away itself."""
    around = [node, node.parent, node.parent and node.parent.parent]
    return all(isinstance(one, nodes.section) for one in around) and not beginning_of(node)


def last_part(home: nodes.Element) -> nodes.Element:
    """Return the last subsection of an element, where its words end, or the element itself."""
    parts = [child for child in home.children if is_subsection(child)]
    return last_part(parts[-1]) if parts else home


def title_of(section: nodes.Element) -> nodes.paragraph:
    """Return a subsection's title as a line above its code."""
    (title,) = (child for child in section.children if isinstance(child, nodes.title))
    words = [child.deepcopy() for child in title.children]
    return nodes.paragraph("", "", *words, classes=["code-fold-part"])


def end_of_words(parent: nodes.Element) -> int:
    """Return where an element's own words end: before the first section inside of it."""
    sections = (i for i, child in enumerate(parent.children) if isinstance(child, nodes.section))
    return next(sections, len(parent.children))


def split_at_first_assertion(code: nodes.container) -> nodes.container | None:
    """Cut code off before its first assertion, and return the rest, if there is any."""
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
    """Give a block of code another text."""
    block.rawsource = text
    block[:] = [nodes.Text(text)]


def is_assertion(node: ast.AST) -> bool:
    """Tell whether something in code is an assertion."""
    return isinstance(node, ast.Assert)


def contents(code: str) -> str:
    r"""Return in a few words what code holds besides the way to its result.

    Examples
    --------
    >>> contents("from mha import softmax\nassert True\nassert softmax")
    'set-up, 2 checks'
    >>> contents("1 + 1")
    ''
    """
    parsed = ast.parse(code)
    words = ["set-up"] if isinstance(parsed.body[0], ast.Import | ast.ImportFrom) else []
    checks = sum(map(is_assertion, ast.walk(parsed)))
    if checks:
        words.append("1 check" if checks == 1 else f"{checks} checks")
    return ", ".join(words)
