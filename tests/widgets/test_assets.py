"""Scripts and styles as pages load them say what their sources say, in fewer characters."""

import pytest
from pygments.lexers import JavascriptLexer
from pygments.token import Comment, Whitespace

from mha.widgets.assets import FOLDER, bare

LOOK = FOLDER.parents[2] / "book" / "_static"
SCRIPTS = sorted([*FOLDER.glob("*.js"), *LOOK.glob("*.js")])
STYLES = sorted(FOLDER.glob("*.css"))

RULES = """text => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  // What is computed with variables or asked of a browser is kept with its spaces as written.
  return [...sheet.cssRules].map((rule) => rule.cssText.replace(/([,:]) /g, "$1"));
}"""


def tokens(script):
    """Return the tokens of a script, as a lexer that knows nothing of ours reads them."""
    found = JavascriptLexer().get_tokens(script)
    return [
        (kind, text)
        for kind, text in found
        if kind not in Comment and kind not in Whitespace and text.strip()
    ]


def joined(found):
    """Return tokens with those of one kind beside each other as one: signs may be read together."""
    texts = []
    for kind, text in found:
        if texts and texts[-1][0] == kind:
            texts[-1] = (kind, texts[-1][1] + text)
        else:
            texts.append((kind, text))
    return texts


@pytest.mark.parametrize("file", SCRIPTS, ids=lambda file: file.name)
def test_a_bare_script_has_the_tokens_of_its_source(file):
    text = file.read_text(encoding="utf-8")
    short = bare(text)
    assert joined(tokens(short)) == joined(tokens(text))
    assert len(short) < 0.95 * len(text)


@pytest.fixture(scope="module")
def page(browser):
    page = browser.new_page()
    yield page
    page.close()


@pytest.mark.browser
@pytest.mark.parametrize("file", STYLES, ids=lambda file: file.name)
def test_a_bare_style_sheet_has_the_rules_of_its_source(page, file):
    text = file.read_text(encoding="utf-8")
    rules = page.evaluate(RULES, text)
    assert page.evaluate(RULES, bare(text)) == rules
    assert len(rules) > 5
