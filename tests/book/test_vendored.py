"""What the project carries of others is what its list says, unmodified, licensed and named."""

import hashlib
import json
import re
import subprocess
import sys
import tomllib
from html import unescape
from importlib.metadata import version as installed

import pytest
from book_site import ROOT, SITE, soup
from fontTools.ttLib import TTFont

from byhand.outside.notices import body
from byhand.outside.vendored import carried_packages, pinned, vendored_files

FILES = vendored_files()
LICENCES = {
    "MIT": "Permission is hereby granted, free of charge",
    "Apache-2.0": "Apache License",
    "OFL-1.1": "SIL OPEN FONT LICENSE",
    "MPL-2.0": "Mozilla Public License",
}
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_vendored_file_is_unmodified_and_has_its_licence(file):
    data = (ROOT / file.path).read_bytes()
    assert hashlib.sha256(data).hexdigest() == file.sha256
    text = (ROOT / file.text).read_text(encoding="utf-8")
    assert LICENCES[file.licence].lower() in text.lower()


def test_a_vendored_program_or_font_has_the_version_of_the_list():
    for file in FILES:
        path = ROOT / file.path
        if path.suffix == ".woff2":
            named = TTFont(path)["name"].getDebugName(5)
            assert named.split()[1].split(";")[0] == file.version
    (temml,) = (file for file in FILES if file.name == "Temml")
    text = (ROOT / temml.path).read_text(encoding="utf-8")
    assert f'version:"{temml.version}"' in text


def test_nothing_is_vendored_that_the_list_lacks():
    listed = {file.path for file in FILES}
    tracked = subprocess.run(
        ["git", "ls-files", "book", "mha", "scripts", "tests"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split("\n")  # fmt: skip
    fonts = {path for path in tracked if path.endswith((".woff2", ".woff", ".ttf", ".otf"))}
    minified = {path for path in tracked if path.endswith(".min.js")}
    beside_a_licence = {
        path
        for folder in {file.path.rpartition("/")[0] for file in FILES}
        for path in tracked
        if path.startswith(f"{folder}/") and path.endswith((".js", ".css", ".woff2", ".npz", ".gz"))
    }
    assert fonts | minified | beside_a_licence == listed


def test_the_lock_is_read_whole():
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    packages = pinned()
    assert len(packages) == len(re.findall(r"^[\w.-]+==", lock, re.MULTILINE))
    assert sum(len(package.hashes) for package in packages) == lock.count("--hash=sha256:")
    assert all(package.hashes for package in packages)
    for package in carried_packages():
        assert installed(package.name) == package.version


def test_the_notices_name_everything_with_its_licence():
    text = unescape(body())
    for file in FILES:
        assert f"<td>{file.name}</td><td>{file.version}</td>" in text
    for package in carried_packages():
        assert f"<td>{package.name}</td><td>{package.version}</td>" in text
    assert text.count("SIL OPEN FONT LICENSE Version 1.1") == 4
    assert text.count("<details>") == len({(file.text, file.copyright) for file in FILES})


@pytest.mark.book
def test_every_page_leads_to_the_notices():
    for page in SITE.rglob("*.html"):
        if "_static" not in page.parts:
            foot = page.read_text(encoding="utf-8").rpartition("extra_footer")[2]
            assert re.search(r'href="[^"]*(?:notices\.html|#)">Notices</a>', foot), page
    assert soup("notices").select("article details pre")


@pytest.mark.book
def test_every_file_of_others_on_the_site_is_of_a_carried_package():
    own = {path.name for path in (ROOT / "book" / "_static").rglob("*")}
    scripts = {path.name for path in (SITE / "_static").rglob("*.js")} - own
    theirs = {"clipboard.min.js", "copybutton.js", "copybutton_funcs.js", "design-tabs.js",
              "doctools.js", "documentation_options.js", "language_data.js",
              "pydata-sphinx-theme.js", "searchtools.js", "sphinx-book-theme.js",
              "sphinx_highlight.js", "togglebutton.js", "minisearch.js"}  # fmt: skip
    made = {"arithmetic.js", "boxes.js", "lessons.js", "reading.js", "search-index.js"}
    assert {name for name in scripts - made if not name.startswith("explorer")} == theirs


def test_the_bill_of_materials_has_the_lock_and_the_files(tmp_path):
    command = [sys.executable, "scripts/bill_of_materials.py"]
    written = []
    for name in ("one", "two"):
        file = tmp_path / name / "bill.json"
        subprocess.run([*command, str(file)], cwd=ROOT, check=True)
        written.append(file.read_bytes())
    assert written[0] == written[1]
    bill = json.loads(written[0])
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    named = {(part["name"], part["version"]) for part in bill["components"]}
    assert named == {(package.name, package.version) for package in pinned()} | {
        (file.path, file.version) for file in FILES
    }
    assert all(part["hashes"] for part in bill["components"])


def test_each_direct_dependency_is_justified_in_one_line():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    names = {re.match(r"[\w-]+", line)[0] for group in groups for line in group}
    section = CONTRIBUTING.partition("## Dependencies")[2]
    rows = re.findall(r"^\| `([\w-]+)` \| (.+) \|$", section, re.MULTILINE)
    assert [name for name, _ in rows] == sorted({name for name, _ in rows})
    assert {name for name, _ in rows} == names
    assert all(len(why) > 12 for _, why in rows)
