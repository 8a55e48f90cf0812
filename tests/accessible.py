"""Accessibility checks of a page: axe's violations, and controls too small for a finger."""

from pathlib import Path

AXE = (Path(__file__).parent / "axe" / "axe.min.js").read_text(encoding="utf-8")
OPTIONS = {
    # Passing elements are not listed: on a long page this takes as long as the rules themselves.
    "resultTypes": ["violations"],
    # A page opened as a file may not read its style sheets, so axe must not try to preload them.
    "preload": False,
    # axe calls it experimental, but WCAG has it at level A: voice control uses the visible label.
    "rules": {"label-content-name-mismatch": {"enabled": True}},
}


def axe_results(page, context=None, **options):
    """Return axe's results for a page, or for the part that the selector `context` matches."""
    page.evaluate(AXE)
    asked = [context, OPTIONS | options]
    return page.evaluate("([context, options]) => axe.run(context ?? document, options)", asked)


def violations(page, context=None, **options):
    """Return the id and the elements of each axe rule that a page violates."""
    told = axe_results(page, context, **options)["violations"]
    return [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in told]


def too_small(controls):
    """Return the HTML of the controls that are narrower or lower than 24 pixels."""
    return controls.evaluate_all(
        """all => all.filter(e => { const { width, height } = e.getBoundingClientRect();
             return Math.min(width, height) < 24; }).map(e => e.outerHTML.slice(0, 80))"""
    )
