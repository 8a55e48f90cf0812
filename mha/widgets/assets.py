"""The scripts and styles of the widgets, as a page loads them."""

import json
import re
from pathlib import Path

from mha.runs.stages import as_data
from mha.views.colours import head_properties

FOLDER = Path(__file__).resolve().parent / "static"
"""Where the scripts and styles are written; the types beside them are for the checker alone."""

ARITHMETIC = ("numbers.js", "stages.js", "places.js", "origins.js", "attention.js")
"""The scripts that port the package, in the order in which they run."""

BOXES = (
    "page.js",
    "progress.js",
    "strings-your-turn.js",
    "exercises.js",
    "answers.js",
    "your-turn.js",
    "build.js",
)
"""The scripts of the boxes for computing, in order, after those of `ARITHMETIC`."""

EXPLORER_PARTS = (
    "strings-explorer.js",
    "explorer-parts.js",
    "explorer-state.js",
    "explorer-own.js",
    "explorer-address.js",
    "explorer-origins.js",
    "strip-drawing.js",
    "strip.js",
    "strip-tasks.js",
    "explorer-controls.js",
    "explorer-view.js",
    "explorer.js",
)
"""The parts of the explorer's script, in the order in which they run, after `ARITHMETIC`."""

LATE_PARTS = {
    "explorer-all.js": ("explorer-tables.js", "explorer-panel.js", "explorer-all.js"),
    "explorer-settings.js": ("explorer-settings.js",),
    "explorer-views.js": ("strip-plane.js", "strip-temperature.js", "strip-width.js"),
}
"""Scripts that no page loads before a reader asks for what they make, by the parts of each."""

EXPLORER_STYLES = ("explorer.css", "strip.css")
"""The parts of the explorer's style sheet; they too are published as one."""

EXPLORER = ("explorer.js",)
"""The explorer's script as it is published: its parts in one file, which packs smaller."""

_COMMENT = re.compile(r"^[ \t]*(?:/\*(?:(?!\*/).)*\*/|//[^\n]*)[ \t]*\n", re.DOTALL | re.MULTILINE)
_TYPE = re.compile(r"/\*\* @(?:type|param)[^\n]*?\*/ ?")
_REMARK = re.compile(r"(?<=[;{},)]) +// [^\n\"'`]*$", re.MULTILINE)  # behind code
_INDENTATION = re.compile(r"^[ \t]+", re.MULTILINE)


def published() -> dict[str, str]:
    """Return every script and style by its file's name, and two that are made from Python.

    These are the registry of stages, as a script, and the heads' colours, as a style.

    The parts of the explorer's script and style are put together. Indentation,
    comments and types are left out: they are for whoever reads the source, and a
    page would carry them to every reader.

    Examples
    --------
    >>> published()["stages.js"][:31]
    'window.mhaStages={"embeddings":'
    """
    files = sorted([*FOLDER.glob("*.js"), *FOLDER.glob("*.css")])
    texts = {file.name: bare(file.read_text(encoding="utf-8")) for file in files}
    together = {"explorer.js": EXPLORER_PARTS, "explorer.css": EXPLORER_STYLES, **LATE_PARTS}
    for name, parts in together.items():
        texts[name] = "".join([texts.pop(part) for part in parts])
    stages = json.dumps(as_data(), ensure_ascii=False, separators=(",", ":"))
    return texts | {"stages.js": f"window.mhaStages={stages};\n", "heads.css": head_properties()}


def bare(text: str) -> str:
    r"""Return a script or style without what only its source needs; strings stay on one line.

    Examples
    --------
    >>> bare("/* Why. */\n  const one = 1; // so far\n")
    'const one = 1;\n'
    """
    return _INDENTATION.sub("", _REMARK.sub("", _TYPE.sub("", _COMMENT.sub("", text))))


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
