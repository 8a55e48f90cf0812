"""Blocks in a real Chromium: beside each other on a desk, below each other on a phone."""

import pytest
from accessible import found
from book_site import rest

pytestmark = [pytest.mark.book, pytest.mark.browser]

PAGES = (
    "examples/cat-sat",
    "examples/the-cat-sat",
    "examples/apple",
    "examples/cat-sat-on-it",
    "mechanism/multi-head-attention",
)
PLACES = """block => [...block.querySelectorAll(".stage-part")].map(part => {
  const box = part.getBoundingClientRect();
  return [Math.round(box.left), Math.round(box.top)];
})"""
POINTS = """block => [...block.querySelectorAll("table")].map(table => {
  const columns = [];
  for (const row of table.tBodies[0].rows) {
    [...row.querySelectorAll("td")].forEach((cell, j) => {
      const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
      for (let text = walker.nextNode(); text; text = walker.nextNode()) {
        const at = text.data.indexOf(".");
        if (at < 0 || text.parentElement.closest(".printed")) continue;
        const range = document.createRange();
        range.setStart(text, at);
        range.setEnd(text, at + 1);
        (columns[j] ??= []).push(range.getBoundingClientRect().left);
        break;
      }
    });
  }
  return columns.filter(Boolean).map(points => Math.max(...points) - Math.min(...points));
})"""
WIDE = ".stage-block.full-width:not(details *, .admonition *)"  # folds have an edge of their own
SIZES = """() => [...document.querySelectorAll(".stage-block td, .stage-block th")]
  .map(cell => parseFloat(getComputedStyle(cell).fontSize))
  .filter(size => size > 0)"""  # 0 where a neighbour's row labels stand


@pytest.mark.parametrize(
    ("name", "block"),
    [
        ("examples/the-cat-sat", "#tbl-the-cat-sat-weights"),
        ("mechanism/multi-head-attention", "#tbl-it-tired-weights"),
        ("examples/cat-sat-on-it", "#tbl-cat-sat-on-it-query"),
        ("examples/cat-sat-on-it", "#tbl-cat-sat-on-it-weights"),
        ("examples/apple", "#tbl-apple-scores"),
        ("examples/apple", "#tbl-apple-weights"),
    ],
)
def test_heads_stand_side_by_side_on_a_desk_and_below_each_other_on_a_phone(at_rest, name, block):
    lefts, tops = zip(*at_rest(name).locator(block).evaluate(PLACES), strict=True)
    assert len(lefts) > 1
    assert len(set(tops)) == 1
    assert list(lefts) == sorted(set(lefts))
    lefts, tops = zip(*at_rest(name, width=390).locator(block).evaluate(PLACES), strict=True)
    assert len(set(lefts)) == 1
    assert list(tops) == sorted(set(tops))


@pytest.mark.parametrize("name", PAGES)
def test_nothing_in_a_block_scrolls_on_a_desk_and_a_wide_one_ends_at_the_margin(at_rest, name):
    page = at_rest(name)
    scrolls = page.locator(".stage-block .pst-scrollable-table-container").evaluate_all(
        "all => all.filter(e => e.scrollWidth > e.clientWidth).map(e => e.innerText.slice(0, 60))"
    )
    assert scrolls == []
    text = page.locator("article h1").bounding_box()
    for box in [block.bounding_box() for block in page.locator(WIDE).all()]:
        assert abs(box["x"] - text["x"]) < 1
        assert text["width"] < box["width"] <= 62 * 16
        assert box["x"] + box["width"] <= 1280


def test_a_note_in_the_margin_and_a_wide_block_do_not_meet(opened):
    page = opened("mechanism/multi-head-attention")
    page.evaluate(
        """(wide) => document.querySelectorAll(wide).forEach((block) =>
             ["beforebegin", "afterend"].forEach((place) => block.insertAdjacentHTML(place,
               `<aside class="margin sidebar"><p>${"An aside. ".repeat(30)}</p></aside>`)))""",
        WIDE,
    )
    boxes = {
        kind: [e.bounding_box() for e in page.locator(kind).all()]
        for kind in ("aside.margin", WIDE)
    }
    assert len(boxes["aside.margin"]) == 2 * len(boxes[WIDE]) > 0
    for note in boxes["aside.margin"]:
        for block in boxes[WIDE]:
            above = note["y"] + note["height"] <= block["y"] + 1
            assert above or block["y"] + block["height"] <= note["y"] + 1


