"""Each page's content policy allows its own files alone, and no control violates the policy."""

import shutil
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
from book_site import SITE, advance_clock, path
from helpers import raises
from served_site import serving_below_a_path
from sphinx.errors import ExtensionError

from byhand.site.policy import finish

# The browser fires this event for each violation, independently of the console.
LISTEN = """
window.refused = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.refused.push(`${event.effectiveDirective} ${event.blockedURI} ${event.sample}`));
"""

# Operate the controls as a reader might, at most twenty of a kind, after opening all folds.
USE_CONTROLS = """
async () => {
  const rest = () => new Promise((done) => setTimeout(done, 30));
  const used = new Set(), kinds = {};
  const fresh = (selector) => [...document.querySelectorAll(selector)].filter((element) => {
    const inside = element.closest("mha-instrument, mha-explorer, mha-quiz")?.id;
    const kind = [inside, element.tagName, element.className.baseVal ?? element.className];
    return !used.has(element) && !element.disabled && element.isConnected && used.add(element)
      && (kinds[kind] = (kinds[kind] ?? 0) + 1) <= 20;
  });
  for (let round = 0; round < 3; round += 1) {
    fresh("details:not([open])").forEach((fold) => { fold.open = true; });
    await rest();
    for (const field of fresh("input:not([type=checkbox], [type=radio]), textarea, select")) {
      if (field.options) field.selectedIndex = field.options.length - 1;
      else field.value = field.type === "range" ? field.max : "0.5";
      field.dispatchEvent(new Event("input", { bubbles: true }));
      field.dispatchEvent(new Event("change", { bubbles: true }));
    }
    for (const pressed of fresh("button, input, [role=button], [role=tab]")) {
      pressed.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
      document.querySelectorAll("dialog[open]").forEach((dialog) => dialog.close());
    }
    for (const handle of fresh("svg [tabindex], [role=slider]")) {
      ["ArrowUp", "ArrowRight", "Enter"].forEach((key) => handle.dispatchEvent(
        new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true })));
    }
    await rest();
  }
  dispatchEvent(new Event("beforeprint"));
  dispatchEvent(new Event("afterprint"));
  await rest();
  return used.size;
}
"""


def new_recorded_page(context):
    """Return a new page, the list of its console errors, and the list of its requests."""
    page, complaints, asked = context.new_page(), [], []
    page.add_init_script(LISTEN)
    page.on("console", lambda m: m.type in ("error", "warning") and complaints.append(m.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("response", lambda r: r.status < 400 or complaints.append(r.url))
    page.on("request", lambda request: asked.append(request.url))
    return page, complaints, asked


@pytest.fixture(scope="module")
def address():
    with serving_below_a_path(SITE) as served:
        yield served


# `test_book_browser.py` opens every page from a file and hears of every refusal, for the console
# reports it. Here controls are operated too, on pages that together have every kind of control.
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
    page, complaints, asked = new_recorded_page(context)
    page.goto(f"{address}{name}.html")
    page.wait_for_load_state("load")
    assert page.evaluate(USE_CONTROLS) >= 5
    assert page.evaluate("window.refused") == []
    assert complaints == []
    assert [url for url in asked if not url.startswith((address, "data:"))] == []
    assert page.url.startswith(f"{address}{name}.html")
    links = page.eval_on_selector_all("a[href]", "all => all.map((a) => a.href)")
    host = urlsplit(address).netloc
    assert [a for a in links if urlsplit(a).netloc == host and not a.startswith(address)] == []
    context.close()


BROKEN = """
<script>window.hurt = "script"</script>
<img src="_static/none.png" alt="" onerror="window.hurt = 'handler'">
<iframe src="https://example.org/"></iframe>
<script src="https://example.org/a.js"></script>
<link rel="stylesheet" href="https://example.org/a.css">
<object data="https://example.org/a"></object>
"""


@pytest.mark.book
@pytest.mark.browser
def test_a_browser_refuses_what_a_page_should_not_have(tmp_path, browser):
    shutil.copytree(SITE / "_static", tmp_path / "_static")
    page = path("index").read_text(encoding="utf-8")
    (tmp_path / "index.html").write_text(page.replace("</article>", f"{BROKEN}</article>"))
    context = browser.new_context()
    page, *_ = new_recorded_page(context)
    with serving_below_a_path(tmp_path) as address:
        page.goto(f"{address}index.html")
        advance_clock(page, 200)
        told = " ".join(page.evaluate("window.refused"))
        assert page.evaluate("window.hurt") is None
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
