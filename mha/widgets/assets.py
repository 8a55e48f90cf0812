"""The scripts and styles of the widgets, as a page loads them."""

import base64
import json
import re
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import numpy as np

from mha.audit.sheet import sheet
from mha.audit.sources import source_names
from mha.examples.free_order import ADJECTIVES, LENGTH, NOUNS, QUESTIONS, VERBS, WORDS
from mha.examples.learning_runs import WIDTH, task
from mha.examples.recorded import recorded_heads
from mha.examples.trained import load_model, packed
from mha.runs.stages import as_data
from mha.views.colours import head_properties
from mha.widgets.heads_data import head_file, head_script, maps_script

FOLDER = Path(__file__).resolve().parent / "static"
"""Where the scripts and styles are written; the types beside them are for the checker alone."""

ARITHMETIC_PARTS = (
    "numbers.js",
    "signs.js",
    "strings-numbers.js",
    "typed-numbers.js",
    "stages.js",
    "places.js",
    "origins.js",
    "attention.js",
)
"""The scripts that port the package, in the order in which they run."""

BOX_PARTS = (
    "strings-your-turn.js",
    "exercises.js",
    "answers.js",
    "your-turn.js",
    "build.js",
)
"""The scripts of the boxes for computing, in order, after `ARITHMETIC` and `BASE`."""

EXPLORER_PARTS = (
    "strings-explorer.js",
    "explorer-parts.js",
    "explorer-state.js",
    "least-change.js",
    "explorer-address.js",
    "explorer-origins.js",
    "strip-drawing.js",
    "strip-hands.js",
    "strip.js",
    "strip-tasks.js",
    "explorer-controls.js",
    "explorer-view.js",
    "explorer.js",
)
"""The parts of the explorer's script, in the order in which they run, after `ARITHMETIC`."""

LOOKING = ("strings-looking.js", "bytes.js", "weight-maps.js", "origin-line.js")
"""What a model, a layer and recorded heads are looked at with."""

TIME = ("strings-time-bar.js", "time-bar.js")
"""The bar under what happens in steps."""

STEPS = ("strings-steps.js", "steps-state.js")
"""What a cache that fills and tiles over scores share."""

LATE_PARTS = {
    "explorer-block.js": (
        "stages-block.js",
        "strings-explorer-block.js",
        "attention-block.js",
        "origins-block.js",
        "explorer-block.js",
    ),
    "explorer-all.js": (
        "strings-explorer-all.js",
        "explorer-tables.js",
        "explorer-panel.js",
        "explorer-all.js",
    ),
    "letters.js": ("strings-letters.js", "letters.js"),
    "tied.js": ("strings-tied.js", "tied-lines.js", "tied-strip.js", "tied.js"),
    "tied-figure.js": ("plane-labels.js", "tied-figure.js"),
    "tied-still.js": ("tied-still.js",),
    "explorer-steps.js": (*TIME, "strings-explorer-steps.js", "explorer-steps.js"),
    "cache.js": (*TIME, *STEPS, "cache.js"),
    "tiles.js": (*TIME, *STEPS, "dragged-field.js", "tiles.js"),
    "explorer-settings.js": (
        "strings-explorer-heat.js",
        "strings-explorer-settings.js",
        "explorer-settings.js",
    ),
    "model-view.js": (
        "stages-words.js",
        "strings-model.js",
        *LOOKING,
        *TIME,
        "model-arithmetic.js",
        "model-maps.js",
        "model-origin.js",
        "model-address.js",
        "model-view.js",
    ),
    "model-numbers.js": ("model-numbers.js",),
    "learning-view.js": (
        "strings-looking.js",
        "weight-maps.js",
        *TIME,
        "numpy-draws.js",
        "learning-task.js",
        "learning.js",
        "strings-learning.js",
        "learning-view.js",
    ),
    "bugs-view.js": ("draws.js", "bugs.js", "strings-bugs.js", "bugs-view.js"),
    "own.js": (
        "strings-own.js",
        "draws.js",
        "explorer-sections.js",
        "own-draw.js",
        "own-settings.js",
        "own-files.js",
        "own-sheet.js",
        "own-asks.js",
        "own.js",
    ),
    "slope.js": ("plane-slope.js",),
    "sheet-view.js": (
        "strings-sheet.js",
        *LOOKING,
        "dragged-field.js",
        "sheet.js",
        "sheet-view.js",
    ),
    "layer-view.js": ("strings-layer.js", *LOOKING, "layer-view.js"),
    "cost-view.js": ("strings-cost.js", "cost-sizes.js", "cost-curves.js", "cost-view.js"),
    "heads-view.js": (
        "strings-heads.js",
        *LOOKING,
        "heads-names.js",
        "heads-story.js",
        "heads-grid.js",
        "heads-own.js",
        "heads-view.js",
    ),
    "pencil.js": ("strings-pencil.js", "corrections.js", "pencil-words.js", "pencil-view.js"),
    "pencil-sheets.js": ("pencil-sheets.js",),
    "explorer-views.js": (
        "strings-explorer-heat.js",
        "strings-explorer-views.js",
        "plane-labels.js",
        "plane.js",
        "plane-weights.js",
        "plane-views.js",
        "plane-dial.js",
        "strip-temperature.js",
        "strip-width.js",
    ),
}
"""Scripts that no page loads before a reader asks for what they make, by the parts of each.

That of a block comes as soon as its explorer is near: without it that explorer cannot compute.
"""

