"""Changes to the window of a page: size, theme and folds."""


def resize(page, width, height=900):
    page.set_viewport_size({"width": width, "height": height})


def turn(page, theme):
    page.evaluate("(theme) => { document.documentElement.dataset.theme = theme; }", theme)


def fits(page, width):
    """Assert that the page is no wider than the window."""
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def unfold(page):
    """Press the buttons that show all numbers of each example."""
    for fold in page.locator("details.all-numbers > summary").all():
        fold.click(position={"x": 4, "y": 12})
