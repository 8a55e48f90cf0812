"""Numbers that a reader types, in Chromium: parsing, storage and undo."""

import math
from dataclasses import replace

import numpy as np
import pytest
from answer_oracle import parse_answer
from playwright.sync_api import expect
from pointer import drag, middle
from ports import in_browser

from mha import load_example, trace
from mha.runs.rounding import short

pytestmark = pytest.mark.browser

# ---- Reading ----

PIECES = [
    *"0123456789",
    *".,+-*/^()e√% ",
    "−",
    "–",
    "１",
    "\u00a0",
    "sqrt",
    "exp",
    "1e3",
    "3 000",
    "٣",
    "²",
]


def test_the_browser_reads_any_text_as_the_package_does(arithmetic_page, rng):
    texts = ["".join(rng.choice(PIECES, size=rng.integers(1, 8))) for _ in range(3000)]
    read_all = """([text]) => {
      const x = modules.typedNumbers.read(text);
      return x && [x.number, x.decimals]; }"""
    found = in_browser(arithmetic_page, read_all, [[text] for text in texts])
    wanted = [(x := parse_answer(text)) and [x.number, x.decimals] for text in texts]
    for text, one, other in zip(texts, found, wanted, strict=True):
        assert (one is None) == (other is None), text
        if one is not None:
            assert one[0] == pytest.approx(other[0], rel=1e-14), text
            assert one[1] == other[1], text
    assert sum(one is not None for one in wanted) > 300


NOT_A_NUMBER = "“{}” is not a number. Type one such as 0.5, −2 or 1/3."
OUT_OF_RANGE = "“{}” is out of range. Type a number from −1000 to 1000."
TAKEN = {
    "0.5": 0.5, "0,5": 0.5, "−5": -5, "–5": -5, " 7 ": 7, "1/3": 1 / 3, "2/−4": -0.5, "-0": 0,
    "１２,５": 12.5, "1e3": 1000, "1E-2": 0.01, "50 %": 0.5, "1 000": 1000, "√2": math.sqrt(2),
    "0,123": 0.123, ".5": 0.5, "5.": 5,
}  # fmt: skip
REFUSED = {
    "": "Type a number, such as 0.5, −2 or 1/3.",
    "  ": "Type a number, such as 0.5, −2 or 1/3.",
    **{text: NOT_A_NUMBER.format(text) for text in (
        "abc", "--2", "NaN", "Infinity", "∞", "٣", "1 2", "3 00", "1.2.3",
        "1/0", "5²", "½", "1,234.5",
    )},
    **{text: OUT_OF_RANGE.format(text) for text in (
        "3 000", "1e9", "999999", "1e400", "−1e400", "1000.0001", "9" * 39, "2^20")},
    "3,000": "“3,000” can mean two numbers. Type 3.000 or 3000.",
    "-1,500": "“-1,500” can mean two numbers. Type −1.500 or −1500.",
    "x" * 50: NOT_A_NUMBER.format("x" * 40 + "…"),
    "9" * 500: NOT_A_NUMBER.format("9" * 40 + "…"),
}  # fmt: skip
WHOLE = {
    "3 000": 3000, "3,000": 3000, "1,234,567": 1234567, "12": 12, "1e3": 1000, "4/2": 2,
    "1.5": "“1.5” is not a whole number. Type one from 0 to 9,999,999.",
    "abc": "“abc” is not a whole number. Type one from 0 to 9,999,999.",
    "-1": "“-1” is out of range. Type a number from 0 to 9,999,999.",
    "": "Type a whole number from 0 to 9,999,999.",
}  # fmt: skip


def test_a_field_takes_a_number_or_says_what_is_wrong_and_what_is_wanted(arithmetic_page):
    entered = "([text, wanted]) => modules.typedNumbers.entered(text, wanted)"
    texts = [[text, {}] for text in (*TAKEN, *REFUSED)]
    found = in_browser(arithmetic_page, entered, texts)
    for (text, _), one in zip(texts, found, strict=True):
        if text in REFUSED:
            assert one == {"value": None, "wrong": REFUSED[text]}, text
        else:
            assert one == {"value": pytest.approx(TAKEN[text], rel=1e-14), "wrong": ""}, text
    range_ = {"least": 0, "most": 9_999_999, "whole": True}
    for text, one in zip(
        WHOLE, in_browser(arithmetic_page, entered, [[t, range_] for t in WHOLE]), strict=True
    ):
        wanted = WHOLE[text]
        said = (
            {"value": None, "wrong": wanted}
            if isinstance(wanted, str)
            else {"value": wanted, "wrong": ""}
        )
        assert one == said, text


# ---- The least change of a matrix ----

COLUMNS = """([rows, from, typed]) => typed.map((_, i) => {
  const last = new Map();
  for (const [row, value] of typed.slice(0, i + 1)) { last.delete(row); last.set(row, value); }
  return modules.leastChange.columnWith(rows, from, [...last]);
})"""


def test_a_typed_value_comes_out_of_its_matrix_whatever_was_typed_before(arithmetic_page, rng):
    for count, width in ((3, 4), (3, 3), (2, 6), (1, 2)):
        rows = rng.normal(size=(count, width)).round(1)
        start = rng.normal(size=width).round(2)
        asked = rng.choice([1000, -1000, 999.5, 1 / 3, -5, 0.1, 1e-7], size=30)
        typed = [[int(rng.integers(count)), float(value)] for value in asked]
        typed += [[row, float(rows[row] @ start)] for row in range(count)]
        found = arithmetic_page.evaluate(COLUMNS, [rows.tolist(), start.tolist(), typed])
        now = rows @ start
        for (row, value), column in zip(typed, found, strict=True):
            now[row] = value
            np.testing.assert_allclose(rows @ column, now, rtol=0, atol=1e-10)
            least = start + np.linalg.pinv(rows) @ (now - rows @ start)
            np.testing.assert_allclose(column, least, rtol=0, atol=1e-8)
        assert found[-1] == start.tolist()  # bit for bit


