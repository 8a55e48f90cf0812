"""Whatever belongs to a run, on any built page, is PyTorch's too, to the last digit.

An explorer says what its run starts from; tables and numbers of sentences say of which run they
are, and of which of its places.
"""

import re

import pytest
import torch
from printed_pages import PAGES, Page, text_of
from worked_by_torch import EXAMPLES, example, explorer, face, run, run_of, tensor, with_sums

FEWEST = {"explorers": 4500, "tables": 2700, "sentences": 400}
"""Numbers that are compared, of all pages."""

LAST = re.compile(r"[=≈] (\S+)$")
CALLS = {"exp": torch.exp, "sqrt": torch.sqrt, "abs": torch.abs}
JOINS = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "/": lambda a, b: a / b, "max": max,
}  # fmt: skip


def place_of(s, address):
    """Return the number that stands at an address such as weights.0.1.2."""
    stage, *index = address.split(".")
    return s[stage][tuple(map(int, index))]


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
            stack.append(place_of(s, part) if part[0].isalpha() else tensor(float(part)))
    return stack.pop()


class Runs(Page):
    """What a built page shows of runs, compared as it is read."""

    def __init__(self, name):
        super().__init__(name)
        self.compared, self.runs = dict.fromkeys(FEWEST, 0), {}

    def count(self, kind, what, texts, values):
        self.compared[kind] += self.compare(what, " ; ".join(texts), values)

    def explorers(self):
        for element, data in self.started():
            s = self.runs[data["name"]] = run_of(data)
            keys = "turned_key" if "angles" in s else "key"
            first, stages = face(s, data["focus"] or 0, keys=keys), explorer(s)
            for table in element.iter("table"):
                place = table.get("data-stage"), int(table.get("data-head") or 0)
                cells = [text_of(cell) for cell in table.iter("td")]
                self.count("explorers", place, cells, stages[place] if place[0] else first)

    def run(self, name):
        if name not in self.runs and (EXAMPLES / f"{name}.toml").is_file():
            self.runs[name] = run(example(name))
        return self.runs.get(name)

    def tables(self):
        for table in self.root.iter("table"):
            name, _, at = (table.get("data-at") or "").partition(" ")
            s = self.run(name)
            if s is None:
                continue
            stage, *head = at.split(".")
            if stage not in s:
                self.wrong.append(f"{table.get('data-at')}: PyTorch's run has no such stage")
                continue
            array = s[stage][int(head[0])] if head else s[stage]
            if stage == "weights":
                array = with_sums(array)
            if stage == "exponentials":
                array = torch.cat([array, s["row_sums"][int(head[0])][:, None]], 1)
            cells = [text_of(cell, without="printed") for cell in table.iter("td")]
            self.count("tables", table.get("data-at"), cells, array)

    def sentences(self):
        for element in self.root.iter("data"):
            s, how = self.run(element.get("data-of")), element.get("data-as") or ""
            formula, text = element.get("value"), text_of(element)
            if s is None or not how.startswith(("line", "percent", "short", "shown")):
                continue
            if "|" in formula:
                continue  # of several runs
            text = LAST.search(text)[1] if how.startswith("line") else text
            self.count("sentences", f"{formula} ({text})", [text], worth(formula, s))


@pytest.fixture(scope="module")
def pages():
    """Return all built pages, with what was compared of each."""
    if not PAGES.is_dir():
        pytest.fail(f"{PAGES} is not there; run scripts/build.py first", pytrace=False)
    files = (file for file in sorted(PAGES.rglob("*.html")) if "_static" not in file.parts)
    names = (file.relative_to(PAGES).with_suffix("") for file in files)
    found = {name: Runs(name) for name in names}
    for page in found.values():
        page.explorers()
        page.tables()
        page.sentences()
    return found


def test_numbers_of_runs(pages):
    wrong = [f"{name}: {line}" for name, page in pages.items() for line in page.wrong]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("kind", FEWEST)
def test_no_kind_of_them_is_passed_over(pages, kind):
    assert sum(page.compared[kind] for page in pages.values()) >= FEWEST[kind]
