"""Tasks distributed over the processor's cores, with single-threaded linear algebra in each.

By default a BLAS library uses all cores for each small matrix product. Waking its threads takes
longer than the product, and they would compete with the workers here. If ``threadpoolctl`` is
installed (``pip install mha[threads]``), it limits the library to one thread during the tasks.
Without it, one worker does all tasks, and the library uses its own threads.
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
    """Return the number of cores that this process may use.

    Examples
    --------
    >>> usable_cores() >= 1
    True
    """
    affinity = getattr(os, "sched_getaffinity", None)  # missing on macOS and Windows
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def can_limit_threads() -> bool:
    """Return whether linear algebra can be limited to one thread.

    Examples
    --------
    >>> can_limit_threads() == (_controller() is not None)
    True
    """
    return _controller() is not None


def run_tasks(
    tasks: Iterable[Task], make_worker: Callable[[], Callable[[Task], object]], workers: int = 1
) -> None:
    """Run every task once, each in the next free worker.

    Parameters
    ----------
    tasks : iterable
        In the order in which they start.
    make_worker : callable
        Called once in each thread; returns a function that runs one task, with its own buffers.
    workers : int, default 1
        The number of threads, including the caller's.

    Raises
    ------
    BaseException
        The first error of a task. Tasks that have not started are then skipped.

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
            for task in _take_tasks(waiting):
                worker(task)
        except BaseException:
            waiting.clear()
            raise

    jobs = [_Job(work) for _ in range(workers - 1)]
    for job in jobs:
        _job_queue().put(job)
    try:
        work()
    finally:
        for job in jobs:
            job.cancel_or_wait()
    for job in jobs:
        if job.error is not None:
            raise job.error


class _Job:
    """A function that the first free thread runs, unless it is cancelled before.

    A `ThreadPoolExecutor` does the same and takes tens of microseconds longer; attention over a
    short sequence takes about 400 in all.
    """

    def __init__(self, work: Callable[[], object]) -> None:
        self.work = work
        self.error: BaseException | None = None
        # `taken_lock` is acquired once, by the thread that runs the job or by the one that cancels
        # it; `running_lock` is released at its end.
        self.taken_lock, self.running_lock = threading.Lock(), threading.Lock()
        self.running_lock.acquire()

    def run(self) -> None:
        """Call the function, unless the job was cancelled; keep an error for the caller."""
        if self.taken_lock.acquire(blocking=False):
            try:
                self.work()
            except BaseException as error:
                self.error = error
            finally:
                self.running_lock.release()

    def cancel_or_wait(self) -> None:
        """Cancel the job, or wait for its end if it has started.

        A job that has not started would find no task left; waiting for it could mean waiting for
        the jobs of another caller.
        """
        if not self.taken_lock.acquire(blocking=False):
            self.running_lock.acquire()


@lru_cache(maxsize=1)
def _job_queue() -> "SimpleQueue[_Job]":
    """Return the queue of jobs, and start its threads once: new ones can cost more than a job."""
    jobs: SimpleQueue[_Job] = SimpleQueue()

    def wait() -> None:
        while True:
            jobs.get().run()

    for _ in range(usable_cores()):
        threading.Thread(target=wait, name="mha", daemon=True).start()
    return jobs


def _take_tasks(waiting: deque[Task]) -> Iterator[Task]:
    """Remove and yield one task after another; several threads may do so at the same time."""
    while True:
        try:
            task = waiting.popleft()
        except IndexError:
            return
        yield task


class _ThreadLimit:
    """The limit of linear algebra to one thread, with a count of its users.

    The limit holds for the whole process. Calls that overlap in several threads share it: the first
    sets it and the last removes it, so that no call removes a limit that another still needs.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Set the number of users to 0."""
        self.lock = threading.Lock()
        self.users = 0
        self.before: list[tuple[Any, int]] = []

    def enter(self) -> None:
        """Add a user, and set the limit for the first one."""
        with self.lock:
            self.users += 1
            controller = _controller()
            if self.users == 1 and controller is not None:
                # As the controller's method `limit`, without the information that this method
                # collects on each library.
                found = controller.lib_controllers
                self.before = [(library, library.num_threads) for library in found]
                for library in found:
                    library.set_num_threads(1)

    def leave(self) -> None:
        """Remove a user, and the limit after the last one."""
        with self.lock:
            self.users -= 1
            if self.users == 0:
                for library, num_threads in self.before:
                    library.set_num_threads(num_threads)
                self.before = []


_limit = _ThreadLimit()


@contextmanager
def one_thread_of_linear_algebra() -> Iterator[None]:
    """Limit linear algebra to the calling thread, if ``threadpoolctl`` is installed.

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
    """Return the controller of the BLAS libraries that NumPy has loaded, or None."""
    try:
        threadpoolctl = importlib.import_module("threadpoolctl")
    except ImportError:
        return None
    controller = threadpoolctl.ThreadpoolController().select(user_api="blas")
    return controller if len(controller) else None


def _after_fork() -> None:
    """Reset the threads in a child process, which inherits none of its parent's."""
    _job_queue.cache_clear()
    _limit.reset()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
