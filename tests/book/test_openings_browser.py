"""The opening of each teaching chapter: a question and a picture, without controls."""

import page_checks as checks
import pytest
from book_site import advance_clock, toc_pages

pytestmark = [pytest.mark.book, pytest.mark.browser]

CHAPTERS = [name for name in toc_pages() if name.startswith(("mechanism/", "transformer/"))]
MOST_CONTROLS = 5
LOWEST = {1280: 900, 390: 1300}
"""The largest offset of the first section from the top of the page, by window width."""

# Controls before the first section: elements that respond to the keyboard or a pointer.
CONTROLS = """() => {
  const first = document.querySelector("article h2");
  const acts = `a[href], button, input, select, textarea, summary, [contenteditable], [tabindex],
    [role=button], [role=slider], [role=spinbutton], [role=checkbox], [role=radio]`;
  return [...document.querySelectorAll("article *")].filter((e) => e.matches(acts)
    && !e.matches(".headerlink") && e.checkVisibility() && !e.matches("[tabindex='-1']")
    && e.compareDocumentPosition(first) & Node.DOCUMENT_POSITION_FOLLOWING)
    .map((e) => e.outerHTML.slice(0, 90));
}"""

# The blocks of the opening: the elements of the chapter before its first section.
OPENING = """() => [...document.querySelectorAll("article > section > :not(section)")]
  .filter((e) => e.checkVisibility())
  .map((e) => [e.matches("p") ? e.textContent : "",
    e.matches(".cell") && e.querySelector("svg, table") !== null])"""


@pytest.mark.parametrize("width", LOWEST)
@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_opens_with_a_question_and_a_picture_and_nothing_to_operate(opened, name, width):
    page = opened(name, width=width, height=844)
    page.evaluate("document.fonts.ready.then(() => true)")
    blocks = page.evaluate(OPENING)
    file = f"book/{name}.md"
    assert any("?" in words for words, _ in blocks), f"{file}: a question is wanted in its opening"
    pictures = sum(is_picture for _, is_picture in blocks)
    assert pictures == 1, f"{file}: {pictures} figures and tables in its opening; one is wanted"
    checks.build_explorers(page)
    page.keyboard.press("Shift")  # numbers of the text are tied when a reader does something
    advance_clock(page, 600)
    controls = page.evaluate(CONTROLS)
    told = f"{file}: {len(controls)} controls in its opening; at most {MOST_CONTROLS}: {controls}"
    assert len(controls) <= MOST_CONTROLS, told
    top = page.locator("article h2").first.bounding_box()["y"] + page.evaluate("scrollY")
    told = (
        f"{file}: the first section begins at {top} pixels, {width} wide; {LOWEST[width]} at most"
    )
    assert top <= LOWEST[width], told
