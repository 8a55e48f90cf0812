"""A kernel that has started before a page needs it.

To start one and to import what the chapters import takes longer than most chapters' cells. So while
a page with cells is looked at, a kernel waits for the next of them that is changed; it has run
nothing but the imports.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from environment import ROOT
from jupyter_core.utils import run_sync
from myst_nb.core.execute import inline
from nbformat.v4 import new_notebook

IMPORTS = "import mha.chapters; del mha"


class Spare:
    """The kernel that waits; each is given to one page, and then the next can be begun.

    Parameters
    ----------
    client : type
        Of nbclient's clients, the one that pages' cells run in.
    """

    def __init__(self, client: type = inline.ModifiedNotebookClient) -> None:
        self.kind = client
        self.waiting: Any = None
        self.is_begun = False
        self.is_ready = False  # whether the one that waits has answered
        self.used: list[Callable[[], None]] = []  # each ends a kernel that a page has done with

    def begin(self) -> None:
        """Start a kernel, if none was begun; one that does not come about is not tried again."""
        if not self.is_begun:
            self.is_begun = True
            with suppress(OSError, RuntimeError):
                run_sync(self._start)()

    async def _start(self) -> None:
        resources = {"metadata": {"path": str(ROOT / "book")}}
        page = new_notebook()  # type: ignore[no-untyped-call]
        client = self.kind(page, kernel_name="python3", resources=resources)
        client.create_kernel_manager()
        await client.async_start_new_kernel()
        client.kc = client.km.client()
        client.kc.start_channels()
        client.kc.execute(IMPORTS, silent=True, store_history=False)
        self.waiting = client

    @property
    def is_settled(self) -> bool:
        """Whether there is nothing to `settle`."""
        return not self.used and (self.waiting is None or self.is_ready)

    def settle(self) -> None:
        """Do what a page would wait for: end kernels that were used, hear from the one that waits.

        Jupyter waits a tenth and a fifth of a second for these, doing nothing.
        """
        while self.used:
            self.used.pop()()
        if not self.is_settled:
            try:
                _hear_from(self.waiting)
                self.is_ready = True
            except RuntimeError:  # it has ended
                self.waiting._cleanup_kernel()
                self.waiting = None

    def take(self) -> tuple[Any, bool]:
        """Return the client of the kernel that waits, None where there is none, and `is_ready`."""
        found = self.waiting, self.is_ready
        self.waiting, self.is_begun, self.is_ready = None, False, False
        return found


def _hear_from(client: Any) -> None:
    """Wait until a kernel answers."""
    run_sync(client.kc.wait_for_ready)(timeout=client.startup_timeout)


def hand_out(spare: Spare) -> None:
    """Let the next page whose cells are run take the kernel that waits.

    Parameters
    ----------
    spare : Spare
    """

    class Client(spare.kind):  # type: ignore[misc, name-defined]
        """A client that begins with the waiting kernel, or starts one where none waits."""

        def start_new_kernel(self, **options: Any) -> None:
            """Take the kernel."""
            self.taken, self.is_ready = spare.take()
            if self.taken is None:
                super().start_new_kernel(**options)
            else:
                self.km = self.taken.km

        def start_new_kernel_client(self, **options: Any) -> None:
            """Wait until the kernel has done its imports, and bring it to the page's folder."""
            if self.taken is None:
                super().start_new_kernel_client(**options)
                return
            self.kc = self.taken.kc
            if not self.is_ready:
                _hear_from(self)
            self.kc.allow_stdin = False
            folder = self.resources["metadata"]["path"]
            self.eval_expression(f"import os; os.chdir({folder!r}); del os")

        def _cleanup_kernel(self) -> None:
            """Leave the kernel to be ended when nobody waits."""
            spare.used.append(super()._cleanup_kernel)

    inline.ModifiedNotebookClient = Client
