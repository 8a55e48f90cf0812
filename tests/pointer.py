"""A finger and a mouse that move over a page in steps."""

import math

FRAME = "new Promise((then) => requestAnimationFrame(() => setTimeout(then)))"
"""The browser reports a touch with the next frame."""


def middle(node):
    """Return the centre of an element on the screen."""
    box = node.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def assert_under_pointer(node, at):
    """Assert that the centre of an element is under the pointer."""
    assert math.dist(middle(node), at) < 1


def swipe(page, x, y, across, down=0, *, node=None, steps=12):
    """Move a finger by `across` and `down`, and assert that `node` stays under it."""
    finger = page.context.new_cdp_session(page)
    for step in range(steps + 1):
        at = x + across * step / steps, y + down * step / steps
        points = [dict(zip("xy", at, strict=True))]
        kind = "touchMove" if step else "touchStart"
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        if node:
            page.evaluate(FRAME)
            assert_under_pointer(node, at)
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def drag(page, x, y, across, down=0, *, node=None, steps=8):
    """Drag the mouse by `across` and `down`, and assert that `node` stays under it."""
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(1, steps + 1):
        at = x + across * step / steps, y + down * step / steps
        page.mouse.move(*at)
        if node:
            assert_under_pointer(node, at)
    page.mouse.up()
