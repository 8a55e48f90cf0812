"""The first page: its first screen on a wide screen and on a phone, and its size."""

import re
from collections import Counter

import book_site as site
import pytest
from page_checks import colour_of
from playwright.sync_api import expect
from windows import fits, turn

from mha.audit.judging import judgements
from mha.audit.sources import source_names

pytestmark = pytest.mark.book


def test_the_wrong_sum_stands_beside_the_right_one():
    wrong, right = site.soup("index").select(".front-sum")
    said = [" ".join(p.get_text().split()) for p in (*wrong.select("p"), *right.select("p"))]
    assert said[1] == "0.48 + 0.04 + 0.6 + 0.06 = 0.81, which is wrong"
    assert said[4] == "0.48 + 0.04 + 0.6 + 0.06 = 1.18"
    assert wrong.select_one(".slip").get_text() == "0.81"
    judged = [j for name in source_names() for j in judgements(name)]
    kinds = Counter("right" if j.agrees_end_to_end else j.agrees_locally for j in judged)
    assert f"Of {len(judged)} numbers" in said[2]
    assert f", {kinds['right']} are right" in said[2]
    assert f"{kinds[False]} are slips, and {kinds[True]} are wrong because of" in said[2]


@pytest.mark.browser
@pytest.mark.parametrize(("width", "height"), [(390, 844), (1100, 800), (1280, 800)])
def test_the_first_screen_has_the_question_its_picture_and_the_way_in(opened, width, height):
    page = opened("index", width=width, height=height)
    page.evaluate("document.fonts.ready.then(() => true)")
    way_in, picture = page.locator(".front-start a"), page.locator("#fig-front-bank")
    expect(way_in).to_have_text("Start reading")
    expect(way_in).to_have_attribute("href", re.compile("^mechanism/what-attention-does.html"))
    assert "How could a calculation know?" in page.locator(".front-question").inner_text()
    seen = [page.locator("article h1"), page.locator(".front-question"), picture, way_in]
    if width == 1280:  # a desk has the sums besides
        seen.append(page.locator(".front-sums"))
        wrong, right = (page.locator(".front-sum").nth(i).bounding_box() for i in (0, 1))
        assert wrong["y"] == right["y"]
    for box in (each.bounding_box() for each in seen):
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= height
        assert box["x"] + box["width"] <= width
    for theme in ("light", "dark"):
        turn(page, theme)
        colours = page.locator(".slip").evaluate(
            """e => [getComputedStyle(e).color, getComputedStyle(e, "::after").borderTopColor]"""
        )
        assert colours == [colour_of(page, "--slip")] * 2
    page.locator(".front-sum .slip a").click()
    page.wait_for_selector("mha-instrument.live")
    expect(page.locator(".pencil-row .n.at")).to_have_text("0.81")
    expect(page.locator(".pencil-row .n.at")).to_be_in_viewport()
    expect(page.locator(".pencil-line")).to_have_text("0.48 + 0.04 + 0.6 + 0.06 = 0.81 1.18")
    expect(page.locator(".pencil-line")).to_be_in_viewport()
    fits(page, width)


def test_four_routes_lead_into_the_book():
    routes = {h.get_text(): h.parent for h in site.soup("index").select("article section > h2")}
    links = {
        name: [a["href"] for a in part.select("a[href]:not(.headerlink)")]
        for name, part in ((name.removesuffix("#"), part) for name, part in routes.items())
    }
    hour = ["what-attention-does", "formula-of-self-attention", "cat-sat-by-hand"]
    hour += ["permutation-equivariance", "scaling", "scaling-cure"]
    hour += ["multi-head-attention", "fig-it-tired-explorer", "output-projection"]
    hour += ["residual-stream", "one-row-alone"]
    assert [re.split("[/#]", href)[-1] for href in links["One hour"]] == hour
    minutes = [int(n) for n in re.findall(r"(\d+) minutes", routes["One hour#"].get_text())]
    assert len(minutes) == 6
    assert 60 <= sum(minutes) <= 70  # "a little more than an hour"
    last = site.soup("mechanism/self-attention").select_one("section:has(> #one-row-alone)")
    boxes = last.select("mha-your-turn")
    assert [len(box.select("input")) for box in boxes] == [3, 3, 2]
    assert any("multi-head-attention" in href for href in links["One evening"])
    assert any("what-the-sources-print" in href for href in links["The whole book"])
    assert any("your-own-attention" in href for href in links["Check your attention"])


@pytest.mark.parametrize(
    ("chapter", "stops"),
    [
        ("what-attention-does", 1),
        ("self-attention", 3),
        ("scaling", 1),
        ("multi-head-attention", 1),
    ],
)
def test_each_stop_of_the_hour_leads_back_to_the_route(chapter, stops):
    back = site.soup(f"mechanism/{chapter}").select('article a[href$="index.html#one-hour-route"]')
    assert len(back) == stops
    assert site.soup("index").select_one("#one-hour-route")


@pytest.mark.browser
def test_the_row_of_one_query_is_explained_and_can_be_worked_with(opened):
    page = opened("index")
    page.locator("#fig-front").scroll_into_view_if_needed()
    page.locator("mha-explorer.live .one").wait_for()
    said = page.locator("section#one-row-live > p").first.inner_text()
    assert all(
        word in said for word in ("query", "key", "score", "exponential", "weights", "values")
    )
