"""Each task runs once, failures are reported, and the thread limit of linear algebra is shared."""

import multiprocessing
import threading
import time

import pytest

from mha.core import threads


@pytest.mark.parametrize("in_caller", [True, False])
def test_a_failure_reaches_the_caller_and_stops_the_rest(in_caller):
    caller, done = threading.get_ident(), []

    def work(task):
        if (threading.get_ident() == caller) == in_caller:
            raise RuntimeError(f"task {task}")
        time.sleep(0.01)
        done.append(task)

    with pytest.raises(RuntimeError, match="task"):
        threads.run_tasks(range(1000), lambda: work, 2)
    assert len(done) < 100


def test_linear_algebra_has_one_thread_until_the_last_is_done_and_then_as_many_as_before():
    libraries = threads._controller().lib_controllers if threads.can_limit_threads() else []
    before = [library.num_threads for library in libraries]
    for library in libraries:
        library.set_num_threads(2)
    with threads.one_thread_of_linear_algebra():
        with threads.one_thread_of_linear_algebra():
            pass
        assert all(library.num_threads == 1 for library in libraries)
    assert all(library.num_threads == 2 for library in libraries)
    for library, number in zip(libraries, before, strict=True):
        library.set_num_threads(number)


def test_without_threadpoolctl_there_is_no_limit(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(threads.importlib, "import_module", missing)
    threads._controller.cache_clear()
    try:
        assert not threads.can_limit_threads()
        with threads.one_thread_of_linear_algebra():
            pass
    finally:
        threads._controller.cache_clear()


def in_a_child():
    """Check the threads in a forked process whose parent had started threads."""
    done = []
    threads.run_tasks(range(10), lambda: lambda task: (time.sleep(0.01), done.append(task)), 2)
    assert sorted(done) == list(range(10))


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="this system cannot fork"
)
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_starts_threads_of_its_own():
    threads.run_tasks(range(4), lambda: lambda task: time.sleep(0.01), 2)
    child = multiprocessing.get_context("fork").Process(target=in_a_child)
    child.start()
    child.join(30)
    if child.is_alive():
        child.kill()
    assert child.exitcode == 0
