"""What stands between the tests and axe changes nothing of what axe finds."""

import pytest
from accessible import found, violations
from axe_playwright_python.sync_playwright import Axe

pytestmark = pytest.mark.browser

COLOURS = ("black", "#777", "rgb(119 119 119 / 60%)", "hsl(0 0% 50%)", "oklch(70% 0.1 200)")
LINES = [
    f'<p style="color: {ink}; background: {paper}">From {paper} to {ink}</p>'
    for ink in COLOURS
    for paper in ("white", "#eee", "rgb(238 238 238 / 50%)", "transparent", "lab(30% 20 -40)")
]
PAGE = f"""<!doctype html><html lang="en"><title>Colours</title><main><h1>Colours</h1>
{"".join(LINES)}<img src="data:,"><div style="opacity: 0.5">{"".join(LINES[-5:])}</div></main>"""


@pytest.fixture
def page(browser):
    context = browser.new_context()
    page = context.new_page()
    page.set_content(PAGE)
    yield page
    context.close()


def test_each_fault_is_told_as_axe_tells_it(page):
    told = found(page)["violations"]
    assert told == Axe().run(page).response["violations"]
    (image,) = (rule["nodes"] for rule in told if rule["id"] == "image-alt")
    (faint,) = (rule["nodes"] for rule in told if rule["id"] == "color-contrast")
    assert len(image) == 1
    assert 10 < len(faint) < len(LINES) + 5


def test_a_part_can_be_looked_at_alone(page):
    (rule,) = violations(page, "main > img")
    assert rule == ("image-alt", ['<img src="data:,">'])
