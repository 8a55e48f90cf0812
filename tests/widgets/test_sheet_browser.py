"""The sheet of newer attention variants in Chromium: its numbers are the package's."""

import json
import re
from functools import partial

import numpy as np
import pytest
from playwright.sync_api import expect
from pointer import drag, middle
from worked_runs import ON_A_SHEET, TIRED

from mha.runs.attention_variants import (
    SWITCHES,
    PlanStep,
    attention_plan,
    evaluate_plan,
    plan_as_data,
)
from mha.runs.computations import OPERATIONS
from mha.runs.rounding import shown
from mha.widgets.variants_explorer import variants_explorer

pytestmark = pytest.mark.browser


@pytest.fixture
def sheet_page(open_instrument):
    """Return a function that opens the sheet, at an address and in a window."""
    return partial(open_instrument, variants_explorer(TIRED.tokens, ON_A_SHEET, focus=3).html)


CARRIED_OUT = """([plan, given, on]) => {
  const { steps } = modules.sheet.carriedOut(plan, given, new Set(on));
  return [...steps].map(([name, { array }]) => [name, array.map((row, i) => row.map((x, j) => [
    x === -Infinity ? "-inf" : x, (() => {
      const { operation, terms } = modules.sheet.originOn(steps, name, i, j);
      return [operation, terms.flat().length];
    })()]))]);
}"""


PLAN = """([plan, given]) => {
  const { steps } = modules.sheet.carriedOut(plan, given, new Set());
  return [...steps].map(([name, { array }]) => [name, array.map((row, i) => row.map((x, j) => {
    const { operation, terms } = modules.sheet.originOn(steps, name, i, j);
    const places = terms.flat().map(({ place: at }) => at && `${at.table}.${at.row}.${at.column}`);
    return [x === -Infinity ? "-inf" : x, operation, places];
  }))]);
}"""


def test_every_number_is_the_package_s(sheet_page, modules, rng):
    page = sheet_page()
    page.add_script_tag(path=modules)
    data = json.loads(page.locator("mha-instrument > script").text_content())
    together = [("groups", "norm", "turn", "eight", "top", "gate"), ("groups", "norm", "decay")]
    for on in [(), *((switch,) for switch in SWITCHES), SWITCHES, *together]:
        given = {role: a if role in ("causal", "window") else rng.normal(size=a.shape).round(3)
                 for role, a in ON_A_SHEET.items()}  # fmt: skip
        sheet, _ = evaluate_plan(attention_plan(2), given, on)
        plain = {role: array.tolist() for role, array in given.items()}
        found = dict(page.evaluate(CARRIED_OUT, [data["plan"], plain, list(on)]))
        assert list(found) == list(sheet.steps)
        for name, rows in found.items():
            numbers = [[float(x) for x, _ in row] for row in rows]
            np.testing.assert_allclose(numbers, sheet[name], rtol=1e-12, atol=1e-12)
            for i, row in enumerate(rows):
                for j, (_, (operation, count)) in enumerate(row):
                    wanted = sheet.origin(name, i, j)
                    assert (operation == "given") == (wanted.operation == "given")
                    if operation in ("products", "sum", "exponential"):
                        assert (operation, count) == (wanted.operation, len(wanted.operands))


def random_plan(rng, operations):
    """Return a plan that has each operation once in a random order, and its given tables.

    An operation takes any earlier table that it can, and given tables whose shapes fit.
    """
    plan, given, wide = [], {"first": rng.normal(size=(5, 4)).round(2)}, ["first"]
    tables = dict(given)

    def fresh(shape, draw=rng.normal):
        name = f"given_{len(given)}"
        given[name] = tables[name] = np.round(draw(size=shape), 2)
        return name

    for operation in rng.permutation(operations):
        first = str(rng.choice(wide))
        rows, columns = tables[first].shape
        number, of = 0.0, [first]
        match operation:
            case "product":
                of.append(fresh((columns, 3)))
            case "dots":
                of.append(fresh((7, columns)))
            case "sum":
                of.append(fresh((rows, columns)))
            case "times":
                of.append(fresh((rows, rng.choice([1, columns]))))
            case "beside":
                of.append(fresh((rows, 2)))
            case "masked":
                of.append(fresh((rows, columns), partial(rng.integers, 2)))
            case "share" | "quotient":
                of.append(fresh((rows, 1), partial(rng.integers, 3)))  # some are 0
            case "turned":
                first = fresh((rows, 6))
                of = [first, fresh((rows, 3))]
            case "decays":
                of = [fresh((6, 1))]
            case "rounded":
                of = [fresh((rows, columns), lambda size: rng.integers(-7, 7, size=size) / 2)]
            case "top":
                number = float(rng.integers(1, columns + 1))
            case "over root" | "times number" | "capped" | "row sums with sink" | "spread":
                number = round(rng.uniform(0.1, 3), 2)
        step = PlanStep(f"made_{len(plan)}", operation, str(operation), tuple(of), number)
        plan.append(step)
        computation, _ = evaluate_plan(plan, given)
        tables[step.role] = found = computation[step.role]
        if np.isfinite(found).all() and np.abs(found).max() < 9:
            wide.append(step.role)
    return plan, given, computation


