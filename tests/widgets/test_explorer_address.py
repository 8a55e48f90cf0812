"""The state of an explorer in the page's address, in a real Chromium."""

from dataclasses import replace

import pytest
from book_site import rest

from mha import trace

pytestmark = pytest.mark.browser


UNREADABLE = (
    "scale=wide&temperature=0&causal=2&padding=7&order=0.0.1&off=9&focus=5&map=sums&query=9"
    "&at=weights.9.9.9&embeddings.0.9=1&nothing=1&constructor=1"
    "&temperature=-1&order=0.1&embeddings.0.0=x&query.0.0.0=1&__proto__=1&edit=1"
    "&causal=constructor&scale=toString&constructor.0.0=1&at=__proto__&outcome=4&component=2",
    f"scale={'1' * 80_000}x&embeddings.0.0=1e{'9' * 5_000}&padding={'9' * 4_000}&tokens=%3Cb%3E"
    "&own=%3Cscript%3E&scale=%22%7B%5B&at=%E0%A4%A",
)
STATE = "document.querySelector('mha-explorer').explorer.state"


def test_an_address_that_cannot_be_read_is_left_out(view):
    seen = view("the-cat-sat", address="#explore=the-cat-sat&prints=1").live()
    assert seen.page.evaluate("window.shift") == 0
    state = seen.page.evaluate(STATE)
    for address in UNREADABLE:
        seen.page.goto("about:blank")
        seen.go(f"#explore=the-cat-sat&{address}&prints=1").live()
        assert seen.page.evaluate(STATE) == state
        scripts = seen.page.locator("head script").count() + 1
        assert seen.page.locator("script, b").count() == scripts, address
        seen.open()
        assert seen.status == (
            "The address holds something that this explorer cannot read; it was left out."
        ), address
        seen.holds(seen.run)
    assert seen.errors == []


CLIPBOARD = """answer => Object.defineProperty(navigator, "clipboard", { configurable: true,
  value: { writeText: (text) => { window.copied = text; return Promise[answer](); } } })"""


def test_a_new_address_is_taken_over_anchors_still_work_and_the_link_is_copied(view):
    seen = view("the-cat-sat", address="#after")
    rest(seen.page, 200)
    seen.page.evaluate("location.hash = '#explore=the-cat-sat&causal=1'")
    seen.live()
    rest(seen.page, 200)
    assert seen.page.evaluate("window.shift") < 1e-4  # digits may begin elsewhere in their field
    seen.open()
    causal = trace(replace(seen.run.example, is_causal=True))
    seen.holds(causal)
    seen.page.evaluate("location.hash = '#after'")
    assert seen.page.evaluate("document.querySelector('#after').matches(':target')")
    seen.holds(causal)
    assert seen.settled_url().endswith("#after")
    seen.page.evaluate("location.hash = '#explore=another-example&causal=0'")
    seen.holds(causal)
    # The link is copied, or stands in a field.
    link = seen.file.as_uri() + "#explore=the-cat-sat&causal=1"
    share = seen.page.get_by_role("button", name="Share", exact=True)
    seen.page.evaluate(CLIPBOARD, "resolve")
    share.click()
    assert seen.page.evaluate("window.copied") == link
    assert seen.status == "The link is copied."
    seen.page.evaluate(CLIPBOARD, "reject")
    share.click()
    assert seen.page.get_by_label("Link to this state").input_value() == link
    assert seen.page.evaluate("getSelection().toString()") == link
    assert seen.status == "Copy the link from the field."
