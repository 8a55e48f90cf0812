"""Serve the preview's pages on the loopback address, and tell the browsers what has changed.

Tornado serves the files. To each page it adds a script, `client.js`, which asks a few times a
second whether there is a newer one than by its sign it is, reloads at the same place, and shows
what is wrong above the last good page.
"""

import socket
import time
from collections import Counter
from collections.abc import Callable
from html import escape
from pathlib import Path

from tornado.httpserver import HTTPServer
from tornado.web import Application, HTTPError, RequestHandler, StaticFileHandler

from preview.pages import EVERY_PAGE, HTML

HERE = Path(__file__).parent
TAG = '<script src="/preview/client.js" data-sign="{}" defer></script>\n'
LOOPBACK = "127.0.0.1"
GONE = 3  # seconds without a question, after which nobody looks at a page
MISSING = "<!doctype html><title>No page</title><p>The book has no page {}.</p>"


class Server:
    """The pages, and who looks at them."""

    def __init__(self, look_at: Callable[[], None]) -> None:
        self.look_at = look_at
        self.asked: dict[str, float] = {}  # when a browser asked for each page
        self.view: frozenset[str] = frozenset()  # the pages that are looked at
        self.problems: dict[str, list[str]] = {}
        self.written: Counter[str] = Counter()  # how often each page was, and what every page loads
        self.begun = time.time()
        self.port = 0

    def listen(self, port: int) -> None:
        """Begin to serve; port 0 means any free one."""
        door = socket.create_server((LOOPBACK, port), backlog=128)
        door.setblocking(False)
        self.port = door.getsockname()[1]
        HTTPServer(self._application()).add_sockets([door])

    def _application(self) -> Application:
        return Application(
            [
                (r"/preview/state/(.*)", State),
                (r"/preview/(client\.js)", File, {"path": str(HERE)}),
                (r"/(|.*\.html)", Page),
                (r"/(.*)", File, {"path": str(HTML)}),
            ],
            server=self,
        )

    def sign_of(self, page: str) -> str:
        """Return by what a page, with what every page loads, is told from those before it."""
        return f"{self.begun}.{self.written[page]}.{self.written[EVERY_PAGE]}"

    def state_of(self, page: str) -> dict[str, str | list[str]]:
        """Return what a browser is told that looks at a page."""
        now = time.monotonic()
        self.asked[page] = now
        view = frozenset(name for name, then in self.asked.items() if now - then < GONE)
        if view != self.view:
            self.view = view
            self.look_at()
        return {"sign": self.sign_of(page), "problems": self.what_is_wrong()}

    def what_is_wrong(self) -> list[str]:
        """Return all problems, each once."""
        return list(dict.fromkeys(line for found in self.problems.values() for line in found))


def page_at(address: str) -> str:
    """Return the name of the page at an address.

    Examples
    --------
    >>> page_at(""), page_at("mechanism/softmax.html")
    ('index', 'mechanism/softmax')
    """
    return address.removesuffix(".html") or "index"


class State(RequestHandler):
    """What a page asks for."""

    def get(self, address: str) -> None:
        """Say whether there is a newer one, and what is wrong."""
        self.set_header("Cache-Control", "no-store")
        self.finish(self.settings["server"].state_of(page_at(address)))


class Page(RequestHandler):
    """A page of the book with the script added."""

    def get(self, address: str) -> None:
        """Send it, or say that there is none."""
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.set_header("Cache-Control", "no-store")
        name = page_at(address)
        path = (HTML / f"{name}.html").resolve()
        if not path.is_relative_to(HTML.resolve()):
            raise HTTPError(404)
        tag = TAG.format(self.settings["server"].sign_of(name))
        if path.is_file():
            page = path.read_text("utf-8", "replace")
        else:  # the script tells what is wrong with it
            page = MISSING.format(escape(name))
            self.set_status(404)
        text, end, rest = page.rpartition("</body>")
        self.finish(text + tag + end + rest if end else page + tag)


class File(StaticFileHandler):
    """Any other file."""

    def set_extra_headers(self, path: str) -> None:
        """Have a browser ask for it each time."""
        self.set_header("Cache-Control", "no-store")
