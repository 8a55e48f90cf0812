"""A server of the preview's pages on the loopback address, which informs browsers of changes.

Tornado serves the files. It adds the script `client.js` to each page. The script asks several times
a second for a newer version of the page, reloads at the same position, and shows problems above the
last good page.
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
    """The pages and the browsers that view them."""

    def __init__(self, on_view_change: Callable[[], None]) -> None:
        self.send_view = on_view_change
        self.last_request: dict[str, float] = {}  # when a browser asked for each page
        self.view: frozenset[str] = frozenset()  # the pages that browsers show
        self.problems: dict[str, list[str]] = {}
        self.written: Counter[str] = (
            Counter()
        )  # how often each page, and the common files, were written
        self.begun = time.time()
        self.port = 0

    def listen(self, port: int) -> None:
        """Start serving; port 0 means any free port."""
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

    def version_of(self, page: str) -> str:
        """Return a string that identifies the version of a page and of its common files."""
        return f"{self.begun}.{self.written[page]}.{self.written[EVERY_PAGE]}"

    def state_of(self, page: str) -> dict[str, str | list[str]]:
        """Return the data for a browser that views a page."""
        now = time.monotonic()
        self.last_request[page] = now
        view = frozenset(name for name, then in self.last_request.items() if now - then < GONE)
        if view != self.view:
            self.view = view
            self.send_view()
        return {"sign": self.version_of(page), "problems": self.all_problems()}

    def all_problems(self) -> list[str]:
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
    """The handler of the script's questions."""

    def get(self, address: str) -> None:
        """Answer with the current version and the problems."""
        self.set_header("Cache-Control", "no-store")
        self.finish(self.settings["server"].state_of(page_at(address)))


class Page(RequestHandler):
    """The handler of pages, which adds the script."""

    def get(self, address: str) -> None:
        """Send the page, or a message that it does not exist."""
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.set_header("Cache-Control", "no-store")
        name = page_at(address)
        path = (HTML / f"{name}.html").resolve()
        if not path.is_relative_to(HTML.resolve()):
            raise HTTPError(404)
        tag = TAG.format(self.settings["server"].version_of(name))
        if path.is_file():
            page = path.read_text("utf-8", "replace")
        else:  # the script shows its problems
            page = MISSING.format(escape(name))
            self.set_status(404)
        text, end, rest = page.rpartition("</body>")
        self.finish(text + tag + end + rest if end else page + tag)


class File(StaticFileHandler):
    """The handler of all other files."""

    def set_extra_headers(self, path: str) -> None:
        """Prevent caching, so that a browser asks each time."""
        self.set_header("Cache-Control", "no-store")
