"""Decks of slides: the structure of their sources, and its faults.

The deck of a chapter is the file ``NAME.slides.md`` in the same folder; `docs/writing.md` shows its
form.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from mdit_py_plugins.dollarmath import dollarmath_plugin

from byhand.checking.box_calls import STAGE_CALL
from byhand.checking.sources import EXPRESSION_OPTIONS, Block, Fault, Finding, Line, Page, Project

MIN_SLIDES, MAX_SLIDES = 12, 25
"""The fewest and the most slides of a deck, its title and each answer counted."""
MAX_TITLE_LENGTH = 60  # characters
NUM_PARTS = {"slide": 2, "question": 3}
"""The number of parts of a block between lines of hyphens: body, answer and notes."""
OPTIONS = {"slide": {"minutes", "shows"}, "question": {"minutes", "shows", "reveals"}}
ENDS = re.compile(r"[.?!:)][*”’]*$")
LINE_WITH_VALUE = re.compile(r"[^`$]*\{eval\}`[^`]+`")
VALUE_AT_END = re.compile(r"(\{eval\}`[^`]+`|\$[^$]+\$)[*.]*$")
EXCLUDED_SECTIONS = re.compile(r"^## (?:Deeper: |All numbers|Exercises)")
TEXT_KINDS = ("paragraph", "bullets", "numbers")
"""Kinds of pieces that are text."""
OBJECT_KINDS = ("values", "formula", "code")
"""Kinds of pieces that are the object of a slide."""
KINDS_OF_NODES = {
    "bullet_list": "bullets",
    "ordered_list": "numbers",
    "math_block": "formula",
    "fence": "code",
}
"""The kinds by the names of nodes in Markdown's parser; "paragraph" is the name of both."""
MARKDOWN = MarkdownIt("commonmark").use(dollarmath_plugin)
INPUT_STAGES = {"embeddings", "w_q", "w_k", "w_v", "w_o"}


@dataclass(frozen=True)
class Piece:
    """One paragraph, list, formula or code block of a slide."""

    kind: str  # one of `TEXT_KINDS` or `OBJECT_KINDS`
    items: tuple[Line, ...]  # with marks, such as ``*cat*``; a list has one per entry

    @property
    def line(self) -> int:
        """The number of its first line."""
        return self.items[0][0]


@dataclass(frozen=True)
class Slide:
    """One slide: a title, a text, and at most one object such as a figure or formula."""

    kind: str  # ``title``, ``slide``, ``question`` or ``answer``
    block: int  # the index of its block in the source, from 0
    line: int
    title: str
    body: tuple[Piece, ...] = ()
    minutes: int = 0
    shows: tuple[Line, ...] = ()  # the expression for the object, if there is one
    notes: tuple[Piece, ...] = ()

    @property
    def object_count(self) -> int:
        """The number of objects on the slide."""
        return len(self.shows) + sum(piece.kind in OBJECT_KINDS for piece in self.body)


@dataclass(frozen=True)
class Deck:
    """The source of a chapter's slides."""

    page: Page

    @property
    def chapter(self) -> str:
        """The name of the chapter's page."""
        return self.page.name.removesuffix(".slides")

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Cells, slides and questions, in their order."""
        return tuple(b for b in self.page.blocks if b.name == "code-cell" or b.name in NUM_PARTS)

    @cached_property
    def title(self) -> str:
        """The chapter's title."""
        return next((text[2:] for text in self.page.lines if text.startswith("# ")), "")

    @cached_property
    def slides(self) -> tuple[Slide, ...]:
        """The slides, the title first; each question is followed by its answer."""
        first = self.blocks[0].line if self.blocks else len(self.page.lines) + 1
        lines = list(enumerate(self.page.lines, 1))[: first - 1]
        begin = next((number for number, text in lines if text.startswith("# ")), 0)
        opening = Slide("title", -1, max(begin, 1), self.title, parse_pieces(lines[begin:]))
        found = (
            slide
            for i, b in enumerate(self.blocks)
            if b.name in NUM_PARTS
            for slide in _slides_of(i, b)
        )
        return (opening, *found)


def read_decks(project: Project) -> list[Deck]:
    """Return the decks of a project."""
    return [Deck(page) for page in project.decks]


def _slides_of(i: int, block: Block) -> Iterator[Slide]:
    body, *others = split_at_hyphens(block)
    notes = parse_pieces(others[-1]) if others else ()
    minutes = block.options.get("minutes", (0, ""))[1]
    count = int(minutes) if minutes.isdecimal() else 0
    expressions = {key: (block.options[key],) for key in EXPRESSION_OPTIONS if key in block.options}
    title, shows = block.argument.strip(), expressions.get("shows", ())
    yield Slide(block.name, i, block.line, title, parse_pieces(body), count, shows, notes)
    if block.name == "question" and len(others) == 2:
        line = others[0][0][0] if others[0] else block.line
        yield Slide(
            "answer", i, line, title, parse_pieces(others[0]), shows=expressions.get("reveals", ())
        )


