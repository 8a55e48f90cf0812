"""Independent tasks over the processor's cores, with linear algebra kept to one thread a worker.

A library of linear algebra would by default answer each small product with all cores at once:
waking them costs more than the product, and workers would get in each other's way.
``threadpoolctl`` turns that off for a while, if it is installed (``pip install mha[threads]``).
Without it, one worker does everything, and the library keeps its own threads.
"""

import importlib
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from queue import SimpleQueue
from typing import Any, TypeVar

Task = TypeVar("Task")


def usable_cores() -> int:
    """Return how many cores this process may use at once.

    Examples
    --------
    >>> usable_cores() >= 1
    True
    """
    affinity = getattr(os, "sched_getaffinity", None)  # where it is missing, all cores are ours
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def can_limit() -> bool:
    """Return whether linear algebra can be kept to one thread here.

    Examples
    --------
    >>> can_limit() == (_controller() is not None)
    True
    """
    return _controller() is not None


def run_tasks(
    tasks: Iterable[Task], make_worker: Callable[[], Callable[[Task], object]], workers: int = 1
) -> None:
    """Do every task, the next one by whoever is free.

    Parameters
    ----------
    tasks : iterable
        In the order in which they begin.
    make_worker : callable
        Called once in each thread; returns what does one task, with buffers of its own.
    workers : int, default 1
        The caller's own thread is one of them.

    Raises
    ------
    BaseException
        What a task raises. Tasks that have not begun are then left undone.

    Examples
    --------
    >>> done = []
    >>> run_tasks([3, 1, 2], lambda: done.append)
    >>> done
    [3, 1, 2]
    """
    waiting = deque(tasks)

    def work() -> None:
        try:
            worker = make_worker()
            for task in _handed_out(waiting):
                worker(task)
        except BaseException:
            waiting.clear()
            raise

    offers = [_Offer(work) for _ in range(workers - 1)]
    for offer in offers:
        _threads().put(offer)
    try:
        work()
    finally:
        for offer in offers:
            offer.settle()
    for offer in offers:
        if offer.error is not None:
            raise offer.error


class _Offer:
    """Work for whichever thread is free first, unless it is taken back before.

    A pool of the standard library does as much, and takes tens of microseconds longer; short
    attention takes some four hundred in all.

    Attributes
    ----------
    error : BaseException or None
        What the work has raised.
    """

    def __init__(self, work: Callable[[], object]) -> None:
        self.work = work
        self.error: BaseException | None = None
        self.taken, self.under_way = threading.Lock(), threading.Lock()
        self.under_way.acquire()

    def take(self) -> None:
        """Do the work, unless it was taken back."""
        if self.taken.acquire(blocking=False):
            try:
                self.work()
            except BaseException as error:
                self.error = error
            finally:
                self.under_way.release()

    def settle(self) -> None:
        """Take the work back, or wait for who does it.

        What has not begun would find no task left, and may wait behind another caller's work.
        """
        if not self.taken.acquire(blocking=False):
            self.under_way.acquire()


@lru_cache(maxsize=1)
def _threads() -> "SimpleQueue[_Offer]":
    """Return where threads wait for offers: starting new ones can cost more than the work."""
    offers: SimpleQueue[_Offer] = SimpleQueue()

    def wait() -> None:
        while True:
            offers.get().take()

    for _ in range(usable_cores()):
        threading.Thread(target=wait, name="mha", daemon=True).start()
    return offers


def _handed_out(waiting: deque[Task]) -> Iterator[Task]:
    """Take one task after another while there is one, beside others that do the same."""
    while True:
        try:
            task = waiting.popleft()
        except IndexError:
            return
        yield task


class _Limit:
    """One thread of linear algebra for as long as anyone wants it.

    The setting is the process's. Calls that overlap in several threads share one limit: the first
    sets it and the last takes it back, or an early one would set free what a later one still needs.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget all users."""
        self.lock = threading.Lock()
        self.users = 0
        self.before: list[tuple[Any, int]] = []

    def enter(self) -> None:
        """Set the limit, unless it is set."""
        with self.lock:
            self.users += 1
            controller = _controller()
            if self.users == 1 and controller is not None:
                # What its method `limit` does, without its notes on the libraries.
                found = controller.lib_controllers
                self.before = [(library, library.num_threads) for library in found]
                for library in found:
                    library.set_num_threads(1)

    def leave(self) -> None:
        """Take the limit back, unless someone else still needs it."""
        with self.lock:
            self.users -= 1
            if self.users == 0:
                for library, num_threads in self.before:
                    library.set_num_threads(num_threads)
                self.before = []


_limit = _Limit()


@contextmanager
def one_thread_of_linear_algebra() -> Iterator[None]:
    """Keep linear algebra to the calling thread, where ``threadpoolctl`` is installed.

    Examples
    --------
    >>> with one_thread_of_linear_algebra():
    ...     sum([1, 2])
    3
    """
    _limit.enter()
    try:
        yield
    finally:
        _limit.leave()


@lru_cache(maxsize=1)
def _controller() -> Any:
    """Return what can limit the libraries that NumPy has loaded, or None."""
    try:
        threadpoolctl = importlib.import_module("threadpoolctl")
    except ImportError:
        return None
    controller = threadpoolctl.ThreadpoolController().select(user_api="blas")
    return controller if len(controller) else None


def _after_fork() -> None:
    """Begin anew in a child process, which has none of its parent's threads."""
    _threads.cache_clear()
    _limit.reset()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
