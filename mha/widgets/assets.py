"""The scripts and styles of the figures, as a page loads them."""

import base64
import json
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from mha.audit.document_data import document_data
from mha.audit.sources import source_names
from mha.examples.free_order import ADJECTIVES, LENGTH, NOUNS, QUESTIONS, VERBS, WORDS
from mha.examples.learning_runs import WIDTH, learning_task
from mha.examples.recorded import recorded_heads
from mha.examples.trained import load_model, pack_parameters
from mha.views.colours import head_properties
from mha.widgets.data_scripts import data_script
from mha.widgets.heads_data import head_file, head_script, maps_script

PUBLISHED = Path(__file__).resolve().parent / "published"
"""The bundled scripts and styles; scripts/bundling.py writes them from ``src`` and ``static``."""

NOT_BUNDLED = (
    "the scripts of the figures are not bundled; run python3 scripts/build.py in the repository, "
    "or install mha from its wheel"
)

ARITHMETIC = ("arithmetic.js",)
BOXES = ("boxes.js",)
EXPLORER = ("explorer.js",)
"""The scripts that a page of the book loads at once, in this order."""


def published_names() -> list[str]:
    """Return the names of all scripts and styles that are published.

    Examples
    --------
    >>> "heads.css" in published_names()
    True
    """
    files = {file.name for pattern in ("*.js", "*.css") for file in PUBLISHED.glob(pattern)}
    return sorted(files | {*_MADE})


def published() -> dict[str, str]:
    """Return every script and style by the name of its file.

    Bundles come from TypeScript; data, such as a trained model, and the heads' colours from Python.

    Examples
    --------
    >>> published()["heads.css"][:6]
    'html{-'
    """
    return {name: text_of(name) for name in published_names()}


@cache
def text_of(name: str) -> str:
    """Return one script or style as it is published.

    Raises
    ------
    FileNotFoundError
        If the scripts have not been bundled.

    Examples
    --------
    >>> text_of("base.js").startswith("//# allFunctionsCalledOnLoad")
    True
    """
    if name in _MADE:
        return _MADE[name]()
    try:
        return (PUBLISHED / name).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise FileNotFoundError(NOT_BUNDLED) from None


@cache
def _chunks() -> dict[str, Any]:
    """Return the imports of each chunk, and the chunks that share a file with others."""
    data: dict[str, Any] = json.loads(text_of("chunks.json"))
    return data


def files_of(*scripts: str) -> list[str]:
    """Return the files of some scripts and of all their imports, each after its own imports.

    Parameters
    ----------
    *scripts : str
        Names of bundles or of data, without ``.js``.

    Examples
    --------
    >>> files_of("explorer")
    ['arithmetic.js', 'base.js', 'explorer.js']
    """
    imports, together = _chunks()["imports"], _chunks()["together"]
    found: dict[str, None] = {}

    def add(name: str) -> None:
        parts = [*together.get(name, ()), name]
        for other in [other for part in parts for other in imports.get(part, ())]:
            if other not in parts:
                add(other)
        found[name] = None

    for name in scripts:
        add(name)
    inside = {part for name in found for part in together.get(name, ())}
    return [f"{name}.js" for name in found if name not in inside]


def model_script() -> str:
    """Return the numbers of the trained model at each step that is kept, as a script.

    Examples
    --------
    >>> model_script()[:40]
    'define("model-numbers",["exports"],e=>{e'
    """
    trained = load_model("names")
    numbers = np.concatenate([pack_parameters(model) for model in trained.checkpoints])
    data = {
        "words": trained.model.words,
        "shapes": [[name, array.shape] for name, array in trained.model.arrays.items()],
        "base": trained.model.base,
        "steps": trained.steps,
        "costs": trained.costs.ravel().tolist(),
        "numbers": base64.b64encode(numbers.astype("<f2").tobytes()).decode(),
    }
    return data_script("model-numbers", data)


def task_script() -> str:
    """Return the toy language and the sentences that a layer learns from, one letter per word.

    Examples
    --------
    >>> task_script()[:40]
    'define("learning-task",["exports"],e=>{e'
    """
    (learned, _), (asked, _), _ = learning_task()
    a = ord("a")
    texts = [
        "".join(chr(a + form) for form in x[..., : len(WORDS)].argmax(axis=-1).flat)
        for x in (learned, asked)
    ]
    data = {
        "words": WORDS,
        "kinds": {"noun": NOUNS, "adjective": ADJECTIVES, "pronoun": ["it"], "verb": VERBS},
        "questions": QUESTIONS,
        "length": LENGTH,
        "width": WIDTH,
        "batch": 64,
        "learned": texts[0],
        "asked": texts[1],
    }
    return data_script("learning-task", data)


def sheets_script() -> str:
    """Return the sheets of the source documents, which the red pencil corrects, as a script.

    Examples
    --------
    >>> sheets_script()[:40]
    'define("pencil-sheets",["exports"],e=>{e'
    """
    return data_script("pencil-sheets", [document_data(name) for name in source_names()])


_MADE: dict[str, Callable[[], str]] = {
    "model-numbers.js": model_script,
    "learning-task.js": task_script,
    "pencil-sheets.js": sheets_script,
    "heads.css": head_properties,
    "heads-maps.js": maps_script,
    **{head_file(*at): partial(head_script, *at) for at in recorded_heads()},
}
"""The scripts and styles that Python writes, by the name of their file."""


def publish(folder: Path) -> None:
    """Write every script and style into a folder.

    Parameters
    ----------
    folder : Path
        Created if it is missing.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     publish(Path(folder))
    ...     sorted(file.name for file in Path(folder).glob("explorer.*"))
    ['explorer.css', 'explorer.js']
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in published().items():
        (folder / name).write_text(text, encoding="utf-8")