# ---- Value cells ----

TYPED = (
    "1/3",
    "−5",
    "1000",
    "-999,5",
    "0.1",
    "1e-7",
    "1e9",
    "999999",
    "1e400",
    "abc",
    "3 000",
    "2",
)
NUMBERS = "JSON.stringify(document.querySelector('mha-explorer').explorer.numbers)"


@pytest.mark.parametrize(
    ("name", "label", "keep"),
    [
        ("the-cat-sat", "Value of {}, v₁, Head 1", True),
        ("it-tired", "Value of {}, v₁, Head 1", True),
        ("river-bank", "Value of {}, v₁", False),  # two numbers for three tokens
    ],
)
def test_a_value_cell_shows_the_number_that_was_typed_and_undo_gives_the_book_s(
    view, rng, name, label, keep
):
    seen = view(name).wait_until_live()
    before = seen.page.evaluate(NUMBERS)
    undo = seen.page.get_by_role("button", name="Undo")
    cells = {token: seen.number(label.format(token)) for token in seen.run.tokens}
    tokens = [token for token, cell in cells.items() if cell.count()]
    error = seen.page.locator(".strip .field-error")
    steps, shown_now = 0, {}
    for text in (*TYPED, *rng.choice(TYPED, size=18)):
        token = str(rng.choice(tokens))
        cell = cells[token]
        cell.focus()
        stays = cell.input_value()
        cell.press_sequentially(str(text))
        typed = parse_answer(str(text))
        is_taken = typed is not None and abs(typed.number) <= 1000
        cell.press("Enter")
        if is_taken:
            steps += short(typed.number, 10) != stays
            expect(error).to_be_empty()
            assert cell.input_value() == short(typed.number, 10), text
            shown_now[token] = cell.input_value()
        else:
            assert str(text) in error.inner_text()
            assert cell.input_value() == stays
    for token, text in shown_now.items() if keep else ():  # each cell still has its own number
        cell = cells[token]
        cell.blur()
        cell.focus()
        assert cell.input_value() == text
    for _ in range(steps):
        assert undo.get_attribute("aria-disabled") == "false"
        undo.click()
    assert seen.page.evaluate(NUMBERS) == before
    assert seen.state["edits"] == {}
    assert undo.get_attribute("aria-disabled") == "true"


def test_a_placed_embedding_shows_the_number_that_was_typed(view):
    positions = np.arange(12).reshape(3, 4) / 7
    seen = view(trace(replace(load_example("the-cat-sat"), positions=positions))).wait_until_live()
    cell = seen.number("Embedding and position of cat, x₂")
    for text, wanted in (("1e9", None), ("1000", "1000"), ("-5", "−5"), ("1/3", "0.3333333333")):
        cell.fill(text)
        cell.press("Enter")
        assert cell.input_value() == wanted or wanted is None


def test_a_refused_text_leaves_the_number_before_it_and_is_named_below_its_field(view):
    seen = view("the-cat-sat", width=390).wait_until_live()
    cell = seen.number("Value of cat, v₁, Head 1")
    error = seen.page.locator(".strip .field-error")
    cell.focus()
    cell.press_sequentially("3 000")  # by way of 3
    expect(error).to_have_text("“3 000” is out of range. Type a number from −1000 to 1000.")
    assert cell.get_attribute("aria-invalid") == "true"
    assert cell.get_attribute("aria-describedby") == error.get_attribute("id")
    below, above = error.bounding_box(), cell.bounding_box()
    assert 0 <= below["y"] - above["y"] - above["height"] < 12
    assert below["x"] >= 0
    assert below["x"] + below["width"] <= 390
    cell.press("Enter")
    assert cell.input_value() == "0.6"
    expect(error).to_contain_text("“3 000”")  # until a reader goes on
    assert seen.state["edits"] == {}
    cell.press_sequentially("7")
    expect(error).to_be_empty()
    assert cell.get_attribute("aria-invalid") is None


# ---- Each edit is one step ----


def test_each_edit_of_a_cell_is_one_step_of_the_explorer_s_history(view):
    seen = view("the-cat-sat").wait_until_live()
    cell = seen.number("Embedding of cat, x₂")
    undo, redo = (seen.page.get_by_role("button", name=name) for name in ("Undo", "Redo"))
    values = [cell.input_value()]

    def now():
        cell.blur()
        values.append(cell.input_value())

    for text in ("5", "1/4", "7"):  # as fast as can be
        cell.fill(text)
    cell.press("Enter")
    cell.press_sequentially("12.5")
    cell.press("Enter")
    now()
    for _ in range(2):
        drag(seen.page, *middle(cell), 40, steps=5)
        now()
    cell.focus()
    for _ in range(2):
        cell.press("ArrowUp")
    now()
    wanted = [values[0], "5", "0.25", "7", "12.5", *values[2:4], "13.6", "13.7"]
    assert values[1:] == ["12.5", "13", "13.5", "13.7"]
    for value in reversed(wanted[:-1]):
        undo.click()
        assert cell.input_value() == value
    assert undo.get_attribute("aria-disabled") == "true"
    for value in wanted[1:]:
        redo.click()
        assert cell.input_value() == value
    # A key that is held down changes a number once.
    cell.focus()
    seen.page.keyboard.down("ArrowUp")
    for _ in range(3):
        seen.page.keyboard.down("ArrowUp")
    seen.page.keyboard.up("ArrowUp")
    now()
    assert values[-1] == "14.1"
    undo.click()
    assert cell.input_value() == "13.7"