SAME_OPERATIONS = {"quotient": "share", "spread": "root mean square"}
"""The names that the browser gives to operations, where they differ."""


def test_random_plans_give_the_package_s_numbers_and_origins(arithmetic_page, rng):
    operations = arithmetic_page.evaluate("modules.sheet.OPERATIONS")
    assert set(operations) <= set(OPERATIONS)
    for _ in range(20):
        plan, given, computation = random_plan(rng, operations)
        plain = {name: array.tolist() for name, array in given.items()}
        found = dict(arithmetic_page.evaluate(PLAN, [plan_as_data(plan), plain]))
        assert list(found) == list(computation.steps)
        for name, rows in found.items():
            numbers = [[float(x) for x, *_ in row] for row in rows]
            np.testing.assert_allclose(numbers, computation[name], rtol=1e-12, atol=1e-12)
            for i, row in enumerate(rows):
                for j, (_, operation, operands) in enumerate(row):
                    wanted = computation.origin(name, i, j)
                    assert operation == SAME_OPERATIONS.get(wanted.operation, wanted.operation)
                    places = [str(o.place) for o in wanted.operands if o.place is not None]
                    if operation == "masked":  # the package names the mask's entry too
                        places = places[:1]
                    assert [place for place in operands if place] == places


def carried(on, given=ON_A_SHEET, query=3):
    """Return the weights and the output of a query with what is switched on."""
    sheet, roles = evaluate_plan(attention_plan(2), given, on)
    return sheet[roles["weights"]][query], sheet[roles["output"]][query]


def test_a_number_says_where_it_comes_from_and_can_be_changed(sheet_page):
    page = sheet_page("#sheet=since-2023&on=cap.window&query=2&key.1.0=3", width=390)
    rows = page.locator(".sheet-now li span:nth-of-type(2)")
    said, alert = page.locator(".sheet-said [role=status]"), page.get_by_role("alert")
    assert page.get_by_label("scores capped at 2").is_checked()
    expect(page.locator(".strip-title")).to_contain_text("Weights of it")
    for title, met in {"Queries": ["it"], "Keys": ["mat", "it"], "Values": ["mat", "it"]}.items():
        fields = [page.get_by_label(f"{title}: row {token}, column 1") for token in TIRED.tokens]
        pale = ["pale" in field.get_attribute("class") for field in fields]
        assert pale == [token not in met for token in TIRED.tokens], title
    room = page.locator(".sheet-tables").evaluate("node => node.offsetTop")
    page.get_by_label("Keys: row cat, column 1").fill("1")
    expect(said).to_have_text("No weight of it changes, nor does its output.")
    field = page.get_by_label("Keys: row mat, column 1")
    assert field.input_value() == "3"
    field.fill("0,5")
    key = ON_A_SHEET["key"].copy()
    key[1, 0] = 0.5
    weights, _ = carried(("cap", "window"), ON_A_SHEET | {"key": key}, query=2)
    assert rows.all_text_contents()[:4] == ["hidden", *map(shown, weights[1:3]), "hidden"]
    expect(page).to_have_url(re.compile(r"key\.1\.0=0\.5"))
    field.blur()
    field.scroll_into_view_if_needed()
    drag(page, *middle(field), 40, steps=5)
    assert field.input_value() == "1"
    # A refused text is reported and replaced, as are the incomplete numbers that were typed
    # before it.
    before = rows.all_text_contents()
    field.fill("")
    for typed, stays in (("5", False), ("0", True), ("0", True)):
        page.keyboard.type(typed)
        assert (rows.all_text_contents() == before) == stays
    expect(alert).to_be_in_viewport()
    expect(alert).to_have_text("“500” is out of range. Type a number from −20 to 20.")
    assert page.locator(".sheet-tables").evaluate("node => node.offsetTop") == room
    field.press("Enter")
    assert field.input_value() == "1"
    page.locator(".sheet-table", has_text="Capped scores").locator("button").nth(8).click()
    line, what = page.locator(".model-line"), page.locator(".model-what")
    expect(line).to_contain_text("2 × tanh(")
    line.locator("button").click()
    expect(what).to_have_text("Scaled scores: row it, column cat")
    page.keyboard.press("Escape")
    expect(what).to_have_text("Choose any number to see where it comes from.")


