"""The state of an explorer in the page's address, in a real Chromium."""

from dataclasses import replace

import pytest

from mha import trace

pytestmark = pytest.mark.browser


def test_the_state_is_in_the_address_and_comes_back(view):
    seen = view("the-cat-sat").open()
    for label in ("Head 1", "Head 2 on", "Causal: no later keys", "sat is padding"):
        seen.choose(label)
    seen.page.get_by_label("Move cat earlier").click()
    seen.page.get_by_label("Other scale").fill("0.3")
    seen.page.get_by_label("Temperature").fill("1.5")
    seen.cell("embeddings", 0, 0).click()
    seen.page.get_by_label("Change to").fill("0.123456789012345")
    seen.choose("Scaled scores")
    seen.cell("scaled_scores", 1, 2, 0).click()
    url = seen.settled_url()
    address = url.partition("#")[2]
    assert address.startswith("explore=the-cat-sat&")
    assert "embeddings.1.0=0.123456789012345" in address
    before = seen.tables()
    panel = seen.panel
    again = view("the-cat-sat", address="#" + address).open()
    assert again.tables() == before
    assert again.panel == panel
    assert again.control("Head 1").is_checked()
    assert again.page.get_by_label("Temperature").input_value() == "1.5"
    assert again.settled_url().partition("#")[2] == address
    assert again.errors == []


UNREADABLE = (
    "scale=wide&temperature=0&causal=2&padding=7&order=0.0.1&off=9&focus=5&map=sums&query=9"
    "&at=weights.9.9.9&embeddings.0.9=1&nothing=1&constructor=1",
    "temperature=-1&order=0.1&embeddings.0.0=x&query.0.0.0=1&__proto__=1&edit=1&causal=constructor"
    "&scale=toString&constructor.0.0=1&at=__proto__&outcome=4&component=2",
    f"scale={'1' * 80_000}x&embeddings.0.0=1e{'9' * 5_000}&padding={'9' * 4_000}&tokens=%3Cb%3E"
    "&own=%3Cscript%3E",
    "scale=%22%7B%5B",
    "at=%E0%A4%A",
)


@pytest.mark.parametrize("address", UNREADABLE, ids=["none", "others", "long", "quoted", "cut"])
def test_an_address_that_cannot_be_read_is_left_out(view, address):
    seen = view("the-cat-sat", address=f"#explore=the-cat-sat&{address}&prints=1").live()
    assert seen.page.locator("script, b").count() == seen.page.locator("head script").count() + 1
    seen.open()
    assert seen.status == (
        "The address holds something that this explorer cannot read; it was left out."
    )
    seen.holds(seen.run)
    assert seen.page.locator(".source-print").count() > 50
    assert seen.errors == []


def test_a_new_address_is_taken_over_and_anchors_still_work(view):
    seen = view("the-cat-sat", address="#after")
    seen.page.evaluate("location.hash = '#explore=the-cat-sat&causal=1'")
    seen.open()
    seen.page.wait_for_function("document.activeElement !== null")
    causal = trace(replace(seen.run.example, is_causal=True))
    seen.holds(causal)
    seen.page.evaluate("location.hash = '#after'")
    assert seen.page.evaluate("document.querySelector('#after').matches(':target')")
    seen.holds(causal)
    assert seen.settled_url().endswith("#after")
    seen.page.evaluate("location.hash = '#explore=another-example&causal=0'")
    seen.holds(causal)


@pytest.mark.parametrize("allowed", [True, False])
def test_the_link_can_be_copied(view, allowed):
    seen = view("cat-sat").open()
    seen.choose("Causal: no later keys")
    answer = "(text) => { window.copied = text; return Promise.resolve(); }"
    refuse = "() => Promise.reject(new Error('not allowed'))"
    seen.page.evaluate(
        "Object.defineProperty(navigator, 'clipboard',"
        f" {{ value: {{ writeText: {answer if allowed else refuse} }} }})"
    )
    seen.page.get_by_role("button", name="Share").click()
    link = seen.file.as_uri() + "#explore=cat-sat&causal=1"
    if allowed:
        assert seen.page.evaluate("window.copied") == link
        assert seen.status == "The link is copied."
    else:
        field = seen.page.get_by_label("Link to this state")
        assert field.input_value() == link
        assert seen.page.evaluate("document.activeElement.selectionEnd") == len(link)
        assert seen.status == "Copy the link from the field."