def test_query_key_and_value_of_a_small_example_share_a_row(at_rest):
    page = at_rest("examples/cat-sat")
    places = page.locator("#tbl-cat-sat-query-key-value-1").evaluate(PLACES)
    assert len(places) == 3
    assert len({top for _, top in places}) == 1


@pytest.mark.parametrize(("width", "rows"), [(1280, [3, 3]), (768, [3, 3]), (390, [2, 1, 2, 1])])
def test_a_head_s_query_key_and_value_never_share_a_row_with_another_head_s(at_rest, width, rows):
    places = at_rest("mechanism/multi-head-attention", width=width).locator(
        ".stage-block:has(#tbl-it-tired-value-2)"
    )
    tops = [top for _, top in places.evaluate(PLACES)]
    assert [tops.count(top) for top in sorted(set(tops))] == rows


def test_row_labels_stand_once_on_a_desk_and_with_every_table_on_a_phone(at_rest):
    labels = "#tbl-the-cat-sat-weights tbody th"
    widths = {
        width: at_rest("examples/the-cat-sat", width=width)
        .locator(labels)
        .evaluate_all("all => all.map(e => e.getBoundingClientRect().width > 8)")
        for width in (1280, 390)
    }
    assert widths == {1280: [True] * 3 + [False] * 3, 390: [True] * 6}


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", PAGES)
def test_decimal_points_stand_below_each_other_and_nothing_is_small_or_leaves_the_page(
    at_rest, name, width
):
    page = at_rest(name, width=width)
    spread = page.locator(".stage-block").evaluate_all(f"all => all.map({POINTS})")
    columns = [column for block in spread for table in block for column in table]
    assert len(columns) >= 10
    assert max(columns) < 1
    assert min(page.evaluate(SIZES)) >= 12
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("name", PAGES)
def test_what_scrolls_sideways_says_so_and_can_be_reached_by_keyboard(at_rest, name):
    page = at_rest(name, width=390)
    rest(page, 200)
    boxes = page.locator(".stage-part .pst-scrollable-table-container").evaluate_all(
        """all => all.map(e => [e.scrollWidth > e.clientWidth, e.tabIndex === 0,
                                getComputedStyle(e).backgroundImage.includes("gradient")])"""
    )
    assert len(boxes) > 3
    assert all(stop == scrolls and shadow for scrolls, stop, shadow in boxes)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_on_tinted_cells_can_be_read_and_a_larger_weight_is_further_from_the_paper(
    opened, theme
):
    page = opened("examples/cat-sat-on-it", theme=theme, folds=True)
    cells = page.locator("#tbl-cat-sat-on-it-weights .heat").evaluate_all(
        """all => all.map(e => {
          const canvas = document.createElement("canvas").getContext("2d");
          canvas.fillStyle = getComputedStyle(e).backgroundColor;
          canvas.fillRect(0, 0, 1, 1);
          const [r, g, b] = canvas.getImageData(0, 0, 1, 1).data;
          return [e.closest(".stage-part").style.getPropertyValue("--head"),
                  parseFloat(e.innerText), 0.2126 * r + 0.7152 * g + 0.0722 * b];
        })"""
    )
    heads = {head for head, *_ in cells}
    assert len(heads) == 3
    for head in heads:
        shades = [shade for h, _, shade in sorted(cells) if h == head]
        assert shades == sorted(shades, reverse=theme == "light")
        assert abs(shades[0] - shades[-1]) > 30
    page.locator(".printed-switch input").check()
    told = found(
        page,
        "#tbl-cat-sat-on-it-weights",
        runOnly=["color-contrast", "scrollable-region-focusable"],
        resultTypes=["violations", "passes"],
        selectors=False,  # which element it is would take longer to tell than to check it
    )
    assert [(v["id"], [n["html"][:90] for n in v["nodes"]]) for v in told["violations"]] == []
    checked = [node["html"] for rule in told["passes"] for node in rule["nodes"]]
    assert any("heat" in html or "0." in html for html in checked)
