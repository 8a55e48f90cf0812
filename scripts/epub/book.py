"""The command that makes the EPUB: chapters with their answers at the end, cover and contents."""

import argparse
import uuid
import zipfile
from collections.abc import Iterable
from datetime import UTC, datetime
from html import escape
from pathlib import Path

import typesetting
import typst
from environment import BUILD, fail, step
from html_book import HTML
from lxml import etree
from sphinx_runs import STATE

from byhand.contents import Contents, read_contents
from byhand.document import Document
from byhand.press import markup
from byhand.press.pdf import TEMPLATES, date, fonts
from epub.chapters import Chapter, chapters_of, said

FOLDER = BUILD / "epub"
STYLE = Path(__file__).with_name("style.css")
FONTS = (
    "fonts/stix-two-text.woff2",
    "fonts/stix-two-text-italic.woff2",
    "fonts/source-sans-3.woff2",
    "fonts/jetbrains-mono.woff2",
    "math/STIXTwoMath-book.woff2",
)
AUTHORS = "The Attention by Hand authors"
TYPES = {
    "xhtml": "application/xhtml+xml",
    "css": "text/css",
    "woff2": "font/woff2",
    "png": "image/png",
}
XHTML = (
    '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html>\n'
    '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"'
    ' lang="en" xml:lang="en"><head><title>{title}</title>'
    '<link rel="stylesheet" href="style.css"/></head><body{kind}>{body}</body></html>\n'
)
CONTAINER = (
    '<?xml version="1.0"?>\n<container version="1.0"'
    ' xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile'
    ' full-path="book/package.opf" media-type="application/oebps-package+xml"/></rootfiles>'
    "</container>\n"
)
PACKAGE = """<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" xml:lang="en">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="id">urn:uuid:{identifier}</dc:identifier>
<dc:title>{title}</dc:title>
<dc:creator>{authors}</dc:creator>
<dc:language>en</dc:language>
<dc:description>{description}</dc:description>
<dc:rights>Text and figures: CC BY 4.0. Code: MIT. Fonts: SIL Open Font License 1.1.</dc:rights>
<meta property="dcterms:modified">{modified}</meta>
<meta property="schema:accessMode">textual</meta>
<meta property="schema:accessMode">visual</meta>
<meta property="schema:accessModeSufficient">textual</meta>
<meta property="schema:accessibilityFeature">alternativeText</meta>
<meta property="schema:accessibilityFeature">MathML</meta>
<meta property="schema:accessibilityFeature">readingOrder</meta>
<meta property="schema:accessibilityFeature">structuralNavigation</meta>
<meta property="schema:accessibilityFeature">tableOfContents</meta>
<meta property="schema:accessibilityHazard">none</meta>
<meta property="schema:accessibilitySummary">Every figure has its words, every formula is MathML
with its words, and every table has header cells. Nothing needs a script.</meta>
</metadata>
<manifest>
{items}
</manifest>
<spine>
{spine}
</spine>
</package>
"""


def add_command(
    what: "argparse._SubParsersAction[argparse.ArgumentParser]", common: argparse.ArgumentParser
) -> None:
    """Add the command `epub`."""
    command = what.add_parser(
        "epub",
        parents=[common],
        help="the whole book as an EPUB, for readers of electronic books",
        description="Make an EPUB 3 of the whole book: formulas as MathML, figures, tables,"
        " questions and exercises with their answers at the end, no script. The pages are built"
        " first; nothing is computed twice.",
    )
    command.add_argument(
        "--to", type=Path, default=FOLDER, metavar="FOLDER", help="default: _build/epub"
    )


def make(arguments: argparse.Namespace) -> None:
    """Make the EPUB from the built pages, and publish it when it is whole."""
    book = Document()
    made = typesetting.PRINT / f"{book.name}.epub"
    made.parent.mkdir(parents=True, exist_ok=True)
    with step(f"Making {made.name}"):
        write(made, book)
    print(f"The EPUB is {typesetting.publish(made, arguments.to)}")


def write(file: Path, book: Document) -> None:
    """Write the book into one file; the same pages give the same bytes."""
    contents = read_contents()
    found = [
        chapter
        for page in contents.pages
        for chapter in chapters_of(page, HTML, STATE / "_build" / ".doctrees")
    ]
    chapters = sorted(found, key=lambda chapter: chapter.is_answers)
    resolve(chapters)
    picture = f'<img src="cover.png" alt="{escape(book.title)}. {escape(book.subtitle)}"/>'
    texts = {
        "cover.xhtml": xhtml(book.title, picture, "cover"),
        "contents.xhtml": navigation(contents, chapters),
    }
    texts |= {chapter.file: xhtml(chapter.title, chapter.text) for chapter in chapters}
    files = {name: text.encode() for name, text in texts.items()}
    files["cover.png"] = cover(book, chapters[0])
    files["style.css"] = STYLE.read_bytes()
    for font in FONTS:
        files[f"fonts/{Path(font).name}"] = (HTML / "_static" / font).read_bytes()
    files["package.opf"] = package(book, files).encode()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        _add(archive, "mimetype", b"application/epub+zip", zipfile.ZIP_STORED)
        _add(archive, "META-INF/container.xml", CONTAINER.encode())
        for name, data in files.items():
            _add(archive, f"book/{name}", data)


