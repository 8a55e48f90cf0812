"""A Common Cartridge: pages as links, decks, a reader and the questions, for a learning system.

The format is that of IMS Common Cartridge 1.3, or 1.1 for Moodle, which reads no later version. A
chapter is a folder of the contents with its page, its deck and a quiz; its questions are in QTI
1.2, as the cartridge's profile limits it. The questions with fresh numbers are the question bank.
Names of replies are those that Canvas's reader knows.

Files for teachers have the role "Instructor" in their metadata. Canvas's reader locks these files,
and Moodle's hides them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import groupby

from byhand.document import BOOK
from byhand.press.archives import pack
from packs.pages import Page, Question
from packs.questions import TEMPLATES

VERSIONS = {"1.1": "v1p1", "1.3": "v1p3"}
"""The versions of the format, and their names in namespaces."""

DECIMALS = 2
"""Decimals that a right answer may have, if the question asks for fewer: 3.00 for 3."""

READER = "reader.pdf"
PROFILES = {"essay": "essay", "number": "fib", "choice": "multiple_choice"}
"""The profile's name of each kind of question; several right options have a name of their own."""

TEMPLATES.globals["profile"] = lambda question: (
    "multiple_response" if question.is_multiple else PROFILES[question.kind]
)


@dataclass(frozen=True)
class Resource:
    """A resource of the cartridge: its id, type, title and file, what it needs, and for whom."""

    identifier: str
    type: str
    title: str
    file: str
    data: bytes
    needs: tuple[str, ...] = ()
    is_for_teachers: bool = False


@dataclass(frozen=True)
class Folder:
    """A folder of the contents."""

    title: str
    resources: list[Resource] = field(default_factory=list)


def spellings(question: Question) -> list[str]:
    """Return the texts that are accepted as the right number.

    The profile has no numeric comparison, so each spelling of the number is listed: with and
    without zeros at its end and before its point, with a comma, and with a minus sign.

    Examples
    --------
    >>> spellings(Question("a", "A", "", answer=1.5, places=2))
    ['1.5', '1.50', '1,5', '1,50']
    >>> spellings(Question("a", "A", "", answer=-0.25, places=2))
    ['-0.25', '-.25', '-0,25', '-,25', '−0.25', '−.25', '−0,25', '−,25']
    >>> spellings(Question("a", "A", "", answer=3.0))
    ['3', '3.0', '3.00', '3,0', '3,00']
    """
    number = Decimal(question.key)
    fewest = len(question.key.partition(".")[2].rstrip("0"))
    most = max(question.places, DECIMALS)
    texts = [f"{number:.{places}f}" for places in range(fewest, most + 1)]
    texts += [text.replace("0.", ".", 1) for text in texts if re.match(r"-?0\.", text)]
    texts += [text.replace(".", ",") for text in texts if "." in text]
    return texts + [text.replace("-", "−") for text in texts if "-" in text]


TEMPLATES.filters["spellings"] = spellings


def files(
    pages: Sequence[Page],
    bank: Sequence[Question],
    decks: Mapping[str, bytes],
    reader: bytes,
    version: str,
    address: str,
) -> dict[str, bytes]:
    """Return the cartridge by file name, and print what it loses.

    Parameters
    ----------
    pages : sequence of Page
        The chapters.
    bank : sequence of Question
        Questions of these chapters, and questions with fresh numbers, which belong to no page.
    decks : mapping
        Slides by file name, each beginning with the last part of a page's name.
    reader : bytes
        The chapters as PDF.
    version : str
        A key of `VERSIONS`.
    address : str
        Where the book is published, or an empty string; then the cartridge has no links.
    """
    if version == "1.1":
        bank = _kept_by_moodle(bank)
    folders = [Folder(BOOK, [_file(READER, "The chapters as PDF", reader)])]
    folders += _folders(pages, bank, decks, address, version)
    fresh = [question for question in bank if not question.page]
    pictures = list(_pictures(bank))
    resources = [each for folder in folders for each in folder.resources]
    if fresh:
        title = "Questions with fresh numbers"
        resources.append(_questions("question-bank", title, fresh, version, is_bank=True))
    resources += pictures
    manifest = _render(
        "cartridge-manifest.xml",
        version=VERSIONS[version],
        schema=f"{version}.0",
        folders=folders,
        resources=resources,
    )
    made = {"imsmanifest.xml": manifest} | {each.file: each.data for each in resources}
    assert len(made) == len(resources) + 1, "two resources have one file"
    for loss in losses(bank, has_links=bool(address)):
        print(f"note: {loss}")
    suffix = "" if version == "1.3" else f"-{version}"
    return {f"attention-by-hand{suffix}.imscc": pack(made)}


