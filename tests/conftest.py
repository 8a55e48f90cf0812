"""What every test shares: one seed, hypothesis without randomness or a clock, one browser."""

import os
import shutil

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from seeds import SEED

pytest_plugins = ["explorer_pages", "wheel_only"]

QUIET = ["--no-sandbox", "--disable-background-networking", "--no-first-run"]

settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("thorough", settings.get_profile("fixed"), max_examples=20_000)
for name, examples in (("mutants", 15), ("survivors", 100)):  # no example needs to be a small one
    settings.register_profile(
        name,
        settings.get_profile("fixed"),
        max_examples=examples,
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=list(HealthCheck),
    )
settings.load_profile("fixed")


def pytest_addoption(parser):
    parser.addoption(
        "--sheets", type=int, default=150, help="how many worksheets are recomputed; default: 150"
    )


def pytest_report_header():
    drawn = f"{settings().max_examples} examples a property, derandomized, no deadline"
    return f"numpy seed: {SEED}; hypothesis: {drawn}"


@pytest.fixture
def rng():
    """Return a fresh generator, so that no test depends on which ran before it."""
    return np.random.default_rng(SEED)


@pytest.fixture(scope="session")
def browser():
    """Start one Chromium for all tests that look at pages."""
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    assert chromium, "no Chromium; run: python3 scripts/test.py"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        yield browser
        browser.close()
