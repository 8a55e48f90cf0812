"""Serve the preview's pages on the loopback address, and tell the browsers what has changed.

Tornado serves the files. To each page it adds a script, `client.js`, which says over a
socket which page it is on, and by what sign it got it, reloads at the same place, and shows what is
wrong above the last good page.
"""

import hashlib
import json
import re
import socket
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.web import Application, HTTPError, RequestHandler, StaticFileHandler
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from preview.pages import HTML

HERE = Path(__file__).parent
TAG = '<script src="/preview/client.js" data-sign="{}" defer></script>\n'
LOOPBACK = "127.0.0.1"
MISSING = "<!doctype html><title>No page</title><p>The book has no page {}.</p>"
NOT_YET = "<!doctype html><title>Not yet</title><p>The page {} could not be made:</p><pre>{}</pre>"


class Server:
    """The pages, and the browsers that look at them."""

    def __init__(self, look_at: Callable[[], None]) -> None:
        self.look_at = look_at
        self.browsers: dict[WebSocketHandler, str] = {}
        self.problems: dict[str, list[str]] = {}
        self.reloads = 0  # of every page
        self.port = 0

    def listen(self, port: int) -> None:
        """Begin to serve; port 0 means any free one."""
        door = socket.create_server((LOOPBACK, port), backlog=128)
        door.setblocking(False)
        self.port = door.getsockname()[1]
        HTTPServer(self._application()).add_sockets([door])

    def _application(self) -> Application:
        shared = {"server": self}
        return Application(
            [
                (r"/preview/socket", Socket, shared),
                (r"/preview/(client\.js)", File, {"path": str(HERE)}),
                (r"/((?:.*/)?(?:[^/]+\.html)?)", Page, shared),
                (r"/(.*)", File, {"path": str(HTML)}),
            ]
        )

    def in_view(self) -> frozenset[str]:
        """Return the pages that are looked at."""
        return frozenset(self.browsers.values())

    def sign_of(self, page: bytes | None) -> str:
        """Return by what a page, and what every page loads, are told from others."""
        return f"{hashlib.sha256(page or b'').hexdigest()[:16]}.{self.reloads}"

    def reload(self, written: str) -> None:
        """Have the browsers that look at a page load it again."""
        self.reloads += written == "*"
        for browser, page in self.browsers.items():
            if written in (page, "*"):
                _send(browser, {"reload": True})

    def tell_problems(self, problems: dict[str, list[str]]) -> None:
        """Show all browsers what is wrong now, or no more."""
        self.problems = dict(problems)
        for browser in self.browsers:
            _send(browser, self.what_is_wrong())

    def what_is_wrong(self) -> dict[str, list[str]]:
        """Return all problems, each once, as the browsers get them."""
        lines = [line for found in self.problems.values() for line in found]
        return {"problems": list(dict.fromkeys(lines))}


def _send(browser: WebSocketHandler, message: dict[str, Any]) -> None:
    try:
        browser.write_message(json.dumps(message))
    except WebSocketClosedError:
        return  # it has just gone


def _read(path: Path) -> bytes | None:
    """Return a page, None where there is none."""
    return path.read_bytes() if path.is_file() else None


class Socket(WebSocketHandler):
    """One page in one browser; Tornado lets no page of another origin in."""

    def initialize(self, server: Server) -> None:
        """Know the server."""
        self.server = server

    def on_message(self, message: str | bytes) -> None:
        """Take the page's address, and tell it what is wrong and whether there is a newer one."""
        said = json.loads(message)
        page = re.sub(r"\.html$", "", said["page"].lstrip("/")) or "index"
        self.server.browsers[self] = page
        self.server.look_at()
        _send(self, self.server.what_is_wrong())
        if said["sign"] != self.server.sign_of(_read(HTML / f"{page}.html")):
            _send(self, {"reload": True})

    def on_close(self) -> None:
        """Forget the page."""
        self.server.browsers.pop(self, None)
        self.server.look_at()


class Page(RequestHandler):
    """A page of the book with the script added."""

    def initialize(self, server: Server) -> None:
        """Know the server."""
        self.server = server

    def get(self, name: str) -> None:
        """Send it, or say that there is none."""
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.set_header("Cache-Control", "no-store")
        path = (HTML / (name if name.endswith(".html") else f"{name}index.html")).resolve()
        if not path.is_relative_to(HTML.resolve()):
            raise HTTPError(404)
        page = _read(path)
        tag = TAG.format(self.server.sign_of(page)).encode()
        if page is None:
            page = self.instead(name.removesuffix(".html")).encode()
        text, end, rest = page.rpartition(b"</body>")
        self.finish(text + tag + end + rest if end else page + tag)

    def instead(self, name: str) -> str:
        """Return what stands in the place of a page that is not there: what is wrong with it."""
        self.set_status(404)
        if found := self.server.problems.get(name):
            return NOT_YET.format(escape(name), escape("\n".join(found)))
        return MISSING.format(escape(name))


class File(StaticFileHandler):
    """Any other file."""

    def set_extra_headers(self, path: str) -> None:
        """Have a browser ask for it each time."""
        self.set_header("Cache-Control", "no-store")
