"""The oracles judge the mathematics with nothing that is built on it."""

import ast
import sys
from pathlib import Path

import pytest

import mha

HERE = Path(__file__).parent
ORACLES = ("test_onnx_oracle", "test_attention_exact", "test_attention", "test_softmax")


def names_from_the_package(path):
    """Yield each module and name that a file imports from the package."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names if alias.name.startswith("mha"))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mha"):
            yield from ((node.module, alias.name) for alias in node.names)


def home(module, name):
    """Return the module in which an imported name is defined."""
    return module if name is None else getattr(sys.modules[module], name).__module__


@pytest.mark.parametrize("oracle", ORACLES)
def test_an_oracle_takes_the_mathematics_alone_from_the_package(oracle):
    taken = list(names_from_the_package(HERE / f"{oracle}.py"))
    assert taken
    for module, name in taken:
        assert home(module, name).startswith("mha.core."), (module, name)


def test_what_is_built_on_the_mathematics_would_be_noticed():
    assert home("mha", "origin") == "mha.runs.origins"
    assert home("mha", "load_example") == "mha.examples"
    assert mha.origin.__module__ == "mha.runs.origins"


@pytest.mark.parametrize("path", sorted(Path(mha.__file__).parent.glob("core/*.py")))
def test_the_mathematics_takes_nothing_from_above_it(path):
    for module, _ in names_from_the_package(path):
        assert module.startswith("mha.core."), module
