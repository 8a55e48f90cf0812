"""A page runs and loads its own files alone: its policy says so, and no control runs into it."""

import shutil
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
from book_site import SITE, path, rest
from helpers import raises
from served_site import serving_below_a_path
from sphinx.errors import ExtensionError

from byhand.site.policy import finish

# Told of by the browser as it refuses, whatever else the console says.
LISTEN = """
window.refused = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.refused.push(`${event.effectiveDirective} ${event.blockedURI} ${event.sample}`));
"""

# Use controls as a reader might, a few of each kind: what opens is opened first, for there are
# controls inside.
USE_CONTROLS = """
async () => {
  const rest = () => new Promise((done) => setTimeout(done, 30));
  const say = (element, ...events) =>
    events.forEach((name) => element.dispatchEvent(new Event(name, { bubbles: true })));
  const used = new Set(), kinds = {};
  const isRare = (element) => {
    const inside = element.closest("mha-instrument, mha-explorer, mha-quiz")?.id;
    const kind = [inside, element.tagName, element.className.baseVal ?? element.className];
    kinds[kind] = (kinds[kind] ?? 0) + 1;
    return kinds[kind] <= 20;
  };
  const fresh = (selector) => [...document.querySelectorAll(selector)].filter((element) =>
    !used.has(element) && !element.disabled && used.add(element) && isRare(element));
  for (let round = 0; round < 3; round += 1) {
    fresh("details:not([open])").forEach((fold) => { fold.open = true; });
    await rest();
    for (const input of fresh("input, textarea")) {
      if (["checkbox", "radio"].includes(input.type)) input.click();
      else {
        input.value = input.type === "range" ? input.max : "0.5";
        say(input, "input", "change");
      }
    }
    for (const list of fresh("select")) {
      list.selectedIndex = list.options.length - 1;
      say(list, "input", "change");
    }
    for (const pressed of fresh("button, [role=button], [role=tab]")) {
      if (!pressed.isConnected) continue; // the one before has put others in its place
      pressed.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
      document.querySelectorAll("dialog[open]").forEach((dialog) => dialog.close());
    }
    for (const handle of fresh("svg [tabindex], [role=slider]")) {
      ["ArrowUp", "ArrowRight", "Enter"].forEach((key) => handle.dispatchEvent(
        new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true })));
    }
    await rest();
  }
  scrollTo(0, document.documentElement.scrollHeight);
  dispatchEvent(new Event("beforeprint"));
  dispatchEvent(new Event("afterprint"));
  await rest();
  return used.size;
}
"""


class Crawl:
    """A page in a browser of its own, and what it ran into."""

    def __init__(self, context, address):
        self.complaints, self.outside = [], []
        self.address = address
        context.add_init_script(LISTEN)
        self.page = context.new_page()
        self.page.on("console", self.hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("response", lambda r: r.status < 400 or self.complaints.append(r.url))
        self.page.on("request", self.note)

    def hear(self, message):
        """Note what the console warns of."""
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def note(self, request):
        """Note a request that leaves the book."""
        if not request.url.startswith((self.address, "data:")):
            self.outside.append(request.url)

    def refused(self):
        """Return what the page's policy refused."""
        return self.page.evaluate("window.refused")


@pytest.fixture(scope="module")
def address():
    """Serve the book below a path; return where it is."""
    with serving_below_a_path(SITE) as served:
        yield served.rstrip("/")


# `test_book_browser.py` opens every page from a file and hears of every refusal, for the console
# says it. Here controls are used too, on pages that have together every kind of them.
WITH_CONTROLS = [
    "index", "search", "mechanism/multi-head-attention", "mechanism/what-attention-does",
    "examples/apple", "transformer/depth", "transformer/small-model",
    "transformer/your-own-attention", "reference/layer", "sources/what-the-sources-print",
]  # fmt: skip


@pytest.mark.book
@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_CONTROLS)
def test_every_control_of_a_page_keeps_its_policy(browser, address, name):
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    crawl = Crawl(context, address)
    crawl.page.goto(f"{address}/{name}.html")
    crawl.page.wait_for_load_state("load")
    assert crawl.page.evaluate(USE_CONTROLS) >= 5
    assert crawl.refused() == []
    assert crawl.complaints == []
    assert crawl.outside == []
    assert crawl.page.url.startswith(f"{address}/{name}.html")
    links = crawl.page.eval_on_selector_all("a[href]", "all => all.map((a) => a.href)")
    inside = [link for link in links if urlsplit(link).netloc == urlsplit(address).netloc]
    assert [link for link in inside if not link.startswith(f"{address}/")] == []
    context.close()


BROKEN = """
<script>window.hurt = "script"</script>
<img src="_static/none.png" alt="" onerror="window.hurt = 'handler'">
<iframe src="https://example.org/"></iframe>
<script src="https://example.org/a.js"></script>
<link rel="stylesheet" href="https://example.org/a.css">
<a id="link" href="javascript:window.hurt = 'link'">Link</a>
<object data="https://example.org/a"></object>
"""


@pytest.mark.book
@pytest.mark.browser
def test_a_browser_refuses_what_a_page_should_not_have(tmp_path, browser):
    shutil.copytree(SITE / "_static", tmp_path / "_static")
    page = path("index").read_text(encoding="utf-8")
    (tmp_path / "index.html").write_text(page.replace("</article>", f"{BROKEN}</article>"))
    context = browser.new_context()
    with serving_below_a_path(tmp_path) as address:
        crawl = Crawl(context, address)
        crawl.page.goto(f"{address}index.html")
        crawl.page.evaluate("document.getElementById('link').click()")
        rest(crawl.page, 200)
        told = " ".join(crawl.refused())
        assert crawl.page.evaluate("window.hurt") is None
    context.close()
    for wanted in ("script-src-elem inline", "script-src-attr inline", "frame-src", "object-src"):
        assert wanted in told
    assert "script-src-elem https://example.org/a.js" in told
    assert "style-src-elem https://example.org/a.css" in told


def test_a_script_that_an_extension_adds_stops_the_build(tmp_path):
    (tmp_path / "_static").mkdir()
    (tmp_path / "index.html").write_text("<script>let added = 1;</script>", encoding="utf-8")
    app = SimpleNamespace(outdir=tmp_path, builder=SimpleNamespace(format="html"))
    with raises(ExtensionError, "index.html: its policy refuses the script let added = 1;"):
        finish(app, None)
