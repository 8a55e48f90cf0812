"""Tables generated from the sources of all chapters: claims, minutes of exercises, objectives.

The role ``{claim}`label` `` shows the kind of a sentence's claim, and ``{ledger}`` lists all
claims; `byhand.checking.claims` reads ``book/claims.toml`` and refuses a claim without a kind.
``{exercise-times}`` lists the exercises by difficulty, with their minutes. ``{objectives}`` lists
the aims of the lessons' chapters, with the section, exercise, question, exam item and slide of each
(`byhand.checking.objectives`). The directives produce Markdown, so that every output format can
show them.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.parsers.rst.states import Inliner
from sphinx import addnodes
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from byhand.chapter.lead_and_aims import MINUTES_BY_DIFFICULTY, level_of
from byhand.checking import objectives
from byhand.checking.blocks import EXERCISES
from byhand.checking.claims import (
    FILE,
    KINDS,
    Claim,
    claim_labels,
    kind_of_numbers,
    read_claims,
    sentences,
)
from byhand.checking.sources import Page
from byhand.contents import read_contents
from byhand.reading.values import RoleResult

logger = logging.getLogger(__name__)

COUNTED = ("computed", "quoted", "given")


def claims_of(env: BuildEnvironment) -> dict[str, Claim]:
    """Return the book's claims by label."""
    file = Path(env.srcdir).parent / FILE
    env.note_dependency(str(file))
    return {claim.label: claim for claim in read_claims(file.read_text(encoding="utf-8"))}


def claim_role(
    name: str, rawtext: str, text: str, line: int, inliner: Inliner, *_: object
) -> RoleResult:
    """Show the kind of a claim, with a link to its row in the ledger."""
    env = inliner.document.settings.env
    claim = claims_of(env).get(text)
    target = addnodes.pending_xref(
        rawtext, nodes.inline("", claim.kind if claim else "claim"), refdomain="std", reftype="ref",
        reftarget=f"claim-{text}", refexplicit=True, refwarn=True, refdoc=env.docname,
    )  # fmt: skip
    return [nodes.inline("", "", target, classes=["claim-mark", "screen-only"])], []


class GeneratedTable(SphinxDirective):
    """A directive that generates tables from the chapters' sources."""

    def run(self) -> list[nodes.Node]:
        """Return the parsed Markdown of the lines."""
        return self.parse_text_to_nodes("\n".join(self.lines()))

    def lines(self) -> Iterator[str]:
        """Yield lines of Markdown."""
        raise NotImplementedError

    def chapters(self) -> Iterator[Page]:
        """Yield the source of each chapter."""
        for name in read_contents(Path(self.env.srcdir).parent / "_toc.yml").chapters:
            file = self.env.doc2path(name)
            self.env.note_dependency(file)
            yield Page(f"{name}.md", Path(file).read_text(encoding="utf-8"))


class Ledger(GeneratedTable):
    """``{ledger}``: every claim with its kind and evidence, and the kinds of all numbers."""

    def lines(self) -> Iterator[str]:
        """Yield a table of the claims and a table of the numbers."""
        claims = claims_of(self.env)
        for kind, meaning in KINDS.items():
            yield from (f"**{kind}**", f": {meaning}", "")
        yield from list_table_head("The claims of the book", ":name: tbl-claims", ":widths: 5 2 3",
                         looks="words stacked")  # fmt: skip
        yield from list_table_row("Claim", "Kind, page", "Evidence")
        counted = [*list_table_head("Sentences with numbers, by how each number is written")]
        counted += list_table_row("Page", *COUNTED)
        for page in self.chapters():
            for claim in (claims[label] for label, _ in claim_labels(page) if label in claims):
                yield from (f"* - (claim-{claim.label})=", f"    {claim.says}")
                yield from (f"  - {claim.kind}, {{doc}}`/{page.name}`", f"  - {claim.evidence}")
            kinds = Counter(kind_of_numbers(sentence) for _, sentence in sentences(page))
            if any(kinds[kind] for kind in COUNTED):
                counted += list_table_row(
                    f"{{doc}}`/{page.name}`", *(str(kinds[kind]) for kind in COUNTED)
                )
        yield from ("```", "", *counted, "```")


