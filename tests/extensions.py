"""Load the book's Sphinx extensions, which are no package, by their names."""

import importlib.util
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "book" / "_ext"


def load(name):
    """Return the extension module `name` from book/_ext."""
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
