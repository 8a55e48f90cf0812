"""What the audit is held against shares nothing with it: neither origins nor transcription."""

import ast
from pathlib import Path

import list_source_tokens
import pytest
from helpers import raises
from list_source_tokens import listing

HERE = Path(__file__).parent
OWN_WAY = ("origin", "origins", "follow")


def imported(path):
    """Return the modules that a file imports from, and the names that it imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            found |= {node.module, *(alias.name for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


ORACLES = sorted([*HERE.glob("*.py"), *HERE.parent.glob("core/*.py")])


@pytest.mark.parametrize("path", ORACLES, ids=lambda path: path.stem)
def test_no_test_of_core_or_audit_asks_where_a_number_comes_from(path):
    parts = {part for name in imported(path) for part in name.split(".")}
    assert parts.isdisjoint(OWN_WAY)


def test_loops_need_the_inputs_alone():
    assert imported(HERE / "by_loops.py") == {
        "math", "functools", "cache", "numpy", "helpers", "loop_product", "mha", "load_example",
    }  # fmt: skip


def test_the_second_extraction_shares_nothing_with_the_first():
    assert imported(HERE / "list_source_tokens.py") == {"argparse", "sys", "pathlib", "Path"}


def test_the_second_extraction_lists_lines_with_their_numbers():
    assert listing("Q₁ = 0.6×0.8\n\n[1.0, -1.0], GPT-3, 64-2.") == (
        "1: ₁ 0.6 0.8\n3: 1.0 -1.0 3 64 2\n"
    )


def test_the_second_extraction_writes_a_file_a_document(monkeypatch, tmp_path):
    monkeypatch.setattr(list_source_tokens, "TOKENS", tmp_path / "tokens")
    nowhere = tmp_path / "nowhere"
    with raises(SystemExit, f"{nowhere} is not a folder; the one with the documents is wanted"):
        list_source_tokens.main([str(nowhere)])
    wanted = f"{tmp_path} has no .txt file; the folder with the documents is wanted"
    with raises(SystemExit, wanted):
        list_source_tokens.main([str(tmp_path)])
    (tmp_path / "one.txt").write_text("none\nQ = 0.7", encoding="utf-8")
    list_source_tokens.main([str(tmp_path)])
    assert (tmp_path / "tokens" / "one.txt").read_text(encoding="utf-8") == "2: 0.7\n"