class ExerciseTimes(GeneratedTable):
    """``{exercise-times}``: a row per chapter, a column per difficulty, and the minutes."""

    def lines(self) -> Iterator[str]:
        """Yield the table."""
        heads = [f"{level} ({time} min each)" for level, time in MINUTES_BY_DIFFICULTY.items()]
        yield from list_table_head("Exercises by difficulty")
        yield from list_table_row("Chapter", *heads, "Minutes")
        for page in self.chapters():
            found: dict[int, list[str]] = {level: [] for level in (0, *MINUTES_BY_DIFFICULTY)}
            for block in (block for block in page.blocks if block.name in EXERCISES):
                label = block.options["label"][1]
                level = level_of(block.options.get("class", (0, ""))[1].split())
                found[level].append(f"{{numref}}`{{number}} <{label}>`")
                if not level:
                    place = (page.name, block.line)
                    logger.warning("exercise %s has no difficulty", label, location=place)
            if any(found.values()):
                cells = (", ".join(found[level]) for level in MINUTES_BY_DIFFICULTY)
                minutes = f"{{exercise-minutes}}`{page.name}`"
                yield from list_table_row(f"{{doc}}`/{page.name}`", *cells, minutes)
        yield "```"


class Objectives(GeneratedTable):
    """``{objectives}``: the objectives of some lessons, and what belongs to each."""

    option_spec: ClassVar[dict[str, Any]] = {
        "lessons": directives.unchanged_required,
        "name": directives.unchanged_required,
    }

    def lines(self) -> Iterator[str]:
        """Yield the table."""
        first, last = (int(word) for word in self.options["lessons"].split())
        file = Path(self.env.srcdir).parent / objectives.FILE
        self.env.note_dependency(str(file))
        found = objectives.read_objectives(file.read_text(encoding="utf-8"))
        pages = {page.name: page for page in self.chapters()}
        yield from list_table_head(
            f"Objectives of lessons {first} to {last}",
            f":name: {self.options['name']}",
            ":widths: 26 16 12 12 16 18",
            looks="words stacked",
        )
        yield from list_table_row(
            "You can", "Section", "Exercise", "Question", "Exam item", "Slide"
        )
        for number, (name, entries) in enumerate(found.items(), 1):
            if not first <= number <= last:
                continue
            page = pages[name]
            questions = objectives.questions_of(page)
            for aim, entry in zip(objectives.aims_of(page), entries, strict=True):
                yield from list_table_row(
                    f"{number}\\. {aim}",
                    f"{{ref}}`{entry.section}`",
                    _exercise_link(entry.exercise),
                    _question_link(name, entry.question, questions),
                    _exercise_link(entry.exam) if entry.exam.startswith("ex-") else entry.exam,
                    entry.slide,
                )
        yield "```"


def _exercise_link(label: str) -> str:
    return label if label == objectives.NONE else f"{{numref}}`Exercise {{number}} <{label}>`"


def _question_link(name: str, label: str, labels: Sequence[str]) -> str:
    if label == objectives.NONE:
        return label
    number = labels.index(label) + 1
    return f'<a href="{name}.html#quiz-{label}">Question {number}</a>'


DIRECTIVES = {
    "ledger": Ledger,
    "exercise-times": ExerciseTimes,
    "objectives": Objectives,
}


def list_table_head(caption: str, *options: str, looks: str = "words") -> Iterator[str]:
    """Yield the first lines of a list table."""
    yield from (f"```{{list-table}} {caption}", ":header-rows: 1", f":class: {looks}", *options, "")


def list_table_row(*texts: str) -> Iterator[str]:
    """Yield the lines of a row of a list table."""
    for sign, text in zip(("* -", *["  -"] * len(texts)), texts, strict=False):
        yield f"{sign} {text}".rstrip()
