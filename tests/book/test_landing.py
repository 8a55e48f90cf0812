"""The first page: what it says in five seconds, on a desk and on a phone, and what it weighs."""

import book_site as site
import pytest

from mha.audit.judging import judgements
from mha.audit.sources import source_names

pytestmark = pytest.mark.book


def test_the_wrong_sum_stands_beside_the_right_one():
    wrong, right = site.soup("index").select(".front-sum")
    said = [" ".join(p.get_text().split()) for p in (*wrong.select("p"), *right.select("p"))]
    assert said[1] == "0.48 + 0.04 + 0.6 + 0.06 = 0.81, which is wrong"
    assert said[4] == "0.48 + 0.04 + 0.6 + 0.06 = 1.18"
    judged = [j for name in source_names() for j in judgements(name)]
    right_ones = sum(j.agrees_end_to_end for j in judged)
    assert f"of {len(judged)} numbers" in said[2]
    assert f", {right_ones} are right" in said[2]
    assert wrong.select_one(".slip").get_text() == "0.81"


def test_a_weight_is_called_attention_and_not_a_share_of_the_output():
    caption = site.soup("index").select_one("#fig-front figcaption").get_text()
    assert "of its attention to" in caption
    assert "output" not in caption


def test_there_are_three_ways_in_and_no_card():
    article = site.soup("index").find("article")
    headings = [h2.find(string=True) for h2 in article.select("h2")]
    assert headings[:3] == [
        "If you want to understand attention",
        "If you teach it",
        "If you want to change it",
    ]
    assert article.select(".sd-card") == []


@pytest.fixture
def landing(browser):
    contexts = []

    def open_page(width, *, height=900, theme="light"):
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=theme
        )
        contexts.append(context)
        page = context.new_page()
        page.requested = []
        page.on("request", lambda request: page.requested.append(request.url))
        page.goto(site.path("index").as_uri())
        page.wait_for_load_state("load")
        page.evaluate("document.fonts.ready.then(() => true)")
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.browser
def test_one_screen_of_a_desk_has_title_sums_and_the_way_in(landing):
    page = landing(1280)
    for found in (page.locator("article h1"), page.locator(".front-sums"), page.locator(".sd-btn")):
        box = found.bounding_box()
        assert box["y"] + box["height"] < 900
    wrong, right = (page.locator(".front-sum").nth(i).bounding_box() for i in (0, 1))
    assert wrong["y"] == right["y"]
    assert page.locator("article h1").evaluate("e => parseFloat(getComputedStyle(e).fontSize)") > 70
    page.get_by_role("link", name="Start reading").click()
    page.wait_for_url("**/mechanism/what-attention-does.html*")


@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_slip_is_struck_through_in_red_pencil(landing, theme):
    page = landing(1280, theme=theme)
    colours = page.locator(".slip").evaluate(
        """e => [getComputedStyle(e).color, getComputedStyle(e, "::after").borderTopColor]"""
    )
    pencil = page.evaluate(
        """() => { const probe = document.createElement("i");
                   probe.style.color = "var(--slip)";
                   document.body.append(probe);
                   return getComputedStyle(probe).color; }"""
    )
    assert colours == [pencil, pencil]


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 768, 1280])
def test_the_contents_are_a_drawer_at_every_width(landing, width):
    page = landing(width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    link = page.locator("nav.bd-links a", has_text="Scaling")
    assert not link.is_visible()
    page.get_by_role("button", name="Contents of the book").click()
    assert link.is_visible()
    page.keyboard.press("Escape")
    assert not link.is_visible()
    assert page.get_by_role("button", name="Search").first.is_visible()


@pytest.mark.browser
def test_no_font_comes_that_the_first_page_does_not_show(landing):
    fonts = {url.rpartition("/")[2] for url in landing(1280).requested if url.endswith("woff2")}
    assert "stix-two-text.woff2" in fonts
    assert not any("mono" in font for font in fonts), fonts  # the strip shows a root


@pytest.mark.browser
def test_the_first_page_alone_is_dressed_so(landing):
    page = landing(1280)
    assert any(url.endswith("landing.css") or "landing.css?" in url for url in page.requested)
    page.requested.clear()
    page.goto(site.path("notation").as_uri())
    assert not any("landing.css" in url for url in page.requested)
