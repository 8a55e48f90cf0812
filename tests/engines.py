"""The three browser engines that open the built pages: Chromium, Firefox and WebKit.

Playwright drives the system's Chromium and Firefox. It cannot drive the system's WebKit, so
Selenium drives WebKitGTK, and `WebKitPage` has the methods of Playwright's page that the tests
call. Xvfb provides the display that WebKitGTK needs.
"""

import json
import os
import shutil
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.common.actions.interaction import POINTER_MOUSE, POINTER_TOUCH
from selenium.webdriver.common.actions.pointer_input import PointerInput
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.client_config import ClientConfig
from selenium.webdriver.remote.remote_connection import RemoteConnection
from selenium.webdriver.webkitgtk.service import Service

MINI_BROWSER = "/usr/lib/*/webkit2gtk-4.1/MiniBrowser"
# Firefox also reports this of a valid formula if it draws the page before it has loaded all of it.
HALF_READ = "Incorrect number of children for <"
EVALUATE = """
const done = arguments[arguments.length - 1];
Promise.resolve()
  .then(() => { const value = (%s); return typeof value === "function" ? value(%s) : value; })
  .then((value) => done({ value }), (error) => done({ error: String(error) }));
"""


def _program(name):
    """Return the path of an installed program."""
    found = shutil.which(name)
    assert found, f"{name} is not installed; run: python3 scripts/test.py"
    return found


@contextmanager
def firefox(playwright):
    """Start Firefox and yield Playwright's browser."""
    browser = playwright.firefox.launch(
        channel="moz-firefox", executable_path=_program("firefox-esr")
    )
    yield browser
    browser.close()


@contextmanager
def webkit():
    """Start WebKit on its own display and yield its only page."""
    browser = next(Path("/").glob(MINI_BROWSER.lstrip("/")), None)
    assert browser, "WebKitGTK's MiniBrowser is not installed; run: python3 scripts/test.py"
    options = webdriver.WebKitGTKOptions()
    options.binary_location = str(browser)
    options.add_argument("--automation")
    options.add_argument("--full-screen")  # with toolbars, no window is narrower than 447 px
    with _display() as display:
        variables = {**os.environ, "DISPLAY": display}
        service = Service(_program("WebKitWebDriver"), env=variables)
        service.start()
        try:
            connection = RemoteConnection(client_config=ClientConfig(service.service_url))
            with webdriver.Remote(connection, options=options) as driver:
                yield WebKitPage(driver)
        finally:
            service.stop()


@contextmanager
def _display():
    """Start an X server without a screen and yield its display's name."""
    reading, writing = os.pipe()
    size = ["-screen", "0", "1600x1200x24"]
    command = [_program("Xvfb"), "-displayfd", str(writing), *size, "-nolisten", "tcp"]
    server = subprocess.Popen(command, pass_fds=[writing], stderr=subprocess.DEVNULL)
    os.close(writing)
    try:
        with os.fdopen(reading) as number:
            yield f":{number.readline().strip()}"
    finally:
        server.terminate()
        server.wait()


class WebKitPage:
    """The only page of a WebKit browser, with methods named as in Playwright."""

    def __init__(self, driver):
        self.driver = driver
        self.mouse = Pointer(driver, POINTER_MOUSE)
        self.finger = Pointer(driver, POINTER_TOUCH)
        self.keyboard = Keyboard(driver)

    def goto(self, address):
        self.driver.get(address)

    def evaluate(self, expression, argument=None):
        """Return the value of an expression; if that is a function, return the value of a call."""
        answer = self.driver.execute_async_script(EVALUATE % (expression, json.dumps(argument)))
        assert "error" not in answer, answer["error"]
        return answer.get("value")

    def set_viewport_size(self, size):
        self.driver.set_window_size(size["width"], size["height"])

    def wait_for_timeout(self, milliseconds):
        time.sleep(milliseconds / 1000)

    def screenshot(self, path):
        self.driver.save_screenshot(str(path))


class Pointer:
    """The mouse or a finger, in the window's coordinates."""

    def __init__(self, driver, kind):
        self._driver = driver
        self._pointer = PointerInput(kind, kind)

    def _perform(self, action):
        builder = ActionBuilder(self._driver, mouse=self._pointer, duration=10)
        action(builder.pointer_action)
        builder.perform()

    def move(self, x, y):
        self._perform(lambda pointer: pointer.move_to_location(round(x), round(y)))

    def down(self):
        self._perform(lambda pointer: pointer.pointer_down())

    def up(self):
        self._perform(lambda pointer: pointer.pointer_up())

    def click(self, x, y):
        self.move(x, y)
        self.down()
        self.up()


class Keyboard:
    """The keyboard, which types into the focused element."""

    def __init__(self, driver):
        self._driver = driver

    def press(self, key):
        """Press a key by its name, such as "ArrowUp", "Enter" or "a"."""
        known = {"ArrowUp": Keys.ARROW_UP, "ArrowDown": Keys.ARROW_DOWN}
        known |= {"ArrowLeft": Keys.ARROW_LEFT, "ArrowRight": Keys.ARROW_RIGHT}
        self.type(known.get(key) or getattr(Keys, key.upper(), key))

    def type(self, text):
        webdriver.ActionChains(self._driver).send_keys(text).perform()


# Chromium alone emulates paper: elsewhere the rules for paper are made those for all.
FOR_PAPER = r"""() => {
  const change = ({ media, cssRules }) => {
    const { mediaText = "" } = media ?? {};
    if (/\bprint\b/.test(mediaText)) media.mediaText = mediaText.replace(/\bprint\b/, "all");
    else if (/\bscreen\b/.test(mediaText)) media.mediaText = "not all";
    [...cssRules ?? []].forEach(change);
  };
  [...document.styleSheets].forEach(change);
}"""


class EnginePages:
    """Pages of the built book, opened one after the other in one window of one engine."""

    def __init__(self, name, page):
        self.name = name
        self.page = page
        self._said = []
        if name != "webkit":
            page.on("console", self._note)
            page.on("pageerror", lambda error: self._said.append(str(error)))

    def _note(self, message):
        if message.type in ("error", "warning"):
            self._said.append(message.text)

    def open(self, address, *, width=1280, height=900, theme="light"):
        """Open a page at a window size and in a theme, and return the page."""
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.goto(address)
        self.page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
        return self.page

    @contextmanager
    def on_paper(self):
        """Apply the print layout to the open page. Chromium needs a served page, not a file."""
        if self.name != "chromium":
            self.page.evaluate(FOR_PAPER)  # until the next page is opened
            yield
            return
        self.page.emulate_media(media="print")
        try:
            yield
        finally:
            self.page.emulate_media(media="screen")

    def complaints(self):
        """Return the errors and warnings of the console since the last call.

        WebDriver has no command that reads the console of WebKit.
        """
        assert self.name != "webkit"
        said = [text for text in self._said if not text.startswith(HALF_READ)]
        self._said.clear()
        return said
