"""The content security policy of pages: their own files, and two inline scripts known by hash.

The two scripts must run before anything is drawn; loaded from a file they would run too late. The
theme and the extensions add small inline scripts to each page; `early.js` sets their variables.

Each page states its policy in its head, before anything runs, and `_headers` states it for hosts
that read such a file (Netlify, Cloudflare Pages). A browser then refuses every other script,
handler, frame, plug-in and request, even if a mistake or a dependency put it on a page.
"""

import base64
import hashlib
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from byhand.site.assets import EARLY_SCRIPTS
from mha.widgets.assets import text_of

SCRIPT = re.compile(r"<script\b([^>]*)>(.*?)</script>", re.DOTALL | re.IGNORECASE)
HANDLER = re.compile(r"<[a-z][^<>]*\s(on[a-z]+)\s*=", re.IGNORECASE)
# What the theme and sphinx_togglebutton set by a script in the page, and `early.js` instead; of the
# first two nothing here makes use.
SET_IN_PAGE = re.compile(
    r"DOCUMENTATION_OPTIONS\.(?:pagename|search_as_you_type) = [^;]*;"
    r"|(?:let|var) toggle(?:HintShow|HintHide|OpenOnPrint|buttonSelector) = '[^']*';"
)

HEADERS = """\
/*
  Content-Security-Policy: {policy}; frame-ancestors 'self'
  Referrer-Policy: no-referrer
  X-Content-Type-Options: nosniff
"""


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    app.connect(
        "html-page-context", add_policy, priority=850
    )  # before the scripts that extensions add
    app.connect("build-finished", finish, priority=950)


def early_scripts() -> dict[str, str]:
    """Return the inline scripts of pages by name."""
    return {name: text_of(name).strip() for name in EARLY_SCRIPTS}


def policy() -> str:
    """Return the text of the content security policy."""
    digests = (hashlib.sha256(script.encode()).digest() for script in early_scripts().values())
    hashes = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    rules = {
        "default-src": "'none'",
        "script-src": f"'self' {hashes}",
        "style-src": "'self' 'unsafe-inline'",  # a bar's width is an attribute of its element
        "font-src": "'self'",
        "img-src": "'self' data:",
        "connect-src": "'self'",  # nothing but the preview asks for anything
        "form-action": "'self'",
        "base-uri": "'none'",
    }
    return "; ".join(f"{name} {sources}" for name, sources in rules.items())


def add_policy(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Add the policy and the early scripts to the head of a page."""
    meta = f'\n<meta http-equiv="Content-Security-Policy" content="{policy()}" />'
    context["metatags"] = meta + context.get("metatags", "")
    context["early_scripts"] = early_scripts()
    context["script_files"] = [
        file
        for file in context.get("script_files", ())
        if not SET_IN_PAGE.fullmatch(getattr(file, "attributes", {}).get("body", ""))
    ]


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Write the header file, and refuse a page with a script that the policy forbids."""
    if exception or app.builder.format != "html":
        return
    site = Path(app.outdir)
    (site / "_headers").write_text(HEADERS.format(policy=policy()), encoding="utf-8")
    for page in sorted(site.rglob("*.html")):
        if refused := forbidden_content(page.read_text(encoding="utf-8")):
            name = page.relative_to(site).as_posix()
            raise ExtensionError(f"{name}: its policy refuses {refused}")


def forbidden_content(page: str) -> str:
    """Return the first forbidden script or attribute of a page, shortened, or "".

    Examples
    --------
    >>> forbidden_content("<p>Text</p><script src=a.js></script>")
    ''
    >>> forbidden_content("<script>alert(1)</script>")
    'the script alert(1)'
    >>> forbidden_content('<p class="a" onclick="b()">Text</p>')
    'the attribute onclick'
    """
    known = set(early_scripts().values())
    for attributes, script in SCRIPT.findall(page):
        is_data = 'type="application/json"' in attributes
        if script.strip() and not is_data and script not in known:
            return f"the script {' '.join(script.split())[:60]}"
    handler = HANDLER.search(SCRIPT.sub("", page))
    return f"the attribute {handler[1]}" if handler else ""
