"""The contents of the book, as every other part reads them."""

from byhand.contents import read_contents


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
