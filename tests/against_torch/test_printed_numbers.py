"""Every number of a built page that comes from a run or a chapter's program is PyTorch's too.

An explorer has the inputs of its run as data. Tables, numbers in sentences, and answer boxes have
the name of a run and a place in it. All other numbers are computed by one program per chapter,
whose functions `compare_...` take the page.
"""

import importlib
import json
import re
from pathlib import Path

import pytest
import torch
from printed_lines import explorer_table, line, place, stage_table, with_sums
from printed_pages import PAGES, Page, flatten, has_class, texts_of, with_class
from worked_by_torch import EXAMPLES, Run, causal, example, tensor

NAMES = [
    str(file.relative_to(PAGES).with_suffix(""))
    for file in sorted(PAGES.rglob("*.html"))
    if "_static" not in file.parts
]
CHAPTERS = {
    f"{file.parent.name}/{file.stem.replace('_', '-')}": f"{file.parent.name}.{file.stem}"
    for file in (Path(__file__).parent / "chapters").glob("*/*.py")
}
FEWEST = {"data-stage=": 300, "data-at=": 350, 'data-as="line': 250, 'data-as="s': 130}
FEWEST |= {"<mha-your-turn id=": 45}
"""The minimal number of marked tables, numbers and boxes of each kind on all pages."""

BOXES = [
    re.compile(
        rf"(?P<kind>turn|row)-(?P<run>{run})-(?P<stage>query|key|value|scores|scaled-scores|weights"
        r"|head-outputs|output|fed|placed)(?P<place>(-\d+)+)(?P<more>-and-\d+-more)?"
    )
    for run in (".+", ".+?")  # the run in "row-bank-scaled-scores-1" may be bank-scaled or bank
]
"""The id of a box: its run, its stage, its place from 1, and whether it asks for more numbers."""

CALLS = {"exp": torch.exp, "sqrt": torch.sqrt, "abs": torch.abs}
JOINS = {
    "+": torch.add, "-": torch.sub, "*": torch.mul, "/": torch.div, "max": torch.maximum
}  # fmt: skip


def formula_value(formula, s):
    """Return the value of a formula of places in postfix notation."""
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


def run_of(data):
    """Return the run that an explorer's data describe."""
    given = {name: tensor(array) for name, array in data["inputs"].items()}
    placed, angles = given.pop("positions", 0), given.pop("angles", None)
    if "embeddings" in given:
        given["embeddings"] = given["embeddings"] + placed
    assert not data["block"] or data["block"]["norm"] in ("nowhere", "after")
    mask = causal(len(data["tokens"])) if data["isCausal"] else 0.0
    return Run(given, mask, angles, data["scale"])


def read_explorers(page):
    for element in page.root.iter("mha-explorer"):
        data = json.loads(next(element.iter("script")).text)
        if "inputs" not in data:  # others show numbers of other kinds
            continue
        s = page.runs[data["name"]] = run_of(data)
        for table in element.iter("table"):
            stage, head = table.get("data-stage"), table.get("data-head")
            worked = stage_table(s, stage, head) if stage else explorer_table(s, data["focus"] or 0)
            page.compare((stage, head), cells_of(table), worked)


def cells_of(table):
    return texts_of(table.iter("td"), lambda part: has_class(part, "printed"))


def run_named(page, name):
    if name not in page.runs and (EXAMPLES / f"{name}.toml").is_file():
        page.runs[name] = Run(example(name))
    return page.runs.get(name)


def read_tables(page):
    for table in page.root.iter("table"):
        name, _, at = (table.get("data-at") or "").partition(" ")
        s = run_named(page, name)
        if s:
            stage, _, head = at.partition(".")
            worked = stage_table(s, stage, head)
            worked = with_sums(worked) if stage == "weights" else worked
            page.compare((name, at), cells_of(table), worked)


def read_sentences(page):
    for element in page.root.iter("data"):
        s, how = run_named(page, element.get("data-of")), element.get("data-as") or ""
        formula = element.get("value")
        if s is None or "|" in formula:  # of several runs
            continue
        if how.startswith("line"):
            page.compare(formula, texts_of([element]), line(s, formula))
        if how.startswith(("percent", "short", "shown")):
            page.compare(formula, texts_of([element]), formula_value(formula, s))


def read_boxes(page):
    """Compare a box's given numbers and worked answer. Of several numbers, only the first."""
    for box in page.root.iter("mha-your-turn"):
        matches = filter(None, (pattern.fullmatch(box.get("id")) for pattern in BOXES))
        found = next((each for each in matches if run_named(page, each["run"])), None)
        if found is None:
            continue
        s = page.runs[found["run"]]
        stage = found["stage"].replace("-", "_")
        array = getattr(s, stage)
        place = [int(n) - 1 for n in found["place"][1:].split("-")][-array.ndim :]
        last = range(array.shape[-1]) if found["kind"] == "row" else [place.pop()]
        answers = [line(s, ".".join(map(str, (stage, *place, i)))) for i in last]
        (worked,) = box.iter("details")
        text = texts_of(list(worked.iter("p"))[: len(answers)]).rstrip()
        in_percent = [answers[-1][-1]] if text.endswith("%") else []
        page.compare(box.get("id"), text, [answers, in_percent])
        if not found["more"]:
            given = texts_of(with_class(box, "span", "your-turn-given"))
            wanted = (
                given_for_row(s, stage, place)
                if found["kind"] == "row"
                else given_for(s, stage, place, flatten(answers[0]))
            )
            page.compare(box.get("id"), given, wanted)


def given_for_row(s, stage, place):
    """Return the given numbers of a box that asks for a whole row."""
    *head, row = place
    head = tuple(head)
    if stage == "scores":
        return s.query[(*head, row)], s.key[head]
    if stage == "head_outputs":
        return s.weights[(*head, row)], s.value[head].T
    assert stage == "weights", stage
    return s.scaled_scores[tuple(place)]


def given_for(s, stage, place, numbers):
    """Return the given numbers of a box, from the numbers of its printed line."""
    if stage == "weights":
        return s.scaled_scores[tuple(place)]
    if stage in ("scaled_scores", "placed"):
        return numbers[:-1]
    factors = numbers[: 2 * max(1, len(numbers) // 3)]
    return factors[::2], factors[1::2]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("double")
def test_printed_numbers(name):
    page = Page(name)
    read_explorers(page)
    if name in CHAPTERS:
        program = vars(importlib.import_module(f"chapters.{CHAPTERS[name]}"))
        for compare in [program[key] for key in program if key.startswith("compare_")]:
            compare(page)
    read_tables(page)
    read_sentences(page)
    read_boxes(page)
    assert not page.wrong, "\n".join(page.wrong)


def test_every_chapter_and_kind_of_number_is_checked():
    assert PAGES.is_dir(), f"{PAGES} is not there; run scripts/build.py first"
    assert CHAPTERS.keys() <= set(NAMES)
    html = "".join((PAGES / f"{name}.html").read_text(encoding="utf-8") for name in NAMES)
    for mark, fewest in FEWEST.items():
        assert html.count(mark) >= fewest, mark
