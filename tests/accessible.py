"""What axe finds wrong on a page, for the tests that open pages in a real Chromium."""

from axe_playwright_python.sync_playwright import Axe

AXE = Axe().axe_script
OPTIONS = {
    # What passes is not listed element by element: on a long page that takes as long as the rules.
    "resultTypes": ["violations"],
    # A file may not read style sheets: axe would ask for each in vain, and need a rule less.
    "preload": False,
}
# For each element axe reads the colours of all that lies behind it, and they are few: a text that
# it has read once is not read again.
READ_ONCE = """() => {
  const colour = axe.commons.color.Color.prototype;
  const read = colour.parseString;
  const known = new Map();
  colour.parseString = function (text) {
    if (known.has(text)) [this.r, this.g, this.b, this.alpha] = known.get(text);
    else {
      read.call(this, text);
      known.set(text, [this.r, this.g, this.b, this.alpha]);
    }
    return this;
  };
}"""


def found(page, context=None, **options):
    """Return what axe tells of a page, or of the part that a selector names."""
    page.evaluate(AXE)
    page.evaluate(READ_ONCE)
    asked = [context, OPTIONS | options]
    return page.evaluate("([context, options]) => axe.run(context ?? document, options)", asked)


def violations(page, context=None, **options):
    """Return each rule that a page breaks, with the elements that break it."""
    told = found(page, context, **options)["violations"]
    return [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in told]
