"""What a reader does to the window of a page, whatever page it is."""


def resize(page, width, height=900):
    page.set_viewport_size({"width": width, "height": height})


def turn(page, theme):
    page.evaluate("(theme) => { document.documentElement.dataset.theme = theme; }", theme)


def fits(page, width):
    """Assert that nothing makes the page wider than a window."""
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def unfold(page):
    """Press what opens all numbers of each example, beside its words."""
    for fold in page.locator("details.all-numbers > summary").all():
        fold.click(position={"x": 4, "y": 12})
