"""The loader of scripts in Chromium and Firefox, for a script that does not arrive."""

import http.server
import re
import threading

import pytest

PAGE = """<!doctype html><title>asked</title><script src="loader.js"></script>
<script>
define("asking", ["require"], (require) => new Promise((resolve, reject) =>
  require(["./late.js"], resolve, reject)).then(() => { document.title = "loaded"; }));
</script>"""
LATE = 'define("late", ["exports"], (exports) => { exports.isHere = true; });'
BROWSERS = [
    pytest.param("browser", marks=pytest.mark.browser),
    pytest.param("firefox", marks=pytest.mark.engines),
]


class Server(http.server.ThreadingHTTPServer):
    """A server of a page that asks for late.js; `answers` has what becomes of each request."""

    daemon_threads = True

    def __init__(self, loader, answers):
        self.loader = loader
        self.answers = list(answers)
        self.is_over = threading.Event()
        super().__init__(("127.0.0.1", 0), Handler)


class Handler(http.server.BaseHTTPRequestHandler):
    """The answers of a `Server`."""

    def log_message(self, *_):
        """Print nothing."""

    def do_GET(self):
        texts = {"/": PAGE, "/next": "<!doctype html><title>next</title>", "/late.js": LATE}
        texts["/loader.js"] = self.server.loader
        path = self.path.split("?")[0]
        if path == "/next":
            self.server.is_over.wait(1)  # the page is still there when its loads are stopped
        if path == "/late.js":
            answer = self.server.answers.pop(0) if self.server.answers else "ends"
            if answer == "waits":
                self.server.is_over.wait(20)
            if answer != "comes":
                return  # the connection ends without an answer
        text = texts.get(path)
        self.send_response(200 if text else 404)
        self.send_header("Content-Type", "text/javascript" if ".js" in path else "text/html")
        self.end_headers()
        self.wfile.write((text or "").encode())


@pytest.fixture(params=BROWSERS)
def opened(request, static):
    """Return a function that opens a page with answers for late.js, and the page's errors."""
    context = request.getfixturevalue(request.param).new_context()
    loader = (static / "loader.js").read_text(encoding="utf-8")
    servers = []

    def open_page(*answers):
        server = Server(loader, answers)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page, errors = context.new_page(), []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"http://127.0.0.1:{server.server_port}/", wait_until="commit")
        page.wait_for_function("document.title !== ''")
        return page, errors

    yield open_page
    for server in servers:
        server.is_over.set()
        server.shutdown()
        server.server_close()
    context.close()


def test_a_script_that_is_lost_once_is_loaded_again(opened):
    page, errors = opened("ends", "comes")
    page.wait_for_function("document.title === 'loaded'")
    assert errors == []
    source = page.evaluate("document.querySelector('script[src*=late]').src")
    assert re.search(r"/late\.js\?v=[0-9a-f]{8}$", source)  # of the loader's own version


def test_a_script_that_is_lost_twice_is_named_in_an_error(opened):
    page, errors = opened("ends", "ends")
    for _ in range(200):  # Firefox itself asks once more for each attempt
        if not errors:
            page.wait_for_timeout(50)
    assert [error.removeprefix("Error: ") for error in errors] == ["late.js cannot be loaded"]


def test_a_page_that_is_left_while_a_script_loads_has_no_error(opened):
    page, errors = opened("waits")
    page.evaluate("location.assign('/next')")
    page.wait_for_function("document.title === 'next'")
    assert errors == []
