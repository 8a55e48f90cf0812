"""Vendored files are unmodified, licensed, and listed with their versions."""

import hashlib
import json
import re
import subprocess
from html import unescape

import pytest
from book_site import ROOT, SITE, soup
from fontTools.ttLib import TTFont

from byhand.site.notices import third_party

FILES, PACKAGES = third_party()
LICENCES = {
    "MIT": "Permission is hereby granted, free of charge",
    "Apache-2.0": "Apache License",
    "OFL-1.1": "SIL OPEN FONT LICENSE",
    "MPL-2.0": "Mozilla Public License",
}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file["name"])
def test_a_vendored_file_is_unmodified_and_has_its_licence_and_version(file):
    assert all(file[field] for field in ("name", "version", "use", "from", "copyright"))
    text = (ROOT / file["text"]).read_text(encoding="utf-8")
    assert LICENCES[file["licence"]].lower() in text.lower()
    if "npm" in file:  # the lock has its hash
        lock = json.loads((ROOT / "deno.lock").read_text(encoding="utf-8"))
        assert f"{file['npm']}@{file['version']}" in lock["npm"]
        return
    data = (ROOT / file["path"]).read_bytes()
    assert hashlib.sha256(data).hexdigest() == file["sha256"]
    if file["path"].endswith(".woff2"):
        named = TTFont(ROOT / file["path"])["name"].getDebugName(5)
        assert named.split()[1].split(";")[0] == file["version"]
    if file["name"] == "Temml":
        assert f'version:"{file["version"]}"'.encode() in data


def test_the_licence_of_the_project_lists_each_other_licence():
    listed = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert sorted(re.findall(r"`([^`]+/(?:LICENSE|OFL)[^`]*)`", listed)) == sorted(
        {"book/LICENSE"} | {file["text"] for file in FILES}
    )


def test_the_renamed_font_keeps_its_notice_and_not_its_reserved_name():
    names = TTFont(ROOT / "book/_static/fonts/interface.woff2")["name"]
    assert "Reserved Font Name ‘Source’" in names.getDebugName(0)
    assert names.getDebugName(0) in (ROOT / "book/_static/fonts/OFL-source-sans-3.txt").read_text(
        encoding="utf-8"
    )
    assert not [n for n in names.names if n.nameID not in (0, 7) and "source" in str(n).lower()]


def test_nothing_is_vendored_that_the_list_lacks():
    listed = {file["path"] for file in FILES if "path" in file}
    tracked = subprocess.run(
        ["git", "ls-files", "book", "mha", "scripts", "tests"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split("\n")  # fmt: skip
    others = (".woff2", ".woff", ".ttf", ".otf", ".min.js")
    beside = {path.rpartition("/")[0] for path in listed}
    found = {path for path in tracked if path.endswith(others)} | {
        path
        for path in tracked
        if path.rpartition("/")[0] in beside and path.endswith((".js", ".css", ".npz", ".json"))
    }
    assert found == listed


@pytest.mark.book
def test_the_notices_name_everything_with_its_licence():
    text = unescape((SITE / "notices.html").read_text(encoding="utf-8"))
    for file in FILES:
        assert f"<td>{file['name']}</td><td>{file['version']}</td>" in text
    for package in PACKAGES:
        assert f"<td>{package['name']}</td><td>{package['version']}</td>" in text
    assert text.count("SIL OPEN FONT LICENSE Version 1.1") == 4
    folds = soup("notices").select("article details")
    assert len(folds) == len({(file["text"], file["copyright"]) for file in FILES})
    assert soup("notices").select("article details pre")
