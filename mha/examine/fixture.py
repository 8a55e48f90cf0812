"""A fixture for pytest: ``pytest_plugins = ["mha.examine.fixture"]`` in a `conftest.py` has it.

A test that examines attention is two lines, and fails with the report::

    def test_my_attention(examined):
        examined(my_attention)
"""

import json
from collections.abc import Callable
from typing import Any

import pytest

from mha.examine import Report, examine


@pytest.fixture
def examined(record_property: Callable[[str, object], None]) -> Callable[..., Report]:
    """Return `mha.examine`, which here fails the test if a function or module is wrong.

    The report is a property of the test too, as JSON: ``pytest --junitxml report.xml`` keeps it.
    """

    def run(function: Any, **options: Any) -> Report:
        report = examine(function, **options)
        record_property("examine", json.dumps(report.as_data()))
        report.raise_if_wrong()
        return report

    return run
