"""Fixtures of all tests: one seed, deterministic hypothesis, and one instance of each browser."""

import os
from pathlib import Path

import environment
import numpy as np
import pytest
import threadpoolctl
from hypothesis import settings
from seeds import SEED

pytest_plugins = ["typescript_modules", "wheel_only"]

TESTS = Path(__file__).resolve().parent
# scripts/test.py runs each of these in an environment of its own
collect_ignore = ["against_torch", "against_frameworks", "against_autograders"]
collect_ignore_glob = ["*conftest.py"]  # without doctests, and several of one name
NOT_NEEDED = (
    # Features of Chromium: two hidden pages of the address bar, which each new window would load.
    # Without them a window opens in half the time, and the tests open hundreds of windows.
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup"),
    # Playwright's own list, repeated here: of two lists Chromium takes the last.
    *("HttpsUpgrades", "HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter"),
    *("PaintHolding", "ThirdPartyStoragePartitioning", "OptimizationHints", "AimEnabled"),
    *("NetworkTimeServiceQuerying", "PreconnectToSearch", "DestroyProfileOnBrowserClose"),
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "AvoidCorsURLLoaderRestartOnRedirect"),
)
QUIET = [
    *("--no-sandbox", "--disable-background-networking", "--no-first-run"),
    f"--disable-features={','.join(NOT_NEEDED)}",
    # By default, headless Chromium draws letters wider than readers see them.
    "--font-render-hinting=slight",
]

LONGEST_FIRST = (
    "book/test_book_browser.py",
    "book/test_engines.py",
    "book/test_printing.py",
    "book/test_pdf.py",
    "commands/test_build.py",
    "commands/test_slides.py",
    "grade/test_grading.py",
    "book/test_page_notebooks.py",
    "book/test_book_pages.py",
    "commands/test_same_bytes.py",
    "commands/test_preview.py",
    "book/test_faults.py",
    "widgets/test_strip.py",
    "widgets/reading/test_exercises_browser.py",
)
"""The slowest test files. They run first, so that no process is still busy with one at the end."""

settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("thorough", settings.get_profile("fixed"), max_examples=20_000)
settings.load_profile("fixed")


def pytest_sessionstart():
    """Limit each test process to one thread for matrix products.

    With one process per core, more threads would only wait for each other.
    """
    if "PYTEST_XDIST_WORKER" in os.environ:
        threadpoolctl.threadpool_limits(1, user_api="blas")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Run the slowest files first, and the others in the order of the folders."""
    place = {TESTS / name: i for i, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: place.get(item.path, len(place)))


def pytest_addoption(parser):
    parser.addoption(
        "--sheets", type=int, default=60, help="how many worksheets are recomputed; default: 60"
    )


@pytest.fixture
def rng():
    """Return a new generator, so that a test does not depend on the tests before it."""
    return np.random.default_rng(SEED)


@pytest.fixture(scope="session")
def playwright():
    """Start Playwright's driver of Chromium and Firefox once."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def browser(playwright):
    """Start one Chromium for all tests that open pages."""
    chromium = environment.find_chromium()
    assert chromium, "no Chromium; run: python3 scripts/test.py"
    browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def firefox(playwright):
    """Start one Firefox for all tests of a process, and yield Playwright's browser."""
    import engines

    with engines.firefox(playwright) as browser:
        yield browser


@pytest.fixture(scope="session")
def webkit():
    """Start one WebKit for all tests of a process, and yield its only page."""
    import engines

    with engines.webkit() as page:
        yield page


@pytest.fixture(scope="session")
def in_firefox(firefox):
    """Return Firefox. Its method `open` opens a page."""
    import engines

    context = firefox.new_context()
    yield engines.EnginePages("firefox", context.new_page())
    context.close()


@pytest.fixture(scope="session")
def in_webkit(webkit):
    """Return WebKit. Its method `open` opens a page."""
    import engines

    return engines.EnginePages("webkit", webkit)


@pytest.fixture(scope="session")
def in_chromium(browser):
    """Return Chromium. Its method `open` opens a page."""
    import engines

    context = browser.new_context()
    yield engines.EnginePages("chromium", context.new_page())
    context.close()


@pytest.fixture(scope="session", params=["chromium", "firefox", "webkit"])
def engine(request):
    """Return each of the three engines. The method `open` opens a page."""
    return request.getfixturevalue(f"in_{request.param}")
