"""Try mutmut's changes of a part, each in a copy of a process that has collected the tests once.

mutmut writes the changes; here it is told which tests notice them. To start pytest anew a change
takes longer than the tests do, so that each change gets a fork in which its tests stand ready:
those that call the changed function, the ones that noticed other changes of it first, then by time.
What a test module computes with the package while it is imported is of the sound package in such a
fork; the tests of such a module are asked about such functions in a process of their own.

    python scripts/mutant_trials.py FOLDER PROFILE CHILDREN SECONDS TEST...

is started by `scripts/mutants.py` in a folder that it has laid out.
"""

import functools
import gc
import hashlib
import importlib
import itertools
import json
import math
import os
import pkgutil
import random
import re
import resource
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any

import pytest
from mutants import ENDLESS, KILLED
from mutmut.__main__ import copy_also_copy_files, copy_src_dir, create_mutants, setup_source_paths
from mutmut.mutation import trampoline
from mutmut.mutation.trampoline import set_mutant_under_test
from mutmut.state import state

SURVIVED, UNTESTED, ODD = 0, 33, 35  # how else a change ended, as mutmut writes it
MEMORY = 4 << 30
BATCH = 100  # changes are tried until it is looked whether the tests still hold without one
PYTEST = (
    *("-q", "--rootdir=.", "--capture=sys", "--tb=short", "--no-header", "--assert=plain"),
    *("-m", "not slow and not exhaustive", "-p", "no:cacheprovider", "-p", "no:xdist"),
    *("-o", "addopts=--strict-markers", "-o", "tmp_path_retention_policy=none"),
)


class Results:
    """What is known of each change, in mutmut's files of results.

    Parameters
    ----------
    folder : Path
        mutmut's folder of changed files.
    """

    def __init__(self, folder: Path) -> None:
        self.files = {meta: json.loads(meta.read_text()) for meta in folder.rglob("*.meta")}
        self.place = {k: meta for meta, data in self.files.items() for k in data[CODES]}

    def open(self, again: list[str] | None) -> list[str]:
        """Return these changes, or those without an answer, spread over all functions."""
        codes = {k: code for data in self.files.values() for k, code in data[CODES].items()}
        keys = [key for key, code in codes.items() if code is None] if again is None else again
        random.Random(0).shuffle(keys)
        return keys

    def put(self, key: str, code: int, seconds: float = 0) -> None:
        """Note an answer, and the processor's time it took."""
        self.files[self.place[key]][CODES][key] = code
        self.files[self.place[key]]["durations_by_key"][key] = seconds

    def save(self) -> None:
        """Write the files."""
        for meta, data in self.files.items():
            new = meta.with_suffix(".new")
            new.write_text(json.dumps(data, indent=4))
            new.replace(meta)


CODES = "exit_code_by_key"


def function_of(key: str) -> str:
    """Return the name under which mutmut counts the calls of a changed function."""
    return re.sub(r"__mutmut_\d+$", "", key)


class Survey:
    """Which functions each test calls, and how long it takes: a run of the sound package.

    Parameters
    ----------
    items : sequence of pytest.Item
    """

    def __init__(self, items: Sequence[pytest.Item]) -> None:
        self.items = items
        self.calls: dict[str, set[str]] = {}
        self.seconds: dict[str, float] = {}
        self.fixtures = defaultdict[str, set[str]](set)
        self.failed: list[str] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, Any, Any]:
        """Note what a fixture calls that several tests share."""
        before, state()._stats = state()._stats, set()
        try:
            return (yield)
        finally:
            if fixturedef.scope != "function":
                self.fixtures[fixturedef.argname] |= state()._stats
            state()._stats |= before

    def run(self) -> None:
        """Run all tests once."""
        session = self.items[0].session
        session.config.pluginmanager.register(self)
        caches = cached()
        for item, following in zip(self.items, [*self.items[1:], None], strict=True):
            state()._stats.clear()
            for cache in caches:
                cache.cache_clear()
            failed, start = session.testsfailed, time.process_time()
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
            self.seconds[item.nodeid] = time.process_time() - start
            self.calls[item.nodeid] = set(state()._stats)
            if session.testsfailed > failed:
                self.failed.append(item.nodeid)

    def result(self) -> dict[str, Any]:
        """Return, by function, its tests, and what each takes."""
        tests = defaultdict[str, list[str]](list)
        for item in self.items:
            shared = (self.fixtures[name] for name in item.fixturenames)  # type: ignore[attr-defined]
            if item.nodeid in self.failed:
                continue
            for function in self.calls[item.nodeid].union(*shared):
                tests[function].append(item.nodeid)
        return {"tests": tests, "seconds": self.seconds, "failed": self.failed}


def contents(tests: Sequence[str]) -> str:
    """Return a hash of the package, of these tests and of what tests share."""
    files = [*Path("tests").glob("*.py")]
    for path in map(Path, ("mha", *tests)):
        files += path.rglob("*.py") if path.is_dir() else [path]
    return hashlib.sha256(b"".join(file.read_bytes() for file in sorted(files))).hexdigest()[:12]


