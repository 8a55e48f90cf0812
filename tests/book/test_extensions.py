"""The book's own Sphinx package, apart from a build: see test_build.py for the whole."""

import subprocess

from book_site import ROOT

from byhand.contents import read_contents
from byhand.digests import digest_of, files_in


def test_the_contents_are_those_of_the_file(tmp_path):
    toc = tmp_path / "_toc.yml"
    toc.write_text(
        "format: jb-book\nroot: start\nparts:\n"
        "  - {caption: One, chapters: [{file: a/b}, {file: c}]}\n"
        "  - {caption: Two, chapters: [{file: d, sections: [{file: d/e}]}, {file: f}]}\n",
        encoding="utf-8",
    )
    contents = read_contents(toc)
    assert contents.pages == ("start", "a/b", "c", "d", "d/e", "f")
    assert contents.chapters == ("a/b", "c", "d", "f")
    assert [(p.number, p.caption, p.pages, p.below) for p in contents.parts] == [
        (1, "One", ("a/b", "c"), {}),
        (2, "Two", ("d", "f"), {"d": ("d/e",)}),
    ]
    toc.write_text("root: alone\n", encoding="utf-8")
    assert read_contents(toc).pages == ("alone",)


COUNTED = ["mha/a.py", "mha/examples/b.toml", "mha/audit/c.json", "mha/widgets/d.js", "_config.yml"]
IGNORED = ["README.md", "mha/__pycache__/a.pyc", "mha/.a.py.swp"]


def test_a_digest_changes_with_every_file_and_name_that_counts(tmp_path):
    for name in (*COUNTED, *IGNORED):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("one", encoding="utf-8")

    def digest(**more):
        return digest_of(("mha", "_config.yml"), root=tmp_path, **more)

    before = digest()
    for name in (*COUNTED, *IGNORED):
        (tmp_path / name).write_text("two", encoding="utf-8")
        assert (digest() != before) == (name in COUNTED), name
        (tmp_path / name).write_text("one", encoding="utf-8")
        assert digest() == before
    assert digest(salt="other") != before
    (tmp_path / COUNTED[0]).rename(tmp_path / "mha" / "renamed.py")
    assert digest() != before


def test_every_file_of_the_package_counts():
    command = ["git", "ls-files", "-co", "--exclude-standard", "mha"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    files = {ROOT / name for name in done.stdout.splitlines() if (ROOT / name).is_file()}
    assert {".py", ".toml", ".json"} <= {file.suffix for file in files}
    assert files <= set(files_in(["mha"]))
