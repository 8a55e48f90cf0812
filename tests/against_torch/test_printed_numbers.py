"""Every number of a built page that is of a run, or worked by its chapter, is PyTorch's too.

An explorer says what its run starts from; tables, numbers of sentences, and boxes for an answer of
one's own say of which run they are, and of which of its places. The rest is worked by a program of
each chapter.
"""

import importlib
import re
from pathlib import Path

import pytest
import torch
from printed_pages import PAGES, Page, flat, text_of, with_class
from worked_by_torch import (
    EXAMPLES,
    example,
    explorer,
    face,
    line,
    place,
    run,
    run_of,
    tensor,
    with_sums,
)

NAMES = [
    str(file.relative_to(PAGES).with_suffix(""))
    for file in sorted(PAGES.rglob("*.html"))
    if "_static" not in file.parts
]
PROGRAMS = [file.stem for file in sorted((Path(__file__).parent / "chapters").glob("*.py"))]
CHAPTERS = {
    name: program
    for program in PROGRAMS
    for name in NAMES
    if name in {f"{part}/{program.replace('_', '-')}" for part in ("mechanism", "transformer")}
}
FEWEST = {"data-stage=": 300, "data-at=": 350, 'data-as="line': 250, 'data-as="s': 130}
FEWEST |= {"<mha-your-turn id=": 45}
"""How many tables, numbers and boxes all pages mark, of each kind."""

BOX = re.compile(
    r"(?P<kind>turn|row)-(?P<run>.+?)-(?P<stage>query|key|value|scores|scaled-scores|weights"
    r"|head-outputs|output|fed|placed)(?P<place>(-\d+)+)(?P<more>-and-\d+-more)?"
)
"""What the name of a box says: its run, its stage, its place from 1, and whether it asks more."""

CALLS = {"exp": torch.exp, "sqrt": torch.sqrt, "abs": torch.abs}
JOINS = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "/": lambda a, b: a / b, "max": max,
}  # fmt: skip


def worth(formula, s):
    """Return what a formula of places, operations behind their operands, comes to."""
    stack = []
    for part in formula.split():
        if part in CALLS:
            stack.append(CALLS[part](stack.pop()))
        elif part in JOINS:
            right = stack.pop()
            stack.append(JOINS[part](stack.pop(), right))
        else:
            stack.append(place(s, part) if part[0].isalpha() else tensor(float(part)))
    return stack.pop()


def read_explorers(page):
    for element, data in page.started():
        s = page.runs[data["name"]] = run_of(data)
        keys = "turned_key" if "angles" in s else "key"
        first, stages = face(s, data["focus"] or 0, keys=keys), explorer(s)
        for table in element.iter("table"):
            at = table.get("data-stage"), int(table.get("data-head") or 0)
            page.compare(at, cells_of(table), stages[at] if at[0] else first)


def cells_of(table):
    return " ; ".join(text_of(cell, without="printed") for cell in table.iter("td"))


def run_named(page, name):
    if name not in page.runs and (EXAMPLES / f"{name}.toml").is_file():
        page.runs[name] = run(example(name))
    return page.runs.get(name)


def read_tables(page):
    for table in page.root.iter("table"):
        name, _, at = (table.get("data-at") or "").partition(" ")
        s = run_named(page, name)
        if s is None:
            continue
        stage, *head = at.split(".")
        array = s[stage][int(head[0])] if head else s[stage]
        if stage == "weights":
            array = with_sums(array)
        if stage == "exponentials":
            array = torch.cat([array, s["row_sums"][int(head[0])][:, None]], 1)
        page.compare((name, at), cells_of(table), array)


def read_sentences(page):
    for element in page.root.iter("data"):
        s, how = run_named(page, element.get("data-of")), element.get("data-as") or ""
        formula, text = element.get("value"), text_of(element)
        if s is None or "|" in formula:  # of several runs
            continue
        if how.startswith("line"):
            page.compare(formula, text, line(s, formula))
        if how.startswith(("percent", "short", "shown")):
            page.compare(formula, text, [worth(formula, s)])


def read_boxes(page):
    """Compare what a box gives, and its worked answer; of several numbers the first."""
    for box in page.root.iter("mha-your-turn"):
        found = BOX.fullmatch(box.get("id"))
        s = run_named(page, found["run"]) if found else None
        if s is None:
            continue
        stage = found["stage"].replace("-", "_")
        place = [int(n) - 1 for n in found["place"][1:].split("-")][-s[stage].ndim :]
        last = range(s[stage].shape[-1]) if found["kind"] == "row" else [place.pop()]
        answers = [line(s, ".".join(map(str, (stage, *place, i)))) for i in last]
        (worked,) = box.iter("details")
        text = " ; ".join(text_of(p) for p in list(worked.iter("p"))[: len(answers)])
        in_percent = [answers[-1][-1]] if text.endswith("%") else []
        page.compare(box.get("id"), text, [answers, in_percent])
        if not found["more"]:
            given = " ; ".join(map(text_of, with_class(box, "span", "your-turn-given")))
            page.compare(box.get("id"), given, given_for(s, stage, place, flat(answers[0])))


def given_for(s, stage, place, numbers):
    """Return what a box gives for an answer of which the printed line has some numbers."""
    if stage == "weights":
        return s["scaled_scores"][tuple(place)]
    if stage in ("scaled_scores", "placed"):
        return numbers[:-1]
    factors = numbers[: 2 * max(1, len(numbers) // 3)]
    return factors[::2], factors[1::2]


@pytest.mark.parametrize("name", NAMES)
def test_printed_numbers(name):
    page = Page(name)
    read_explorers(page)
    if name in CHAPTERS:
        importlib.import_module(f"chapters.{CHAPTERS[name]}").numbers(page)
    read_tables(page)
    read_sentences(page)
    read_boxes(page)
    assert not page.wrong, "\n".join(page.wrong)


def test_no_chapter_and_no_kind_of_them_is_passed_over():
    assert PAGES.is_dir(), f"{PAGES} is not there; run scripts/build.py first"
    assert list(CHAPTERS.values()) == PROGRAMS
    html = "".join((PAGES / f"{name}.html").read_text(encoding="utf-8") for name in NAMES)
    for mark, fewest in FEWEST.items():
        assert html.count(mark) >= fewest, mark