def cached() -> list[Any]:
    """Return the functions of the package and of the tests that keep what they returned."""
    here = f"{os.getcwd()}/"
    return [
        found
        for found in gc.get_objects()
        if isinstance(found, functools._lru_cache_wrapper)
        and (getattr(sys.modules.get(found.__module__), "__file__", None) or "").startswith(here)
    ]


def in_a_copy(work: Callable[[int], int], cpu_seconds: float = 0) -> tuple[int, int]:
    """Start a copy of this process; return its number and where it will write.

    Parameters
    ----------
    work : callable
        Of where to write; returns the copy's exit code.
    cpu_seconds : float, default 0
        After which the copy is ended; 0: never.
    """
    reads, writes = os.pipe()
    if pid := os.fork():
        os.close(writes)
        return pid, reads
    code = ODD
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        os.close(reads)
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        gc.disable()
        if cpu_seconds:
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
            signal.setitimer(signal.ITIMER_PROF, cpu_seconds)
            signal.alarm(int(20 * cpu_seconds + 120))
        code = work(writes)
    finally:
        os._exit(code)


def answer(status: int) -> int:
    """Return what the end of a copy says of its change."""
    code = os.waitstatus_to_exitcode(status)
    return ENDLESS if code in (-signal.SIGPROF, -signal.SIGALRM) else code