EXPLORER_STYLES = ("explorer.css", "strip.css")
"""The parts of the explorer's style sheet; they too are published as one."""

TOGETHER = {
    "arithmetic.js": ARITHMETIC_PARTS,
    "boxes.js": BOX_PARTS,
    "explorer.js": EXPLORER_PARTS,
    "explorer.css": EXPLORER_STYLES,
    **LATE_PARTS,
}
"""What is published as one file, which packs smaller, by the parts in their order."""

BASE = ("page.js", "progress.js")
"""What the boxes and the book's own scripts share."""

ARITHMETIC = ("arithmetic.js",)
BOXES = (*BASE, "boxes.js")
EXPLORER = ("explorer.js",)
"""The scripts as a page loads them, in this order."""

_COMMENT = re.compile(r"^[ \t]*(?:/\*(?:(?!\*/).)*\*/|//[^\n]*)[ \t]*\n", re.DOTALL | re.MULTILINE)
_TYPE = re.compile(r"/\*\* @(?:type|param)[^\n]*?\*/ ?")
_REMARK = re.compile(r"(?<=[;{},)]) +// [^\n\"'`]*$", re.MULTILINE)  # behind code
_INDENTATION = re.compile(r"^[ \t]+", re.MULTILINE)
_PATTERN = r"(?:(?<=[(=:,])|(?<=[=:,] ))/(?![*/ ])(?:\[(?:[^]\\\n]|\\.)*]|[^/\\\n]|\\.)+/"
_LITERAL = rf"""("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|{_PATTERN})"""
_SPACED = re.compile(_LITERAL + r"| *([={},;<>!&|?]+|:(?= )) *|(?<=\bif) (?=\()|\n(?=\n)")
_OPEN_END = re.compile(_LITERAL + r"|(?<=[{};,])\n(?=[^\n])")


HINT = "//# allFunctionsCalledOnLoad\n"
"""Has a browser compile a script's functions beside the page's thread while it loads, and not each
when it is first called, which is a seventh of what an instrument takes to be there."""


def published_names() -> list[str]:
    """Return the names of all scripts and styles that are published.

    Examples
    --------
    >>> "heads.css" in published_names()
    True
    """
    files = {file.name for pattern in ("*.js", "*.css") for file in FOLDER.glob(pattern)}
    used = {part for parts in TOGETHER.values() for part in parts}
    return sorted((files | {*_MADE}) - used | {*TOGETHER})


def published() -> dict[str, str]:
    """Return every script and style by its file's name.

    Some are made from Python: the registry of stages, in two parts, and the heads' colours, as a
    style. Parts are put together as `TOGETHER` says. Indentation, comments and types
    are left out: they are for whoever reads the source, and a page would carry them to every
    reader. `HINT` is added.

    Examples
    --------
    >>> published()["heads.css"][:6]
    'html{-'
    """
    return {name: HINT * name.endswith(".js") + text_of(name) for name in published_names()}


