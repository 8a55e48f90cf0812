"""Blocks in Chromium: side by side on a wide screen, one below the other on a phone."""

import pytest
from accessible import violations
from windows import resize

pytestmark = [pytest.mark.book, pytest.mark.browser]

PLACES = """block => [...block.querySelectorAll(".stage-part")].map(part => {
  const box = part.getBoundingClientRect();
  return [Math.round(box.left), Math.round(box.top)];
})"""

SEEN = "all => all.map(e => e.getBoundingClientRect().width > 8)"


def places(page, block):
    """Return the left and top offsets of each part of a block."""
    return map(list, zip(*page.locator(block).evaluate(PLACES), strict=True))


@pytest.mark.parametrize(
    ("name", "blocks"),
    [
        ("examples/the-cat-sat", ["#tbl-the-cat-sat-weights"]),
        ("examples/cat-sat-on-it", ["#tbl-cat-sat-on-it-query", "#tbl-cat-sat-on-it-weights"]),
        ("examples/apple", ["#tbl-apple-scores", "#tbl-apple-weights"]),
    ],
)
def test_heads_stand_side_by_side_on_a_desk_and_below_each_other_on_a_phone(opened, name, blocks):
    """Row labels appear once on a wide screen, and with every table on a phone."""
    page = opened(name, folds=True)
    for block in blocks:
        lefts, tops = places(page, block)
        assert len(lefts) > 1
        assert len(set(tops)) == 1
        assert lefts == sorted(set(lefts))
        labels = page.locator(f"{block} tbody th").evaluate_all(SEEN)
        assert labels == sorted(labels, reverse=True)
        assert sum(labels) * len(lefts) == len(labels)
    resize(page, 390)
    for block in blocks:
        lefts, tops = places(page, block)
        assert len(set(lefts)) == 1
        assert tops == sorted(set(tops))
        assert all(page.locator(f"{block} tbody th").evaluate_all(SEEN))


def test_a_head_s_query_key_and_value_never_share_a_row_with_another_head_s(opened):
    page = opened("mechanism/multi-head-attention")
    block = page.locator(".stage-block:has(#tbl-it-tired-value-2)")
    for width, rows in ((1280, [3, 3]), (768, [3, 3]), (390, [2, 1, 2, 1])):
        resize(page, width)
        tops = [top for _, top in block.evaluate(PLACES)]
        assert [tops.count(top) for top in sorted(set(tops))] == rows


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_on_tinted_cells_can_be_read_and_a_larger_weight_is_further_from_the_paper(
    opened, theme
):
    page = opened("examples/cat-sat-on-it", folds=True, theme=theme)
    page.locator(".printed-switch input").check()
    assert violations(page, "#tbl-cat-sat-on-it-weights", runOnly=["color-contrast"]) == []
    cells = page.locator("#tbl-cat-sat-on-it-weights .heat").evaluate_all(
        """all => { const canvas = document.createElement("canvas").getContext("2d");
        return all.map(e => {
          canvas.clearRect(0, 0, 1, 1);
          canvas.fillStyle = getComputedStyle(e).backgroundColor;
          canvas.fillRect(0, 0, 1, 1);
          const [r, g, b] = canvas.getImageData(0, 0, 1, 1).data;
          return [e.closest(".stage-part").style.getPropertyValue("--head"),
                  parseFloat(e.innerText), 0.2126 * r + 0.7152 * g + 0.0722 * b];
        }); }"""
    )
    heads = {head for head, *_ in cells}
    assert len(heads) == 3
    for head in heads:
        shades = [shade for h, _, shade in sorted(cells) if h == head]
        assert shades == sorted(shades, reverse=theme == "light")
        assert abs(shades[0] - shades[-1]) > 30
