"""The bundled scripts: their sources, and the files that a page loads for each element."""

import json
import re
from graphlib import TopologicalSorter

import pytest
from bundling import PUBLISHED, STAMP, WIDGETS, digest_of_sources

from mha.runs.stages import as_data
from mha.widgets.assets import files_of, published_names

SOURCE = WIDGETS / "src"
MODULES = sorted(SOURCE.rglob("*.ts"))
IMPORT = re.compile(r'^(?:import|export)(?: (type))?[^;"]*?"(\.[^"]+\.ts)"', re.MULTILINE)
MOST_LINES = 400
"""The largest number of lines of a module."""


def test_the_bundles_are_made_from_the_modules_that_are_here():
    assert (PUBLISHED / STAMP).read_text(encoding="utf-8") == digest_of_sources()


def test_the_browser_has_the_stages_of_the_package():
    kept = json.loads((SOURCE / "engine" / "stages.json").read_text(encoding="utf-8"))
    stages = as_data() | as_data(in_block=True) | as_data(of_words=True)
    assert kept == json.loads(json.dumps(stages))


def test_no_module_imports_itself_through_others_and_none_talks_through_a_global():
    graph, without_types = {}, {}
    for file in MODULES:
        text = file.read_text(encoding="utf-8")
        found = [
            ((file.parent / path).resolve(), is_type) for is_type, path in IMPORT.findall(text)
        ]
        graph[file] = {path for path, _ in found}
        without_types[file] = {path for path, is_type in found if not is_type}
        assert all(path in MODULES for path in graph[file]), file
        assert not re.search(r"window\.mha|globalThis\.", text), file
    TopologicalSorter(graph).prepare()  # raises where there is a cycle, of types too
    engine = [file for file in MODULES if file.parent.name == "engine"]
    assert len(engine) > 20
    for file in engine:  # pure: it needs no page
        assert {path.parent.name for path in without_types[file]} <= {"engine", "data", "strings"}
        assert not re.search(r"\b(document|window)\.", file.read_text(encoding="utf-8")), file


@pytest.mark.parametrize("file", MODULES, ids=lambda file: file.relative_to(SOURCE).as_posix())
def test_no_module_is_longer_than_can_be_read_at_once(file):
    assert len(file.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


@pytest.mark.parametrize("name", ["boxes", "explorer", "instrument", "model-view", "own"])
def test_each_file_comes_after_the_files_that_it_needs(name):
    files = files_of(name)
    assert files[-1] == f"{name}.js"
    assert set(files) <= set(published_names())
    for at, file in enumerate(files):
        assert set(files_of(file.removesuffix(".js"))) <= set(files[: at + 1])
