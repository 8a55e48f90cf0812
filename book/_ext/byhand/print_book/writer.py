"""Write the assembled book as LaTeX, with the numbers that the pages have."""

import math
import re
from typing import Any

from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.writers.latex import LaTeXTranslator
from sphinx_exercise.nodes import solution_node

from byhand.print_book import numbers
from byhand.print_book.style import MARGIN, MEASURE
from byhand.temml_math import equation_tex

POINTS_A_CHARACTER = 4.7  # in a table, on the average of letters and digits
POINTS_BETWEEN_COLUMNS = 12
NARROW, WIDE = (72.27 / 25.4 * length for length in (MEASURE, MEASURE + MARGIN))  # points
LINES_A_PAGE = 38  # a table with more of them may break between pages
CODE_COLUMNS = 78  # longer lines of code do not fit into the measure
# What Sphinx gives a cell over several rows or columns: its share of the page.
OWN_SHARE = re.compile(r"\\begin\{varwidth\}\[t\]\{\\sphinxcolwidth\{\d+\}\{\d+\}\}")
SMALLEST = 0.72  # a table that would have to shrink below this is set sideways


class BookTranslator(LaTeXTranslator):
    """Sphinx's LaTeX writer, except where the book's pages look otherwise.

    Numbers of figures, tables and equations are written out, not counted by LaTeX: they are the
    pages' own numbers, also in a reader that leaves chapters out.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.env: BuildEnvironment = self.builder.env

    # ---- Headings ----

    def visit_title(self, node: nodes.title) -> None:
        if isinstance(node.parent, solution_node):  # its heading holds a link, as text does
            self.body.append("{")
            self.context.append("}\n")
            return
        level = self.sectionlevel
        numbered = not isinstance(node.parent, nodes.section) or self._is_numbered(node.parent)
        super().visit_title(node)
        if not numbered and level in (1, 2):
            command = self.body[-1]
            plain, own = ((r"\chapter", r"\bookchapter"), (r"\section", r"\booksection"))[level - 1]
            self.body[-1] = command.replace(plain, own, 1)
        if isinstance(node.parent, nodes.section):
            self.body.insert(len(self.body) - 1, place_comment(node))

    def _is_numbered(self, section: nodes.section) -> bool:
        return self.curfilestack[-1] in self.env.toc_secnumbers and "unnumbered" not in section

    # ---- Figures and tables ----

    def _write_number(self, figtype: str, node: nodes.Element) -> None:
        number = numbers.of(self.env, self.curfilestack[-1], figtype, node)
        if number:
            self.body.append(rf"\renewcommand{{\the{figtype}}}{{{number}}}" + "\n")

    def visit_figure(self, node: nodes.figure) -> None:
        self.body.append("\n")
        self._write_number("figure", node)
        super().visit_figure(node)

    def visit_table(self, node: nodes.table) -> None:
        self.body.append("\n")
        self._write_number("table", node)
        columns = column_widths(node)
        if lines_of(node, columns) > LINES_A_PAGE and "longtable" not in node["classes"]:
            node["classes"].append("longtable")
        if "longtable" in node["classes"] and sum(columns) > NARROW:
            self.next_table_colspec = shares(columns)
        elif "numbers" in node["classes"] and "words" not in node["classes"]:
            self.next_table_colspec = "l" + "r" * (len(columns) - 1)
        super().visit_table(node)

    def depart_table(self, node: nodes.table) -> None:
        is_long = self.table is not None and self.table.is_longtable()
        super().depart_table(node)
        if is_long:
            self.body[-2] = f"{{\\footnotesize\n{self.body[-2]}}}"
        if "words" in node["classes"] or "numbers" not in node["classes"] or is_long:
            if natural_width(node) > NARROW:
                self.body[-2] = in_margin(self.body[-2])
            return
        text = self.body[-2]
        text = re.sub(
            r"\\begin\{tabulary\}\{\\linewidth\}\[t\](\{.*?\})",
            r"\\begin{bookwidetable}\\begin{tabular}[t]\1",
            text,
            count=1,
        ).replace(r"\end{tabulary}", r"\end{tabular}\end{bookwidetable}")
        text = OWN_SHARE.sub(r"\\begin{varwidth}[t]{\\bookwide}", text)
        if WIDE / natural_width(node) < SMALLEST:
            text = rf"\begin{{landscape}}{text}\end{{landscape}}"
        self.body[-2] = text

    # ---- Code ----

    def visit_literal_block(self, node: nodes.literal_block) -> None:
        start = len(self.body)
        try:
            super().visit_literal_block(node)
        except nodes.SkipNode:
            lines = node.astext().splitlines()
            if self.table is None and max(map(len, lines), default=0) > CODE_COLUMNS:
                self.body[start:] = [in_margin("".join(self.body[start:]))]
            raise

    # ---- Mathematics ----

    def visit_math_block(self, node: nodes.math_block) -> None:
        tex = inside_equation(equation_tex(node.astext()))
        number = numbers.of(self.env, node.get("docname", ""), "displaymath", node)
        if node.get("label") and number:
            label = f"equation:{node['docname']}:{node['label']}"
            head = rf"\begin{{equation}}\tag{{{number}}}\label{{{label}}}"
            self.body.append(f"\n{head}\n{tex}\n\\end{{equation}}\n")
        else:
            self.body.append(f"\n\\begin{{equation*}}\n{tex}\n\\end{{equation*}}\n")
        raise nodes.SkipNode

    # ---- References ----

    def visit_reference(self, node: nodes.reference) -> None:
        super().visit_reference(node)
        target = self._target(node)
        if target and self.context[-1]:
            self.context[-1] = "}}}" + self._page(target)

    def visit_number_reference(self, node: nodes.Element) -> None:
        target = self.idescape(self._target(node))
        text = self.escape(node.astext()).replace(" ", "~")
        self.body.append(rf"\hyperref[{target}]{{{text}}}")
        self.body.append(self._page(self._target(node)))
        raise nodes.SkipNode

    def _target(self, node: nodes.Element) -> str:
        """Return the LaTeX label that a reference leads to."""
        uri = node.get("refuri", "")
        if node.get("refid"):
            return f"{self.curfilestack[-1]}:{node['refid']}"
        if not uri.startswith("%"):
            return ""
        return uri[1:].replace("#", ":") if "#" in uri else uri[1:] + "::doc"

    def _page(self, target: str) -> str:
        moving = self.in_title or self.in_caption or self.table is not None
        return "" if moving else rf"\bookpage{{{self.idescape(target)}}}"

    # ---- Places, so that an error of LaTeX can be led back to a chapter and a line ----

    def visit_paragraph(self, node: nodes.paragraph) -> None:
        super().visit_paragraph(node)
        self.body.append(place_comment(node) if self.table is None else "")

    # ---- The bibliography, where its page stands ----

    def visit_thebibliography(self, node: nodes.Element) -> None:
        # No page parts a work.
        small = r"\footnotesize\raggedright\interlinepenalty10000"
        self.body.append(f"\n\\begin{{bookcolumns}}{{2}}{small}\\begin{{description}}\n")

    def depart_thebibliography(self, node: nodes.Element) -> None:
        self.body.append("\n\\end{description}\\end{bookcolumns}\n")

    def visit_citation(self, node: nodes.citation) -> None:
        label = self.encode(node[0].astext())
        target = f"cite.{node['docname']}:{node['ids'][0]}"  # where sphinxcontrib.bibtex links to
        self.body.append(rf"\item[{{[{label}]}}]\hypertarget{{{target}}}{{}}")


def visit_exercise(self: BookTranslator, node: nodes.Element) -> None:
    """Begin an exercise: a box with the title above."""
    self.body.append(own_label(self, node))
    self.visit_admonition(node)


def depart_exercise(self: BookTranslator, node: nodes.Element) -> None:
    """End an exercise."""
    self.depart_admonition(node)


def visit_solution(self: BookTranslator, node: nodes.Element) -> None:
    """Begin a solution: a heading without a box, since a solution may be pages long."""
    self.body.append(own_label(self, node) + r"\bookanswer")


def depart_solution(self: BookTranslator, node: nodes.Element) -> None:
    """End a solution."""
    self.body.append("\n\n")


def own_label(self: BookTranslator, node: nodes.Element) -> str:
    """Return the LaTeX label of an exercise or a solution."""
    label = self.idescape(f"{self.curfilestack[-1]}:{node['label']}")
    return rf"\phantomsection\label{{{label}}}"


def inside_equation(tex: str) -> str:
    r"""Return TeX for use inside an equation, where ``align`` and its kin may not stand.

    Examples
    --------
    >>> inside_equation(r"\begin{align*}a &= b\end{align*}")
    '\\begin{aligned}a &= b\\end{aligned}'
    """
    tex = re.sub(r"\\(begin|end)\{(align|gather)\*?\}", r"\\\1{\2ed}", tex)
    return re.sub(r"\\(begin|end)\{split\}", r"\\\1{aligned}", tex)


def in_margin(text: str) -> str:
    """Return LaTeX that may use the margin beside the measure."""
    return f"\n\\begin{{bookwideblock}}\n{text}\n\\end{{bookwideblock}}\n"


def natural_width(table: nodes.table) -> float:
    """Return about how many points a table is wide before anything shrinks it."""
    return sum(column_widths(table))


def column_widths(table: nodes.table) -> list[float]:
    """Return about how many points each column is wide where nothing wraps."""
    longest = [max(map(len, column)) for column in zip(*cells(table), strict=False)]
    return [length * POINTS_A_CHARACTER + POINTS_BETWEEN_COLUMNS for length in longest]


def cells(table: nodes.table) -> list[list[str]]:
    """Return the text of a table's cells, row by row; rows of titles over columns are left out."""
    wanted = table.next_node(nodes.tgroup)["cols"]
    rows = (
        [entry.astext() for entry in row.findall(nodes.entry)] for row in table.findall(nodes.row)
    )
    below = ([*[""] * (wanted - len(row) == 1), *row] for row in rows)  # a corner two lines high
    return [row for row in below if len(row) == wanted]


def lines_of(table: nodes.table, columns: list[float]) -> int:
    """Return about how many lines a table takes where its columns share the page's width."""
    squeeze = min(1.0, WIDE / sum(columns))
    return sum(
        max(
            math.ceil(len(cell) * POINTS_A_CHARACTER / (width * squeeze))
            for cell, width in zip(row, columns, strict=False)
        )
        for row in cells(table)
    )


def shares(columns: list[float]) -> str:
    """Return LaTeX's columns that wrap, each with its share of the page's width.

    A long column gives way to the short ones: ten times the text gets three times the width.
    """
    parts = [round(10 * math.sqrt(width)) for width in columns]
    return "".join(
        rf">{{\raggedright\arraybackslash}}\X{{{part}}}{{{sum(parts)}}}" for part in parts
    )


def place_comment(node: nodes.Node) -> str:
    """Return a TeX comment that says which line of which chapter follows."""
    source, line = node.source, node.line
    if not source or not line:
        return ""
    return f"%PLACE {source}:{line}\n"