def _kept_by_moodle(bank: Sequence[Question]) -> list[Question]:
    """Return the questions whose right answer is not 0, and print how many others there are.

    Moodle's reader of version 1.1 drops the text "0" from the right answers, because PHP takes it
    for an empty text.
    """
    kept = [each for each in bank if each.kind != "number" or Decimal(each.key)]
    if omitted := len(bank) - len(kept):
        print(
            f"note: questions whose right answer is 0 are omitted: Moodle's reader of cartridges"
            f" drops this answer ({omitted})"
        )
    return kept


def losses(bank: Iterable[Question], *, has_links: bool) -> Iterator[str]:
    """Yield a sentence for each part of the pages and questions that the format cannot hold."""
    asked = list(bank)
    kinds = [("multiple" if each.is_multiple else each.kind) for each in asked]
    yield (
        f"the cartridge accepts each spelling of the rounded number, such as 1.5 for 1.50, and no"
        f" margin ({kinds.count('number')} questions)"
    )
    yield f"it has no part of the mark for several right options ({kinds.count('multiple')})"
    schemes = sum(bool(each.marks) for each in asked)
    yield f"it has no marking schemes of essays, only their marks ({schemes})"
    yield "it has no tags: difficulty and minutes of a question are lost"
    if not has_links:
        yield (
            "it has no links to the pages: neither --site nor html: baseurl: in _config.yml has"
            " the book's address"
        )


def _folders(
    pages: Sequence[Page],
    bank: Sequence[Question],
    decks: Mapping[str, bytes],
    address: str,
    version: str,
) -> Iterator[Folder]:
    """Yield a folder for each chapter that has anything."""
    of_page = {
        name: list(questions)
        for name, questions in groupby(sorted(bank, key=lambda q: q.page), key=lambda q: q.page)
    }
    for page in pages:
        name = page.name.replace("/", "-")
        folder = Folder(page.title)
        if address:
            link = _render(
                "cartridge-link.xml",
                version=VERSIONS[version],
                title=page.title,
                address=f"{address}{page.name}.html",
            )
            kind = f"imswl_xml{VERSIONS[version]}"
            folder.resources.append(
                Resource(f"link-{name}", kind, page.title, f"links/{name}.xml", link)
            )
        folder.resources.extend(_slides(page, decks))
        if questions := of_page.get(page.name):
            title = f"Questions: {page.title}"
            folder.resources.append(_questions(f"quiz-{name}", title, questions, version))
        if folder.resources:
            yield folder


def _slides(page: Page, decks: Mapping[str, bytes]) -> Iterator[Resource]:
    short = page.name.rpartition("/")[2]
    titles = {
        f"{short}.pdf": "Slides",
        f"{short}-notes.pdf": "Slides with notes, for the teacher",
        f"{short}.pptx": "Slides to edit, with notes, for the teacher",
    }
    for file, title in titles.items():
        if file in decks:
            has_notes = file != f"{short}.pdf"
            yield _file(f"slides/{file}", title, decks[file], is_for_teachers=has_notes)


def _file(name: str, title: str, data: bytes, *, is_for_teachers: bool = False) -> Resource:
    identifier = "file-" + re.sub(r"[^\w.-]", "-", name)
    return Resource(identifier, "webcontent", title, name, data, is_for_teachers=is_for_teachers)


def _questions(
    identifier: str,
    title: str,
    questions: Sequence[Question],
    version: str,
    *,
    is_bank: bool = False,
) -> Resource:
    """Return questions as a quiz or as the question bank.

    The file is at the top of the cartridge, because Moodle looks for pictures from its folder.
    """
    kind = "question-bank" if is_bank else "assessment"
    data = _render(
        "cartridge-questions.xml",
        identifier=identifier,
        title=title,
        questions=questions,
        is_bank=is_bank,
    )
    needed = dict.fromkeys(picture.identifier for picture in _pictures(questions))
    type_ = f"imsqti_xmlv1p2/imscc_xml{VERSIONS[version]}/{kind}"
    return Resource(identifier, type_, title, f"{identifier}.xml", data, tuple(needed))


def _pictures(questions: Iterable[Question]) -> Iterator[Resource]:
    """Yield the pictures of questions, each once."""
    found = {name: svg for question in questions for name, svg in question.files.items()}
    for name, svg in found.items():
        yield _file(f"images/{name}", name, svg.encode())


def _render(template: str, **given: object) -> bytes:
    return TEMPLATES.get_template(template).render(given).encode()