def _add(archive: zipfile.ZipFile, name: str, data: bytes, how: int = zipfile.ZIP_DEFLATED) -> None:
    """Add a file that bears no date."""
    archive.writestr(zipfile.ZipInfo(name), data, how)


def resolve(chapters: list[Chapter]) -> None:
    """Turn the links between pages into links between files, or end by naming one that is lost."""
    places = {(chapter.page, ""): chapter.file for chapter in reversed(chapters)}
    for chapter in chapters:
        for element in chapter.body.iter():
            if element.get("id"):
                places[chapter.page, element.get("id")] = chapter.file
    for chapter in chapters:
        for link in chapter.body.iter("a"):
            page, mark, identifier = link.get("href", "").partition("#")
            if not mark or ":" in page:
                continue
            if (page, identifier) not in places:
                fail(
                    f"book/{chapter.page}.md: “{said(link)}” leads to {identifier} of"
                    f" book/{page}.md, which the EPUB does not hold"
                )
            link.set("href", places[page, identifier] + (mark + identifier) * bool(identifier))


def cover(book: Document, first: Chapter) -> bytes:
    """Return the cover as a picture: title, and the first figure of the book."""
    figure = next(first.body.iter("{*}svg"), None)
    drawn = (
        "" if figure is None else f"#{markup.drawing(etree.tostring(figure, encoding='unicode'))}"
    )
    source = (
        '#import "/style.typ": *\n#show: sheet.with(width: 400pt, height: 600pt, margin: 40pt)\n'
        f"#set par(justify: false)\n#v(40pt)#text(48pt)[{markup.text(book.title)}]\n\n"
        f"#text(18pt)[_{markup.text(book.subtitle)}_]#v(1fr){drawn}#v(1fr)\n\n"
        f"#text(14pt)[{markup.text(AUTHORS)}]"
    )
    return typst.compile(  # type: ignore[call-overload]
        source.encode(),
        root=str(TEMPLATES),
        font_paths=fonts(source),
        format="png",
        ppi=216.0,
    )


def xhtml(title: str, body: str, kind: str = "") -> str:
    """Return a document of the EPUB."""
    return XHTML.format(title=escape(title), body=body, kind=f' epub:type="{kind}"' * bool(kind))


def navigation(contents: Contents, chapters: list[Chapter]) -> str:
    """Return the contents: parts, chapters and their sections, and the answers."""
    texts = {chapter.page: chapter for chapter in chapters if not chapter.is_answers}
    parts = [_entry(texts[contents.root])]
    for part in contents.parts:
        pages = [p for page in part.pages for p in (page, *part.below.get(page, ()))]
        parts.append(_part(part.caption, map(texts.__getitem__, pages)))
    parts.append(_part("Answers", (chapter for chapter in chapters if chapter.is_answers)))
    body = f'<nav epub:type="toc" id="toc"><h1>Contents</h1><ol>{"".join(parts)}</ol></nav>'
    return xhtml("Contents", body)


def _part(title: str, chapters: Iterable[Chapter]) -> str:
    return f"<li><span>{escape(title)}</span><ol>{''.join(map(_entry, chapters))}</ol></li>"


def _entry(chapter: Chapter) -> str:
    """Return a chapter's line, with its sections below it."""
    sections = "".join(
        f'<li><a href="{chapter.file}#{name}">{escape(title)}</a></li>'
        for name, title in chapter.sections
    )
    below = f"<ol>{sections}</ol>" * bool(sections)
    return f'<li><a href="{chapter.file}">{escape(chapter.title)}</a>{below}</li>'


def package(book: Document, files: dict[str, bytes]) -> str:
    """Return the list of all files, with what is said of the book."""
    items = "\n".join(
        f'<item id="i{i}" href="{name}" media-type="{TYPES[name.rpartition(".")[2]]}"'
        f"{_properties(name, data)}/>"
        for i, (name, data) in enumerate(files.items())
    )
    spine = "\n".join(
        f'<itemref idref="i{i}"/>' for i, name in enumerate(files) if name.endswith(".xhtml")
    )
    modified = datetime.fromtimestamp(int(date()), UTC)
    return PACKAGE.format(
        identifier=uuid.uuid5(uuid.NAMESPACE_URL, book.name),
        title=escape(book.title),
        authors=AUTHORS,
        description=escape(book.subtitle),
        modified=f"{modified:%Y-%m-%dT%H:%M:%SZ}",
        items=items,
        spine=spine,
    )


def _properties(name: str, data: bytes) -> str:
    """Return what a program that opens a file has to be able to show."""
    found = [kind for kind, mark in (("mathml", b"<math"), ("svg", b"<svg")) if mark in data]
    found += ["nav"] * (name == "contents.xhtml") + ["cover-image"] * (name == "cover.png")
    return f' properties="{" ".join(found)}"' * bool(found)
