"""The theme's files without the parts that no page of this book uses.

Neither the theme nor Sphinx has an option for this. The templates in ``book/_templates`` draw the
icons and load neither Font Awesome nor Bootstrap's script, so these files are deleted. A rule of a
third-party style sheet is deleted if each of its selectors names an element, class or id that no
page and no script contains. Text in brackets, such as ``:not(.a)``, is ignored, which can only keep
more rules. The book's own sheets lose only their comments, because its scripts build names of
classes.
"""

import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import tinycss2
from sphinx.application import Sphinx

from byhand.reuse import compute_changed
from byhand.site.assets import OWN
from mha.widgets.assets import published_names

THEME_SHEET = "styles/pydata-sphinx-theme.css"
UNUSED = ("vendor/fontawesome", "scripts/fontawesome.js", "scripts/bootstrap.js")
ICON_FONT = re.compile(r"@font-face\s*{[^}]*Font ?Awesome[^}]*}")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
INDENT = re.compile(r"\s*\n\s*")
TAG = re.compile(r"<[^>]*>")
WORD = re.compile(r"-{0,2}[A-Za-z_][\w-]*")
GROUPS = ("media", "supports", "container", "layer")  # at-rules that hold rules


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    app.connect(
        "build-finished", remove_unused, priority=900
    )  # when the theme has written everything


def remove_unused(app: Sphinx, exception: Exception | None) -> None:
    """Reduce the built site if it has this book's theme."""
    static = Path(app.outdir) / "_static"
    if exception or app.builder.format != "html" or not (static / THEME_SHEET).is_file():
        return
    for name in UNUSED:
        if (static / name).is_dir():
            shutil.rmtree(static / name)
        for file in static.glob(f"{name}*"):
            file.unlink()
    words = sorted(used_words(Path(app.outdir)))
    widgets = published_names()
    others = {}
    for file in static.rglob("*.css"):
        sheet = INDENT.sub("\n", COMMENT.sub("", file.read_text(encoding="utf-8")))
        file.write_text(sheet, encoding="utf-8")
        if not ((OWN / file.relative_to(static)).is_file() or file.name in widgets):
            others[str(file)] = "\0".join([ICON_FONT.sub("", sheet), *words])
    for name, sheet in compute_changed(
        Path(app.doctreedir) / "sheets.json", others, _reduce
    ).items():
        Path(name).write_text(sheet, encoding="utf-8")


def _reduce(sheet_and_words: str) -> str:
    """Return a style sheet without unused rules, given with the used words after it."""
    sheet, *words = sheet_and_words.split("\0")
    return without_unused(sheet, set(words))


def used_words(site: Path) -> set[str]:
    """Return all words in the tags of pages and in scripts, which may add elements."""
    texts = [" ".join(TAG.findall(page.read_text("utf-8"))) for page in site.rglob("*.html")]
    texts += [script.read_text("utf-8") for script in (site / "_static").rglob("*.js")]
    return {word for text in texts for word in WORD.findall(text)}


def without_unused(sheet: str, words: set[str]) -> str:
    """Return a style sheet without rules that match none of some elements and classes.

    Examples
    --------
    >>> without_unused("p, .a p {top: 0} .a {left: 0} @media print {.a {top: 0}}", {"p"})
    'p, .a p {top: 0}'
    """
    rules = tinycss2.parse_stylesheet(sheet, skip_comments=True, skip_whitespace=True)
    return "\n".join(rule.serialize() for rule in _used(rules, words))


def _used(rules: Iterable[Any], words: set[str]) -> Iterator[Any]:
    for rule in rules:
        if rule.type == "at-rule" and rule.lower_at_keyword in GROUPS and rule.content:
            inside = tinycss2.parse_rule_list(rule.content, skip_comments=True)
            rule.content = list(_used(inside, words))
            if any(one.type != "whitespace" for one in rule.content):
                yield rule
        elif rule.type != "qualified-rule" or any(s <= words for s in _selectors(rule.prelude)):
            yield rule


def _selectors(prelude: Iterable[Any]) -> Iterator[set[str]]:
    """Yield for each selector the names that it needs to match."""
    names: set[str] = set()
    before = ""
    for token in prelude:
        if token == ",":
            yield names
            names = set()
        elif token.type in ("ident", "hash") and before != ":":
            names.add(token.value)
        before = token.value if token.type == "literal" else ""
    yield names
