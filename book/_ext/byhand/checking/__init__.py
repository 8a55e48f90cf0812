"""Checks of the sources that need no execution: each finding has a file and a line.

The build, the command `check.py` and the tests call `check_sources`. Each module checks one
subject. Functions that take a page yield its faults; `check` takes the project and yields
findings that depend on several files. Nothing here executes a cell or needs
Sphinx.
"""

import tomllib
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path

from byhand.checking import (
    bank,
    blocks,
    chapters,
    claims,
    data,
    decks,
    elements,
    files,
    inline_marks,
    marking_schemes,
    normal_form,
    objectives,
    patterns,
    references,
    structure,
    symbols,
)
from byhand.checking.shapes import ShapeError
from byhand.checking.sources import Finding, Project

PAGE_CHECKS = (
    *(blocks.syntax_errors, blocks.unknown_options, blocks.long_cells),
    *(blocks.unpaired_ends, blocks.folded_answers),
    *(claims.numbers_without_citation, claims.numbers_without_kind),
    *(patterns.forbidden_content, patterns.avoided_phrases),
    *(symbols.repeated_symbols, symbols.conflicting_symbols),
    *(references.footnote_faults, references.unnamed_exercises, references.included_files),
    *(inline_marks.unpaired_marks, inline_marks.unpaired_displays, inline_marks.empty_marks),
    *(elements.unclosed_elements, structure.structure_faults, chapters.figure_labels),
)
PROJECT_CHECKS = (
    bank,
    blocks,
    chapters,
    claims,
    data,
    decks,
    files,
    marking_schemes,
    objectives,
    patterns,
)


def check_sources(
    root: Path,
    pages: Iterable[str] = (),
    *,
    draft: bool = False,
    unchanged: Collection[str] = (),
) -> list[Finding]:
    """Return all findings in the sources of a project, sorted by file and line.

    With `pages`, such as "mechanism/softmax", only the findings in these pages are returned. Checks
    that need several files read all sources, since a label may be defined on any page. With
    `draft`, a chapter may lack exercises, questions and marking schemes, and need not have the form
    in which Jupyter saves it, so that a build shows an unfinished chapter. Files of pages in
    `unchanged` had no finding at their last check; the checks that depend on one page alone omit
    them.

    Raises
    ------
    ValueError
        If there is no page of a given name.
    """
    project = Project(root)
    names = {page.name for page in project.pages_and_decks}
    wanted = {f"book/{name}.md" for name in pages}
    for name in pages:
        if name not in names:
            raise ValueError(f"{name} is no page; one of {', '.join(sorted(names))} is wanted")
    others = {page.file for page in project.pages_and_decks if wanted and page.file not in wanted}
    skipped = others.union(unchanged)
    findings: set[Finding] = set()
    for module in PROJECT_CHECKS:
        if draft and module in (bank, chapters, marking_schemes):
            continue
        with suppress(tomllib.TOMLDecodeError, ShapeError):  # `data` reports it, with its line
            findings |= set(module.check(project))
    for page in project.pages_and_decks:
        if page.file in skipped:
            continue
        findings |= {
            Finding(page.file, *fault) for check_page in PAGE_CHECKS for fault in check_page(page)
        }
    for page in project.pages:
        if page.file in skipped:
            continue
        faults = [*data.front_matter_faults(page)]
        if not draft and not faults:
            faults = [*normal_form.not_normal(page)]
        findings |= {Finding(page.file, *fault) for fault in faults}
    return sorted(finding for finding in findings if not wanted or finding.file in wanted)


def fix_sources(root: Path, pages: Iterable[str] = ()) -> list[str]:
    """Write pages in the form in which Jupyter saves them, and return the files that changed.

    With `pages`, only these are written. A page with a fault in its front matter or in the header
    of a cell is not changed.
    """
    changed = []
    names = [*pages]
    for page in Project(root).pages:
        if (names and page.name not in names) or any(data.front_matter_faults(page)):
            continue
        if (text := normal_form.normal_form(page)) != page.text:
            (root / page.file).write_text(text, encoding="utf-8", newline="\n")
            changed.append(page.file)
    return changed


__all__ = ["Finding", "check_sources", "fix_sources"]
