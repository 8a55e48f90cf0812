"""The functions of the pages' TypeScript modules, for tests that call them in a browser."""

import re

import pytest
from bundling import WIDGETS, run_deno
from shared_folders import fill_shared_folder

from mha.widgets.assets import text_of

DATA = re.compile(r'define\("[^"]+",\["exports"\],e=>\{e\.default=(.*)\}\);\n', re.DOTALL)


@pytest.fixture(scope="session")
def modules(tmp_path_factory):
    """Return a script that defines `modules`, the exports of the TypeScript modules."""

    def make(folder):
        for file in (WIDGETS / "src" / "data").glob("*.ts"):
            if file.stem != "search-index":
                data = DATA.fullmatch(text_of(f"{file.stem}.js"))[1]
                (folder / f"{file.stem}.json").write_text(data, encoding="utf-8")
        script = str(folder / "modules.js")
        run_deno("run", "--allow-all", "tests/typescript/bundle.ts", script, str(folder))
        page = "<!doctype html><title>Modules</title>"
        (folder / "page.html").write_text(page, encoding="utf-8")

    return fill_shared_folder(tmp_path_factory, "modules", make) / "modules.js"


@pytest.fixture
def with_modules(modules):
    """Return a function that defines `modules` in a page despite the page's content policy."""

    def define(page):
        page.evaluate(modules.read_text(encoding="utf-8"))
        return page

    return define
