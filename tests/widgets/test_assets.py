"""Scripts and styles as pages load them say what their sources say, in fewer characters."""

from itertools import groupby
from operator import itemgetter

import pytest
from book_site import STATIC
from pygments.lexers import JavascriptLexer
from pygments.token import Comment

from mha.widgets.assets import FOLDER, bare

SCRIPTS = sorted([*FOLDER.glob("*.js"), *STATIC.glob("*.js")])
RULES = """text => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  // What is computed with variables or asked of a browser is kept with its spaces as written.
  return [...sheet.cssRules].map((rule) => rule.cssText.replace(/([,:]) /g, "$1"));
}"""


def tokens(script):
    """Return the tokens of a script as a lexer reads them: signs may be read together."""
    found = [
        (kind, text.strip())
        for kind, text in JavascriptLexer().get_tokens(script)
        if kind not in Comment and text.strip()
    ]
    groups = groupby(found, key=itemgetter(0))
    return [(kind, "".join(text for _, text in group)) for kind, group in groups]


@pytest.mark.parametrize("file", SCRIPTS, ids=lambda file: file.name)
def test_a_bare_script_has_the_tokens_of_its_source(file):
    text = file.read_text(encoding="utf-8")
    short = bare(text)
    assert tokens(short) == tokens(text)
    assert len(short) < 0.95 * len(text)


@pytest.mark.browser
def test_a_bare_style_sheet_has_the_rules_of_its_source(arithmetic_page):
    for file in FOLDER.glob("*.css"):
        text = file.read_text(encoding="utf-8")
        rules = arithmetic_page.evaluate(RULES, text)
        assert arithmetic_page.evaluate(RULES, bare(text)) == rules, file
