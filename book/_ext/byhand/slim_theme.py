"""The theme's files without what no page of this book uses: its icon fonts and Bootstrap's script.

The theme has no option for it. Its icons are drawn by the templates in ``book/_templates``, which
load neither script; this part takes the icons' rules out of the theme's style sheet, so that no
browser fetches the icon font, and the unused files out of the built site.
"""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

SHEET = "styles/pydata-sphinx-theme.css"
UNUSED = ("vendor/fontawesome", "scripts/fontawesome.js", "scripts/bootstrap.js")
ICON = r"\.(fa|fa[bsrl]|fa-[\w-]+)(::?(before|after))?"
ICON_SELECTOR = re.compile(rf"{ICON}(,{ICON})*")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("build-finished", slim)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def slim(app: Sphinx, exception: Exception | None) -> None:
    """Make the theme's files in the built site smaller, if it is this book's theme."""
    static = Path(app.outdir) / "_static"
    sheet = static / SHEET
    if exception or app.builder.format != "html" or not sheet.is_file():
        return
    sheet.write_text(without_icons(sheet.read_text(encoding="utf-8")), encoding="utf-8")
    for name in UNUSED:
        if (static / name).is_dir():
            shutil.rmtree(static / name)
        for file in static.glob(f"{name}*"):
            file.unlink()


def without_icons(sheet: str) -> str:
    """Return a style sheet without the rules and fonts of Font Awesome.

    Raises
    ------
    ExtensionError
        If the icon font would still be loaded: the theme has changed.

    Examples
    --------
    >>> without_icons(".fa-a:before{top:0}.b,.fa-a{top:0}@media print{.fa-c{top:0}}")
    '.b,.fa-a{top:0}@media print{.fa-c{top:0}}'
    """
    kept = "".join(rule for rule in rules(sheet) if not is_icons(rule))
    if "fa-solid-900" in kept:
        raise ExtensionError("the theme's style sheet still loads its icon font")
    return kept


def is_icons(rule: str) -> bool:
    """Tell whether a rule is about the icon font alone."""
    selector = re.sub(r"/\*.*?\*/", "", rule.partition("{")[0], flags=re.DOTALL).strip()
    if selector == "@font-face":
        return "Font Awesome" in rule or "FontAwesome" in rule
    return bool(ICON_SELECTOR.fullmatch(selector)) or selector.startswith("@keyframes fa-")


def rules(sheet: str) -> Iterator[str]:
    """Yield a style sheet's outermost rules, each with what stands before it."""
    start = depth = 0
    for brace in re.finditer(r"[{}]", sheet):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            yield sheet[start : brace.end()]
            start = brace.end()
    yield sheet[start:]