@cache
def text_of(name: str) -> str:
    """Return one script or style as it is published.

    Examples
    --------
    >>> text_of("page.js")[:12]
    '(function ()'
    """
    return "".join(map(_part, TOGETHER.get(name, (name,))))


def _part(name: str) -> str:
    """Return a script or style that is made from Python, or what is needed of one in the folder."""
    if name in _MADE:
        return _MADE[name]()
    return bare((FOLDER / name).read_text(encoding="utf-8"))


def model_script() -> str:
    """Return the numbers of the trained model at each step that is kept, as a script.

    A page that is opened as a file may load a script, and nothing else.

    Examples
    --------
    >>> model_script()[:30]
    'window.mhaModel.data={"words":'
    """
    trained = load_model("names")
    numbers = np.concatenate([packed(model) for model in trained.checkpoints])
    data = {
        "words": trained.model.words,
        "shapes": [[name, array.shape] for name, array in trained.model.arrays.items()],
        "base": trained.model.base,
        "steps": trained.steps,
        "costs": trained.costs.ravel().tolist(),
        "numbers": base64.b64encode(numbers.astype("<f2").tobytes()).decode(),
    }
    return f"window.mhaModel.data={json.dumps(data, separators=(',', ':'))};\n"


def task_script() -> str:
    """Return the toy language and the sentences that a layer learns from, a letter a word.

    Examples
    --------
    >>> task_script()[:40]
    'window.mhaLearning={task:{"words":["bird'
    """
    (learned, _), (asked, _), _ = task()
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
    return f"window.mhaLearning={{task:{json.dumps(data, separators=(',', ':'))}}};\n"


def sheets_script() -> str:
    """Return the sheets of the source documents, which the red pencil is taken to, as a script.

    Examples
    --------
    >>> sheets_script()[:40]
    'window.mhaPencilSheets=[{"name":"aiayn-p'
    """
    sheets = json.dumps(
        [sheet(name) for name in source_names()], ensure_ascii=False, separators=(",", ":")
    )
    return f"window.mhaPencilSheets={sheets};\n"


def stages_script(*, in_block: bool = False, of_words: bool = False) -> str:
    """Return stages of the registry as a script: of any run, of a block, or of a vocabulary.

    Examples
    --------
    >>> stages_script()[:31]
    'window.mhaStages={"embeddings":'
    >>> stages_script(in_block=True)[:46]
    'Object.assign(window.mhaStages,{"first_gain":{'
    """
    data = as_data(in_block=in_block, of_words=of_words)
    stages = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    if in_block or of_words:
        return f"Object.assign(window.mhaStages,{stages});\n"
    return f"window.mhaStages={stages};\n"


_MADE: dict[str, Callable[[], str]] = {
    "stages.js": stages_script,
    "stages-block.js": partial(stages_script, in_block=True),
    "stages-words.js": partial(stages_script, of_words=True),
    "model-numbers.js": model_script,
    "learning-task.js": task_script,
    "pencil-sheets.js": sheets_script,
    "heads.css": head_properties,
    "heads-maps.js": maps_script,
    **{head_file(*at): partial(head_script, *at) for at in recorded_heads()},
}
"""What is made from Python."""


def bare(text: str) -> str:
    r"""Return a script or style without what only its source needs; literals stay as they are.

    Spaces stay where one language or the other may need them: around brackets, + and -.

    Examples
    --------
    >>> bare("/* Why. */\n  const one = (a, b) => 'a = b'; // so far\n")
    "const one=(a,b)=>'a = b';\n"
    """
    for pattern in (_COMMENT, _TYPE, _REMARK, _INDENTATION):
        text = pattern.sub("", text)
    return _OPEN_END.sub(r"\1", _SPACED.sub(r"\1\2", text))


def publish(folder: Path) -> None:
    """Write every script and style into a folder.

    Parameters
    ----------
    folder : Path
        Made where it is missing.

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
