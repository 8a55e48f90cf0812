"""What the cells and expressions of a deck give: as pages run, and kept as theirs."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from byhand.checking.decks import Deck
from byhand.checking.sources import EVAL
from byhand.digests import ROOT
from byhand.press.pdf import PressError
from byhand.reading.pages import faults
from byhand.reading.results import Results, compute, kept, made_from
from byhand.reading.steps import Step, one_line

SECONDS = 60  # a step may take


Given = dict[tuple[int, str], dict[str, Any]]
"""The forms of the values of a deck's expressions, by the block that they stand in, the title's
being -1, and by themselves in one line."""


def run(decks: list[Deck], side_by_side: int = 2) -> list[Given]:
    """Return what each deck gives.

    Raises
    ------
    PressError
        Every fault, with file and line.
    """
    now = made_from()
    with ThreadPoolExecutor(side_by_side) as pool:
        done = list(pool.map(lambda deck: _results(deck, now), decks))
    wrong = [
        f"{deck.page.file}:{line}: {said}"
        for deck, results in zip(decks, done, strict=True)
        for line, said in _faults(results)
    ]
    if wrong:
        raise PressError("\n".join(wrong))
    return [
        {where: outputs[-1]["data"] for where, outputs in results.values().items()}
        for results in done
    ]


def _results(deck: Deck, now: str) -> Results:
    page, steps = Path(ROOT / deck.page.file), list(dict.fromkeys(steps_of(deck)))
    if not steps:
        return Results(now, [])
    return kept(page, steps, now) or compute(page, steps, now, SECONDS)


def steps_of(deck: Deck) -> Iterator[Step]:
    """Yield what runs, in its order: cells, what slides show, and expressions in their text."""
    slides = list(deck.slides)
    for i in range(-1, len(deck.blocks)):
        if i >= 0 and deck.blocks[i].name == "code-cell":
            cell = deck.blocks[i]
            line = cell.content[0][0] if cell.content else cell.line
            yield Step("cell", i, line, cell.code)
        for slide in (slide for slide in slides if slide.block == i):
            for line, source in slide.shows:
                yield Step("expression", i, line, one_line(source))
            texts = [(slide.line, slide.title)]
            texts += [item for piece in (*slide.body, *slide.notes) for item in piece.items]
            for line, text in texts:
                for source in EVAL.findall(text):
                    yield Step("expression", i, line, one_line(source))


def _faults(results: Results) -> Iterator[tuple[int, str]]:
    yield from results.faults
    for number, said in results.errors.items():
        yield results.steps[number].line, f"{results.steps[number].source}: {said}"
    for step, outputs in zip(results.steps, results.outputs, strict=False):
        for said in faults(outputs, {}):
            yield step.line, said
        if step.kind == "expression" and not outputs and not results.errors:
            yield step.line, f"{step.source} gives nothing; a value is wanted"
