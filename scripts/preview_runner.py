"""A process beside the pages' process: it runs the cells of pages that nobody looks at.

A page with cells takes seconds to run, and in that time the pages' process could take no edit. So
what an edit of the package asks of all other pages is run here, with the least right to the
processor; the pages' process then reads them from the kept results, as after any other run.
"""

import multiprocessing
import os
from contextlib import suppress
from multiprocessing.connection import Connection

from sphinx.application import Sphinx

from byhand import forked_kernels
from byhand.kept_results import KeptResultsClient

LEAST = 19  # as the command nice has it


class Runner:
    """Runs one page after another; is asked for the next one when it has told of the last.

    Parameters
    ----------
    app : Sphinx
        As it is now: the process begins as a copy of this one. No kernel may have run here yet.
    closed : Connection
        The pages' process's own, which its copy would keep open beyond its end.
    """

    def __init__(self, app: Sphinx, closed: Connection) -> None:
        self.connection, theirs = multiprocessing.Pipe()
        fork = multiprocessing.get_context("fork")
        process = fork.Process(
            target=_run_pages, args=(app, theirs, (closed, self.connection)), daemon=True
        )
        process.start()
        theirs.close()
        self.is_free = True

    def begin(self, name: str) -> None:
        """Let it run a page, unless it runs one."""
        if self.is_free:
            self.connection.send(name)
            self.is_free = False

    def take(self) -> str:
        """Return the page that it has run, whatever came of it."""
        name: str = self.connection.recv()
        self.is_free = True
        return name


def _run_pages(app: Sphinx, connection: Connection, closed: tuple[Connection, ...]) -> None:
    """Run the pages that are asked for until the connection ends; keep their results alone."""
    for other in closed:
        other.close()
    os.nice(LEAST)
    KeptResultsClient.reads_on = False
    forked_kernels.begin()
    with suppress(EOFError, BrokenPipeError):
        while True:
            name = connection.recv()
            app.env.temp_data.clear()  # of a page that could not be read to its end
            app.env.ref_context.clear()
            app.emit("env-purge-doc", app.env, name)
            app.env.clear_doc(name)
            with suppress(Exception):  # HasRun, or what the pages' process meets again
                app.builder.read_doc(name, _cache=False)
            connection.send(name)