class Trials:
    """Tries changes while pytest believes that it runs tests.

    Parameters
    ----------
    results : Results
    keys : list of str
        The changes that are tried.
    children : int
        How many are tried at once.
    until : float
        When to stop, on the clock of `time.monotonic`.
    tests : sequence of str
        Their folders and files.
    budget : float
        How many seconds the tests of a change may take together; what is too long is not asked.
    """

    def __init__(
        self,
        results: Results,
        keys: list[str],
        children: int,
        until: float,
        tests: Sequence[str],
        budget: float,
    ) -> None:
        self.results, self.keys, self.children, self.until = results, keys, children, until
        self.tests, self.budget = tests, budget
        self.imports: dict[str, list[str]] = {}
        self.known: dict[str, Any] = {}
        self.kills = Counter[tuple[str, str]]()
        self.asked = 0

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: Any) -> Generator[None, Any, Any]:
        """Note what a test module calls while it is imported."""
        state()._stats.clear()
        report = yield
        if isinstance(collector, pytest.Module):
            self.imports[collector.nodeid] = sorted(state()._stats)
        return report

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try the changes in the place of a run of the tests."""
        if session.testsfailed or not session.items:
            return True
        for cache in cached():
            cache.cache_clear()
        self.known = self.survey(session.items)
        self.items = {item.nodeid: item for item in session.items}
        gc.collect()
        gc.freeze()
        while self.keys and time.monotonic() < self.until:
            batch = [self.keys.pop() for _ in range(min(BATCH, len(self.keys)))]
            last = batch[0]
            self.answer_all(batch)
            self.check(last)
            self.results.save()
        return True

    def answer_all(self, batch: list[str]) -> None:
        """Try some changes, unless the time is over."""
        running = dict[int, tuple[str, int]]()
        while batch and time.monotonic() < self.until:
            self.start(batch.pop(), running)
            while len(running) >= self.children:
                self.end(running)
        while running:
            self.end(running)

    def check(self, key: str) -> None:
        """Stop without writing the last answers if a test notices a change where there is none."""

        def work(writes: int) -> int:
            return self.ask(self.ready(function_of(key)), writes)

        set_mutant_under_test("none")
        pid, reads = in_a_copy(work, 5)
        os.close(reads)
        if answer(os.waitpid(pid, 0)[1]) != SURVIVED:
            sys.exit(f"error: the tests of {key} fail without a change")

    def survey(self, items: Sequence[pytest.Item]) -> dict[str, Any]:
        """Return what the tests call and take; all of them must hold on the sound package."""

        def work(writes: int) -> int:
            survey = Survey(items)
            survey.run()
            with open(writes, "w") as file:
                json.dump(survey.result() | {"imports": self.imports}, file)
            return 0

        kept = Path("..", f"survey-{contents(self.tests)}.json")
        if not kept.exists():
            set_mutant_under_test("stats")
            pid, reads = in_a_copy(work)
            with open(reads) as file:
                text = file.read()
            os.waitpid(pid, 0)
            kept.write_text(text)
        known = json.loads(kept.read_text())
        for test in known["failed"]:
            print(f"not asked, as it fails on the sound package: {test}")
        return known

    def is_early(self, function: str) -> bool:
        """Tell whether the import of a module calls a function, and can be done anew in place."""
        module = sys.modules[function.rpartition(".")[0]]
        own = (found for found in vars(module).values() if isinstance(found, type))
        has_class = any(found.__module__ == module.__name__ for found in own)
        return function in self.imports["mha"] and not has_class

    def ready(self, function: str) -> list[str]:
        """Return the tests of a function that can be asked here, the likeliest to notice first."""
        seconds, known = self.known["seconds"], self.known["tests"]
        asked = set(known.get(function, []))
        if self.is_early(function):  # what it gave has no name: whatever needs its module is asked
            module = function.rpartition(".")[0]
            asked.update(*(known[name] for name in known if name.rpartition(".")[0] == module))
        fit = [test for test in asked if function not in self.imports[test.partition("::")[0]]]
        fit.sort(key=lambda test: (-self.kills[function, test], seconds[test], test))
        together = itertools.accumulate(seconds[test] for test in fit)
        return [test for test, until in zip(fit, together, strict=True) if until < self.budget]

    def start(self, key: str, running: dict[int, tuple[str, int]]) -> None:
        """Start the tests of a change in a copy of this process."""
        tests = self.ready(function_of(key))
        if not tests:
            self.results.put(key, UNTESTED)
            return

        def work(writes: int) -> int:
            set_mutant_under_test(key)
            if self.is_early(function_of(key)):
                try:
                    importlib.reload(sys.modules[key.rpartition(".")[0]])
                except Exception:
                    return KILLED
            trampoline.get_mutant_under_test = lambda: key  # without a look at the environment
            return self.ask(tests, writes)

        pid, reads = in_a_copy(work, 5)
        running[pid] = (key, reads)

    def ask(self, tests: Sequence[str], writes: int) -> int:
        """Run tests until one fails, and write which; nobody reads how it failed."""
        items = [self.items[test] for test in tests]
        for item, following in itertools.zip_longest(items, items[1:]):
            usual = self.known["seconds"][item.nodeid]
            signal.setitimer(signal.ITIMER_PROF, 3 + 20 * usual)
            signal.alarm(10 + int(100 * usual))  # who waits for ever takes nothing of the processor
            self.asked = writes
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
        return SURVIVED

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        """End a copy at the first failure."""
        expected = (pytest.skip.Exception, pytest.xfail.Exception)
        if self.asked and call.excinfo and not call.excinfo.errisinstance(expected):
            os.write(self.asked, item.nodeid.encode())
            os._exit(KILLED)

    def end(self, running: dict[int, tuple[str, int]]) -> None:
        """Wait for one of the copies, and note its answer."""
        pid, status, used = os.wait4(-1, 0)
        key, reads = running.pop(pid)
        with open(reads) as file:
            if test := file.read():
                self.kills[function_of(key), test] += 1
        self.results.put(key, answer(status), used.ru_utime + used.ru_stime)


def afresh(results: Results, keys: list[str], until: float, tests: Sequence[str]) -> None:
    """Try changes of what is called while the package or a test is imported: import it anew."""
    (kept,) = Path("..").glob(f"survey-{contents(tests)}.json")
    known = json.loads(kept.read_text())
    early = {function for called in known["imports"].values() for function in called}
    long = [test for test, seconds in known["seconds"].items() if seconds > 1]
    left_out = [f"--deselect={test}" for test in (*known["failed"], *long)]
    asked = [*PYTEST, "-x", "--hypothesis-profile=mutants", *left_out, *tests]
    for key in ("none", *(key for key in keys if function_of(key) in early)):

        def work(_: int, key: str = key) -> int:
            set_mutant_under_test(key)
            return min(pytest.main(asked), KILLED)

        pid, reads = in_a_copy(work, 100)
        os.close(reads)
        _, status, used = os.wait4(pid, 0)
        code = answer(status)
        if key != "none":
            results.put(key, code, used.ru_utime + used.ru_stime)
        elif code != SURVIVED:
            sys.exit("error: the tests fail on the sound package")
        if time.monotonic() > until:
            break
    results.save()


def main(folder: str, profile: str, children: str, seconds: str, *tests: str) -> None:
    """Write the changes of a part, and try those that have no answer yet."""
    os.chdir(folder)
    set_mutant_under_test("mutant_generation")
    copy_src_dir()
    copy_also_copy_files()
    setup_source_paths()
    create_mutants(1)
    os.chdir("mutants")
    results, until = Results(Path.cwd()), time.monotonic() + float(seconds)
    survivors = Path("../survivors.json")
    again = None if profile == "mutants" else json.loads(survivors.read_text())
    keys = results.open(again)
    if profile == "afresh":
        afresh(results, keys, until, tests)
        return
    set_mutant_under_test("stats")
    for module in pkgutil.walk_packages(["mha"], "mha."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    trials = Trials(results, keys, int(children), until, tests, math.inf if again else 1)
    trials.imports["mha"] = sorted(state()._stats)
    signal.signal(signal.SIGTERM, lambda *_: setattr(trials, "until", 0))  # ends after these
    pytest.main([*PYTEST, f"--hypothesis-profile={profile}", *tests], plugins=[trials])


if __name__ == "__main__":
    main(*sys.argv[1:])
