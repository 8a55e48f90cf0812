"""Cells and expressions run in a process of their own, as a notebook's kernel would run them."""

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from myst_nb.core.read import read_myst_markdown_notebook

from byhand.reading import results
from byhand.reading.steps import Step, steps_of

SHOWS = """\
print("a")
print("b")
display(1)
import sys; print("oh", file=sys.stderr)
class Word:
    def _repr_markdown_(self): return "*c*"
Word()
"""


@pytest.fixture
def compute(tmp_path, monkeypatch):
    """Return a function that runs cells and expressions as those of a page."""
    monkeypatch.setattr(results, "ROOT", tmp_path)
    monkeypatch.setattr(results, "KEPT", tmp_path / "results")
    page = tmp_path / "book" / "page.md"
    page.parent.mkdir()

    def run(*sources, seconds=60):
        steps = [
            Step("expression" if source.startswith("=") else "cell", i, 10 * i, source.strip("="))
            for i, source in enumerate(sources)
        ]
        found = results.kept(page, steps, "now")
        return found or results.compute(page, steps, "now", seconds)

    return run


def test_a_cell_gives_what_a_notebook_keeps(compute):
    (outputs,) = compute(SHOWS).outputs
    kinds = [output["output_type"] for output in outputs]
    assert kinds == ["stream", "display_data", "stream", "execute_result"]
    assert outputs[0] == {"output_type": "stream", "name": "stdout", "text": "a\nb\n"}
    assert outputs[3]["data"]["text/markdown"] == "*c*"


def test_an_expression_has_the_value_that_it_has_where_it_stands(compute):
    found = compute("x = 1", "=x", "x += 1;", "=x", "=f(y)")
    values = [output["data"]["text/plain"] for given in found.outputs for output in given]
    assert values == ["1", "2"]
    assert found.errors == {4: "NameError: name 'f' is not defined"}


@pytest.mark.parametrize(
    ("source", "line", "said"),
    [
        ("exchange = 1\nexchanged", 1, "NameError: name 'exchanged' is not defined; defined and"
         " near is exchange"),
        ("def f():\n    return 1 / 0\n\nf()", 3, "f() raised ZeroDivisionError"),
        ("import os\nos._exit(0)", 0, "its kernel died"),
        ("while True:\n    pass", 0, "it did not end within 2 seconds"),
        ("import warnings\nwarnings.warn('a')", 1, "raised UserWarning: a"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line_and_nothing_is_kept(compute, source, line, said):
    found = compute("a = 1", source, "b = 2", seconds=2 if "within" in said else 60)
    ((at, cause),) = found.faults
    assert (at, said in cause) == (10 + line, True), cause
    assert len(found.outputs) <= 2
    assert not results.KEPT.exists()


def test_results_are_kept_until_a_step_or_a_file_that_was_opened_changes(compute, tmp_path):
    note = tmp_path / "book" / "note.txt"
    note.write_text("1", encoding="utf-8")
    read = "import pathlib, time; x = pathlib.Path('note.txt').read_text(), time.time_ns()"
    first = compute(read, "=x")
    assert list(first.files) == ["book/note.txt"]
    assert compute(read, "=x").outputs == first.outputs
    assert compute(read, "=x[:]").outputs != first.outputs
    again = compute(read, "=x")
    note.write_text("2", encoding="utf-8")
    assert compute(read, "=x").outputs != again.outputs


def test_a_cell_that_runs_ends_with_the_builder(tmp_path):
    (tmp_path / "book").mkdir()
    code = f"""
        import pathlib
        from byhand.reading import results
        from byhand.reading.steps import Step
        if __name__ == "__main__":
            results.ROOT = pathlib.Path({str(tmp_path)!r})
            cell = "import os; open('pid', 'w').write(str(os.getpid()))\\nwhile True: pass"
            page = results.ROOT / "book" / "page.md"
            results.compute(page, [Step("cell", 0, 1, cell)], "now", 600)
    """
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(code), encoding="utf-8")
    path = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    builder = subprocess.Popen([sys.executable, str(script)], env=os.environ | path)
    note = tmp_path / "book" / "pid"
    while not (note.is_file() and note.read_text(encoding="utf-8")):
        assert builder.poll() is None
        time.sleep(0.05)
    builder.kill()
    builder.wait()
    pid = note.read_text(encoding="utf-8")
    while Path(f"/proc/{pid}").is_dir() and "Z" not in Path(f"/proc/{pid}/stat").read_text("utf-8"):
        time.sleep(0.05)


def test_expressions_are_found_in_sentences_captions_and_marks():
    text = textwrap.dedent(
        """\
        ---
        kernelspec: {name: python3}
        ---
        # A

        One {eval}`a
        + 1` and \\{eval}`no`, twice {eval}`b` {eval}`b`.

        - [x `c == 1`] Yes. :: So.

        ```{code-cell}
        ---
        mystnb:
          figure:
            caption: It is {eval}`d`.
        ---
        d = 2
        ```
        """
    )
    notebook = read_myst_markdown_notebook(text, add_source_map=True)
    found = [(step.kind, step.source) for step in steps_of(notebook, text)]
    assert found == [
        ("expression", "a + 1"), ("expression", "b"), ("expression", "bool(c == 1)"),
        ("cell", "d = 2"), ("expression", "d"),
    ]  # fmt: skip
    assert steps_of(notebook, text)[3].line == 17
