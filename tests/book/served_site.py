"""An HTTP server for the tests that open pages over HTTP."""

import functools
import http.server
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        """Do not log requests."""


class _Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        """Ignore the error of a browser that closed the connection."""


@contextmanager
def serving_below_a_path(folder):
    """Serve a folder below a path of a local server, and yield its address."""
    with tempfile.TemporaryDirectory() as root:
        place = Path(root, "sub", "path")
        place.parent.mkdir()
        place.symlink_to(folder)
        handler = functools.partial(_Quiet, directory=root)
        with _Server(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield f"http://127.0.0.1:{server.server_port}/sub/path/"
            server.shutdown()
