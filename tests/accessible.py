"""What axe finds wrong on a page, for the tests that open pages in a real Chromium."""

from axe_playwright_python.sync_playwright import Axe

# What passes is not listed element by element: on a long page that takes as long as the rules.
FAULTS_ALONE = {"resultTypes": ["violations"]}
# Without "preload" axe asks for no style sheets, which a file may not read.
WITHOUT_SHEETS = {"preload": False}


def violations(page, context=None, **options):
    """Return each rule that a page breaks, with the elements that break it."""
    found = Axe().run(page, context=context, options=FAULTS_ALONE | options).response["violations"]
    return [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found]