def split_at_hyphens(block: Block) -> list[list[Line]]:
    """Return a block's lines, split at each line of hyphens."""
    found: list[list[Line]] = [[]]
    for number, text in block.content:
        if text.strip() == "---":
            found.append([])
        else:
            found[-1].append((number, text))
    return found


def parse_pieces(lines: list[Line]) -> tuple[Piece, ...]:
    """Return the pieces of some Markdown.

    A piece that a slide cannot contain has the parser's name as its kind.
    """
    if not lines:
        return ()
    first = lines[0][0]
    tree = SyntaxTreeNode(MARKDOWN.parse("\n".join(text for _, text in lines)))
    found = []
    for node in tree.children:
        kind = KINDS_OF_NODES.get(node.type, node.type)
        parts = [p for p in node.walk() if p.type == "inline"] if kind in TEXT_KINDS else [node]
        items = tuple((first + (p.map or (0,))[0], p.content.strip("\n")) for p in parts)
        found.append(_as_values(Piece(kind, items)))
    return tuple(piece for piece in found if piece.items)


def _as_values(piece: Piece) -> Piece:
    """Return a bullet list whose items all end with a value as a piece of kind "values"."""
    is_values = piece.kind == "bullets" and all(
        LINE_WITH_VALUE.fullmatch(text) for _, text in piece.items
    )
    return Piece("values", piece.items) if is_values else piece


# ---- Faults ----


def check(project: Project) -> Iterator[Finding]:
    """Find faults in every deck."""
    chapters = {page.name: page for page in project.pages}
    for deck in read_decks(project):
        faults = [*_deck_faults(deck), *_missing_steps(deck, chapters.get(deck.chapter))]
        for i, block in enumerate(deck.blocks):
            if block.name in NUM_PARTS:
                faults += _block_faults(block)
                faults += [f for s in deck.slides if s.block == i for f in _slide_faults(s)]
        yield from (Finding(deck.page.file, line, message) for line, message in faults)


def _deck_faults(deck: Deck) -> Iterator[Fault]:
    count = len(deck.slides)
    if not MIN_SLIDES <= count <= MAX_SLIDES:
        yield 1, f"the deck has {count} slides; {MIN_SLIDES} to {MAX_SLIDES} are wanted"
    if [piece.kind for piece in deck.slides[0].body] != ["paragraph"]:
        yield deck.slides[0].line, "one sentence below the deck's title is wanted"


def _missing_steps(deck: Deck, chapter: Page | None) -> Iterator[Fault]:
    """Report the stages that the chapter computes by hand and the deck does not."""
    if chapter is None:
        yield (
            1,
            f"there is no chapter {deck.chapter}; a deck is named after its chapter",
        )
        return
    missing = hand_computed_stages(chapter) - set(STAGE_CALL.findall(deck.page.text))
    if missing:
        names = ", ".join(sorted(missing))
        yield 1, f"the chapter computes {names} by hand; a slide with each is wanted"


def hand_computed_stages(chapter: Page) -> set[str]:
    """Return the stages that a chapter computes by hand, outside folds and exercises."""
    sections = re.split(r"(?m)^(?=## )", chapter.text)
    text = "".join(section for section in sections if not EXCLUDED_SECTIONS.match(section))
    return set(STAGE_CALL.findall(text)) - INPUT_STAGES


def _block_faults(block: Block) -> Iterator[Fault]:
    for option in block.options:
        if option not in OPTIONS[block.name]:
            wanted = ", ".join(sorted(OPTIONS[block.name]))
            yield block.line, f"a {block.name} has no option {option}; {wanted} are known"
    if not block.options.get("minutes", (0, ""))[1].isdecimal():
        yield block.line, "the slide has no minutes; a line such as `:minutes: 2` is wanted"
    found = split_at_hyphens(block)
    if len(found) != NUM_PARTS[block.name]:
        wanted = " and the notes" if block.name == "slide" else ", the answer and the notes"
        yield block.line, f"the {block.name}{wanted} are wanted, with a line --- between"
    elif not parse_pieces(found[-1]):
        yield block.line, "the slide has no notes; text after a line --- is wanted"


def _slide_faults(slide: Slide) -> Iterator[Fault]:
    if not slide.title or slide.title.endswith(".") or len(slide.title) > MAX_TITLE_LENGTH:
        yield (
            slide.line,
            f"a title of at most {MAX_TITLE_LENGTH} characters without full stop is wanted",
        )
    if slide.object_count > 1:
        yield (
            slide.line,
            f"{slide.object_count} objects besides text; at most one is wanted",
        )
    if not slide.body and not slide.shows:
        yield slide.line, "the slide is empty; a text or an object is wanted"
    for piece in (*slide.body, *slide.notes):
        for line, text in piece.items if piece.kind in TEXT_KINDS else ():
            if not ENDS.search(text) and not VALUE_AT_END.search(text):
                yield line, f"“{text[-30:]}” has no full stop; a whole sentence is wanted"
        if piece.kind not in (*TEXT_KINDS, *OBJECT_KINDS):
            yield (
                piece.line,
                f"a slide cannot contain {piece.kind}; text, a list, a formula or code is wanted",
            )