def test_active_variants_are_listed_together_and_each_change_can_be_undone(sheet_page):
    page = sheet_page()
    rows = page.locator(".sheet-now li span:nth-of-type(2)")
    undo, redo = (page.get_by_role("button", name=name) for name in ("Undo", "Redo"))
    expect(undo).to_be_disabled()
    seen = [rows.all_text_contents()]
    for label, on in (("a sink of 0", ("sink",)), ("scores capped at 2", ("cap", "sink"))):
        page.get_by_label(label).press("Space")
        seen.append(rows.all_text_contents())
        assert seen[-1][:4] == [shown(x) for x in carried(on)[0]]
    expect(page.locator(".sheet-table.added caption")).to_contain_text(["With sink"])
    both = zip(carried(("cap", "sink")), carried(()), strict=True)
    weights, output = (shown(np.abs(now - plain).max()) for now, plain in both)
    expect(page.locator(".sheet-said [role=status]")).to_have_text(
        f"The weights of tired change by up to {weights}, its output by up to {output}. "
        "This is the effect of all switches together, compared with plain attention."
    )
    # All typing into a field, or one drag, is one change. A refused text is no change.
    field = page.get_by_label("Keys: row cat, column 1")
    for text in ("3", "35", "3"):
        field.fill(text)
    seen.append(rows.all_text_contents())
    field.press("Control+z")
    assert (field.input_value(), rows.all_text_contents()) == ("2", seen[2])
    field.fill("x")
    expect(page.get_by_role("alert")).to_have_text(
        "“x” is not a number. Type one such as 0.5, −2 or 1/3."
    )
    expect(redo).to_be_enabled()
    field.press("Control+Shift+z")
    assert (field.input_value(), rows.all_text_contents()) == ("3", seen[3])
    expect(page.get_by_role("alert")).to_be_empty()
    for before in reversed(seen[:-1]):
        undo.click()
        assert rows.all_text_contents() == before
    expect(redo).to_be_focused()
    page.get_by_label("… interpolated by four").check()
    expect(redo).to_be_disabled()
    page.get_by_label("rotary positions").uncheck()
    assert not page.get_by_label("… interpolated by four").is_checked()
    page.get_by_label("a gate on the output").check()
    page.get_by_role("button", name="Reset").click()
    undo.click()
    assert page.get_by_label("a gate on the output").is_checked()


@pytest.mark.parametrize(
    ("rest", "is_whole"),
    [
        ("on=cap&key.0.0=1.5", True),
        ("on=cap&key.0.0=500", False),
        ("on=cap&key.0.0=abc", False),
        ("on=cap&colour.0.0=1", False),
        ("on=cap.fog", False),
        ("on=cap&query=9", False),
    ],
)
def test_ignored_parts_of_an_address_are_reported(sheet_page, rest, is_whole):
    page = sheet_page(f"#sheet=since-2023&{rest}")
    expect(page.get_by_label("scores capped at 2")).to_be_checked()
    page.wait_for_function("/query=3/.test(location.hash)")  # written when it is said
    said = page.locator(".sheet-said [role=status]")
    expect(said).to_have_text("" if is_whole else re.compile("ignored it"))


STORED = {
    "a latent vector of two numbers": ("4 bytes per token", "DeepSeek-V2 stores 1,152 bytes"),
    "keys and values shared by two heads": ("8 bytes per token, for both heads", "4,096 bytes"),
    "window of two tokens": ("for the last 2 tokens only", "128 tokens, however long"),
    "keys and values in eight bits": ("8 bytes per token", "At the sizes of DeepSeek-V2"),
    "no softmax, but a decay": ("a state of 2 times 2 numbers, 8 bytes", "2,097,152 bytes"),
}


def test_what_a_change_stores_is_said_beside_a_published_model(sheet_page):
    page = sheet_page()
    kept, published = (page.locator(".sheet-now > p.soft").nth(i) for i in (0, 1))
    expect(kept).to_contain_text("8 bytes per token.")
    expect(published).to_contain_text("At the sizes of DeepSeek-V2 it would be 65,536 bytes")
    for label, (here, there) in STORED.items():
        page.get_by_label(label).check()
        expect(kept).to_contain_text(here)
        expect(published).to_contain_text(there)
        page.get_by_label(label).uncheck()


def test_changes_that_exclude_each_other_are_switched_off_and_named(sheet_page):
    page = sheet_page()
    rows = page.locator(".sheet-now li span:nth-of-type(2)")
    for label in ("scores capped at 2", "a sink of 0", "keys and values shared by two heads"):
        page.get_by_label(label).check()
    page.get_by_label("no softmax, but a decay").check()
    expect(page.locator(".sheet-said [role=status]")).to_contain_text(
        "Cannot be combined with this, and so switched off: scores capped at 2, a sink of 0."
    )
    assert rows.all_text_contents()[:4] == [shown(x) for x in carried(("groups", "decay"))[0]]
    page.locator(".sheet-table", has_text="Products of decays").locator("button").nth(8).click()
    expect(page.locator(".model-line")).to_have_text("0.5 × 0.5 = 0.25")
    page.get_by_label("a latent vector of two numbers").check()
    expect(page.get_by_label("no softmax, but a decay")).not_to_be_checked()
    expect(page.get_by_label("keys and values shared by two heads")).not_to_be_checked()
    page.get_by_label("Matrix to the keys: row 1, column 1").fill("0")
    given = ON_A_SHEET | {"up_key": np.array([[0.0, 0], [0, 1]])}
    assert rows.all_text_contents()[:4] == [shown(x) for x in carried(("latent",), given)[0]]
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_label("no softmax, but a decay")).to_be_checked()
