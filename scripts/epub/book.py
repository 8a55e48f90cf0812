"""The command that makes the EPUB: chapters, answers, cover and contents."""

import argparse
import uuid
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

from command_lines import HTML
from environment import fail, step
from lxml import etree
from printing import write_file
from templates import templates

from byhand.contents import Contents, read_contents
from byhand.document import Document
from byhand.edition import edition
from byhand.press import markup
from byhand.press.archives import pack
from byhand.press.pdf import compiler
from epub.chapters import Chapter, chapters_of, text_of

HERE = Path(__file__).parent
TEMPLATES = templates(HERE / "templates")
FONTS = (
    "fonts/stix-two-text.woff2",
    "fonts/stix-two-text-italic.woff2",
    "fonts/interface.woff2",
    "fonts/jetbrains-mono.woff2",
    "math/STIXTwoMath-book.woff2",
)
AUTHORS = "The Attention by Hand authors"


def prepare(arguments: argparse.Namespace) -> Callable[[], None]:
    """Return the function that makes the EPUB."""
    return lambda: make(arguments.to)


def make(folder: Path) -> None:
    """Make the EPUB from the built pages, and publish it when it is complete."""
    target = folder / f"{Document().name}.epub"
    with step(f"Making {target.name}"):
        made = archive(Document())
    print(f"The EPUB is {write_file(target, made)}")


def archive(book: Document) -> bytes:
    """Return the book as an EPUB; the same pages give the same bytes."""
    contents = read_contents()
    found = [chapter for page in contents.pages for chapter in chapters_of(page, HTML)]
    chapters = sorted(found, key=lambda chapter: chapter.is_answers)
    resolve(chapters)
    picture = f'<img src="cover.png" alt="{escape(book.title)}. {escape(book.subtitle)}"/>'
    texts = {
        "cover.xhtml": (book.title, picture),
        "contents.xhtml": ("Contents", navigation(contents, chapters)),
        **{chapter.file: (chapter.title, chapter.text) for chapter in chapters},
    }
    files = {
        name: render("page.xhtml", name=name, title=title, body=body).encode()
        for name, (title, body) in texts.items()
    }
    files["cover.png"] = cover(book, chapters[0])
    files["style.css"] = (HERE / "style.css").read_bytes()
    for font in FONTS:
        files[f"fonts/{Path(font).name}"] = (HTML / "_static" / font).read_bytes()
    files["package.opf"] = package(book, files).encode()
    known = {
        "mimetype": b"application/epub+zip",
        "META-INF/container.xml": render("container.xml").encode(),
    }
    held = {f"book/{name}": data for name, data in files.items()}
    return pack(known | held, as_is=["mimetype"])


def resolve(chapters: list[Chapter]) -> None:
    """Turn links between pages into links between files; end if a target is missing."""
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
                    f"book/{chapter.page}.md: “{text_of(link)}” leads to {identifier} of"
                    f" book/{page}.md, which the EPUB does not hold"
                )
            link.set("href", places[page, identifier] + (mark + identifier) * bool(identifier))


def cover(book: Document, first: Chapter) -> bytes:
    """Return the cover as an SVG with the title and the book's first figure."""
    figure = next(first.body.iter("{*}svg"), None)
    drawn = (
        "" if figure is None else f"#{markup.drawing(etree.tostring(figure, encoding='unicode'))}"
    )
    source = markup.document(
        "style",
        f"#set par(justify: false)\n#v(40pt)#text(48pt)[{markup.text(book.title)}]\n",
        f"#text(18pt)[_{markup.text(book.subtitle)}_]#v(1fr){drawn}#v(1fr)\n",
        f"#text(14pt)[{markup.text(AUTHORS)}]",
        width="400pt",
        height="600pt",
        margin="40pt",
    )
    picture = compiler(source).compile(format="png", ppi=216.0)
    assert isinstance(picture, bytes)
    return picture


def navigation(contents: Contents, chapters: list[Chapter]) -> str:
    """Return the table of contents: parts, chapters, sections and answers."""
    texts = {chapter.page: chapter for chapter in chapters if not chapter.is_answers}
    parts = [
        (part.caption, [texts[p] for page in part.pages for p in (page, *part.below.get(page, ()))])
        for part in contents.parts
    ]
    parts.append(("Answers", [chapter for chapter in chapters if chapter.is_answers]))
    return render("contents.xhtml", first=texts[contents.root], parts=parts, edition=edition())


def package(book: Document, files: dict[str, bytes]) -> str:
    """Return the package document, with metadata and the list of all files."""
    return render(
        "package.opf",
        book=book,
        identifier=uuid.uuid5(uuid.NAMESPACE_URL, book.name),
        authors=AUTHORS,
        edition=edition(),
        modified=f"{edition().begins:%Y-%m-%dT%H:%M:%SZ}",
        files=files,
        properties=_properties,
    )


def render(template: str, **given: Any) -> str:
    """Return a rendered template."""
    return TEMPLATES.get_template(template).render(given)


def _properties(name: str, data: bytes) -> str:
    """Return the properties that a file needs in the package document."""
    found = [kind for kind, mark in (("mathml", b"<math"), ("svg", b"<svg")) if mark in data]
    found += ["nav"] * (name == "contents.xhtml") + ["cover-image"] * (name == "cover.png")
    return " ".join(found)
