"""The Common Cartridge has every file that its manifest names, and the questions of the bank.

The schemas in tests/cartridge are ours: they allow what the profile allows of the elements that the
templates use.
"""

import re
import zipfile
from decimal import Decimal
from io import BytesIO
from xml.etree import ElementTree

import lxml.etree
import pytest
from book_site import ROOT, SITE
from command_lines import make_parser
from pack_files import CARTRIDGE
from packs import cartridge, pages, questions
from packs import command as packs

pytestmark = pytest.mark.book

SCHEMAS = ROOT / "tests" / "cartridge"
ADDRESS = "https://example.org/book/"
LOM = "{http://ltsc.ieee.org/xsd/imsccVERSION/LOM/resource}"
QTI = "{http://www.imsglobal.org/xsd/ims_qtiasiv1p2}"
KINDS = {
    "cc.multiple_choice.v0p1": "choice",
    "cc.multiple_response.v0p1": "choice",
    "cc.fib.v0p1": "number",
    "cc.essay.v0p1": "essay",
}


@pytest.fixture(scope="module")
def book():
    return pages.read(SITE)


@pytest.fixture(scope="module")
def bank(book):
    return questions.bank(book, seed=3, variants=2)


@pytest.fixture(scope="module")
def decks(book):
    """Return a file for each name of a chapter's deck."""
    names = [page.name.rpartition("/")[2] for page in book if "mechanism" in page.name]
    ends = (".pdf", "-notes.pdf", ".pptx")
    return {f"{name}{end}": name.encode() for name in names for end in ends}


def opened(made):
    """Return the files of the only cartridge by name."""
    ((name, data),) = made.items()
    assert name in (CARTRIDGE, CARTRIDGE.replace(".imscc", "-1.1.imscc"))
    with zipfile.ZipFile(BytesIO(data)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module", params=["1.1", "1.3"])
def version(request):
    return request.param


@pytest.fixture(scope="module")
def made(version, bank, book, decks):
    return opened(cartridge.files(book, bank, decks, b"%PDF", version, ADDRESS))


@pytest.fixture(scope="module")
def contained(version, bank):
    """Return the questions that the cartridge has: that for Moodle omits right answers of 0."""
    zeros = [q.name for q in bank if q.kind == "number" and float(q.key) == 0]
    assert zeros
    return [q for q in bank if version == "1.3" or q.name not in zeros]


def resources(made):
    """Return the resources of the manifest by identifier, without namespaces in their tags."""
    root = ElementTree.fromstring(made["imsmanifest.xml"])
    return {each.get("identifier"): each for each in root.iter() if each.tag.endswith("}resource")}


def schema(name, version):
    text = (SCHEMAS / f"{name}.rng").read_text(encoding="utf-8")
    text = text.replace("VERSION", cartridge.VERSIONS[version])
    return lxml.etree.RelaxNG(lxml.etree.fromstring(text.encode()))


def test_the_manifest_names_every_file_and_no_other(made):
    named = [
        file.get("href")
        for resource in resources(made).values()
        for file in resource
        if file.tag.endswith("}file")
    ]
    assert len(named) == len({*named})
    assert {*named} == made.keys() - {"imsmanifest.xml"}


def test_identifiers_are_unique_and_each_reference_has_its_resource(made):
    root = ElementTree.fromstring(made["imsmanifest.xml"])
    ids = [each.get("identifier") for each in root.iter() if each.get("identifier")]
    assert len(ids) == len({*ids})
    found = resources(made)
    references = {each.get("identifierref") for each in root.iter()} - {None}
    assert references <= found.keys()
    # The question bank is no part of the contents, and neither are pictures.
    left = {name for name in found if name not in references}
    assert left == {"question-bank"}
    items = [i.get("ident") for i in all_items(made)]
    assert len(items) == len({*items})


def test_each_file_of_xml_agrees_with_its_schema(made, version):
    manifest = schema("manifest", version)
    manifest.assertValid(lxml.etree.fromstring(made["imsmanifest.xml"]))
    assert f"<schemaversion>{version}.0</schemaversion>" in made["imsmanifest.xml"].decode()
    asked = schema("questions", version)
    for name, data in made.items():
        if name.startswith("qu") and name.endswith(".xml"):
            asked.assertValid(lxml.etree.fromstring(data))


def all_items(made):
    """Return each question's element, in the order of the files."""
    return [
        item
        for name, data in made.items()
        if name.startswith("qu") and name.endswith(".xml")
        for item in ElementTree.fromstring(data).iter(f"{QTI}item")
    ]


def html_of(element, path):
    """Return the HTML of a part of a question, with pictures as the bank names them."""
    text = element.findtext(f"{path}/{QTI}material/{QTI}mattext")
    return text.replace("$IMS-CC-FILEBASE$/images/", "")


def test_each_question_of_the_bank_is_asked_once_and_judged_as_in_the_bank(made, contained):
    items = {item.get("ident"): item for item in all_items(made)}
    assert items.keys() == {question.name for question in contained}
    for question in contained:
        item = items[question.name]
        assert item.get("title") == question.title
        fields = {
            each.findtext(f"{QTI}fieldlabel"): each.findtext(f"{QTI}fieldentry")
            for each in item.iter(f"{QTI}qtimetadatafield")
        }
        assert KINDS[fields["cc_profile"]] == question.kind
        assert fields["cc_question_category"] == question.chapter
        assert 0 < int(fields["cc_weighting"]) == question.mark < 100
        assert fields["qmd_computerscored"] == ("No" if question.kind == "essay" else "Yes")
        assert html_of(item, f"{QTI}presentation") == question.text
        replies = {
            each.get("ident"): html_of(each, f"{QTI}flow_mat")
            for each in item.iterfind(f"{QTI}itemfeedback")
        }
        assert replies.pop("general_fb", "") == question.feedback
        given = {
            label.get("ident"): html_of(label, ".") for label in item.iter(f"{QTI}response_label")
        }
        assert given == {option.letter: option.text for option in question.options}
        assert replies == {f"{option.letter}_fb": option.feedback for option in question.options}
        assert {*map(judge(item), cases(question))} <= {True}, question.name


def cases(question):
    """Yield answers, each with whether it is right."""
    if question.kind == "choice" and not question.is_multiple:
        yield from (({option.letter}, option.is_right) for option in question.options)
    if question.is_multiple:
        right = {option.letter for option in question.options if option.is_right}
        yield right, True
        for option in question.options:
            yield right ^ {option.letter}, False
    if question.kind == "number":
        step = 10.0**-question.places
        for text in (question.key, str(float(question.key)), f"{float(question.key):g}"):
            yield {text}, True
            yield {text.replace("-", "−").replace(".", ",")}, True
        yield {f"{float(question.key):.2f}"}, question.places <= 2
        for other in (question.answer + 2 * step, question.answer - 2 * step, -question.answer):
            text = f"{other:.{question.places}f}"
            if float(text) != float(question.key):
                yield {text}, False


def test_every_accepted_text_is_the_right_number(made, contained):
    keys = {q.name: Decimal(q.key) for q in contained if q.kind == "number"}
    items = [item for item in all_items(made) if item.get("ident") in keys]
    assert len(items) == len(keys) >= 100
    for item in items:
        texts = [each.text for each in item.iter(f"{QTI}varequal")]
        assert len(texts) == len({*texts})
        numbers = {Decimal(text.replace("−", "-").replace(",", ".")) for text in texts}
        assert numbers == {keys[item.get("ident")]}
    assert any(
        {"1.5", "1.50", "1,5", "1,50"} <= {each.text for each in item.iter(f"{QTI}varequal")}
        for item in items
    )


def judge(item):
    """Return a function that tells whether an item gives an answer the right mark."""

    def holds(condition, answer):
        parts = []
        for part in condition:
            tag = part.tag.removeprefix(QTI)
            if tag == "varequal":
                parts.append(part.text in answer)
            elif tag == "and":
                return all(holds([each], answer) for each in part)
            elif tag == "not":
                parts.append(not holds(part, answer))
            else:
                parts.append(True)
        return any(parts)

    def is_judged(case):
        answer, is_right = case
        score = 0
        for rule in item.iter(f"{QTI}respcondition"):
            if holds(rule.find(f"{QTI}conditionvar"), answer):
                score = int(rule.findtext(f"{QTI}setvar") or score)
                if rule.get("continue") == "No":
                    break
        return (score == 100) == is_right

    return is_judged


def test_each_condition_of_an_option_and_each_reply_have_their_counterpart(made):
    for item in all_items(made):
        shown = {each.get("linkrefid") for each in item.iter(f"{QTI}displayfeedback")}
        assert shown == {each.get("ident") for each in item.iter(f"{QTI}itemfeedback")}
        labels = {each.get("ident") for each in item.iter(f"{QTI}response_label")}
        equal = {each.text for each in item.iter(f"{QTI}varequal")}
        assert labels in (equal, set())


def test_pictures_are_files_on_which_their_questions_depend(made, contained):
    found = resources(made)
    for name, resource in found.items():
        if not name.startswith("qu"):
            continue
        needed = [each.get("identifierref") for each in resource if "identifierref" in each.attrib]
        files = {found[each].get("href") for each in needed}
        shown = re.findall(
            r"\$IMS-CC-FILEBASE\$/(images/[\w-]+\.svg)", made[f"{name}.xml"].decode()
        )
        assert files == {*shown}
    pictures = {f"images/{name}": svg for q in contained for name, svg in q.files.items()}
    assert pictures
    assert {name: made[name].decode() for name in pictures} == pictures


def test_each_chapter_has_its_page_its_deck_and_its_quiz(made, contained, book, version):
    root = ElementTree.fromstring(made["imsmanifest.xml"])
    found = resources(made)
    (top,) = (each for each in root.iter() if each.get("identifier") == "top")
    contents = {
        folder[0].text: [each.get("identifierref") for each in folder[1:]] for folder in top
    }
    assert list(contents) == ["Attention by Hand", *(page.title for page in book)]
    for page in book:
        name, short = page.name.replace("/", "-"), page.name.rpartition("/")[2]
        wanted = [f"link-{name}"]
        if f"slides/{short}.pdf" in made:
            wanted += [f"file-slides-{short}{end}" for end in (".pdf", "-notes.pdf", ".pptx")]
        wanted += [f"quiz-{name}"] * any(each.page == page.name for each in contained)
        assert contents[page.title] == wanted
        link = ElementTree.fromstring(made[f"links/{name}.xml"])
        space = f"{{http://www.imsglobal.org/xsd/imscc{cartridge.VERSIONS[version]}/imswl_"
        space += f"{cartridge.VERSIONS[version]}}}"
        assert link.tag == f"{space}webLink"
        assert link.find(f"{space}url").get("href") == f"{ADDRESS}{page.name}.html"
    assert all(each.get("href") for each in found.values() if each.get("type") == "webcontent")


def test_only_files_with_notes_are_for_teachers(made, version):
    space = LOM.replace("VERSION", cartridge.VERSIONS[version])
    roles = {
        resource.findall("{*}file")[0].get("href"): resource.findtext(
            f"{{*}}metadata/{space}lom/{space}educational/{space}intendedEndUserRole/{space}value"
        )
        for resource in resources(made).values()
    }
    decks = {name for name in made if name.startswith("slides/")}
    for_teachers = {name for name in decks if name.endswith(("-notes.pdf", ".pptx"))}
    assert len(decks) > len(for_teachers) > 0
    assert {name for name, role in roles.items() if role == "Instructor"} == for_teachers
    assert {*roles.values()} == {"Instructor", None}


def test_no_marking_scheme_of_an_essay_is_in_the_cartridge(made, bank):
    solutions = "".join(question.feedback for question in bank)
    says = {text for question in bank for _, text in question.marks if text not in solutions}
    files = "".join(data.decode(errors="ignore") for data in made.values())
    assert len(says) > 100
    assert not [text for text in says if text in files]


def test_the_command_writes_the_address_that_it_is_given(book, monkeypatch, tmp_path):
    few = [page for page in book if page.name in ("examples/cat-sat", "mechanism/scaling")]
    monkeypatch.setattr(pages, "read", lambda folder: few)
    monkeypatch.setattr(packs, "_decks", lambda names: {})
    monkeypatch.setattr(packs, "typeset", lambda documents: {"reader": b"%PDF"})
    words = "packs --only cartridge,questions --variants 0"
    parser = make_parser("building")
    packs.make(parser.parse_args([*words.split(), "--site", ADDRESS, "--to", str(tmp_path)]))
    files = opened({CARTRIDGE: (tmp_path / "cartridge" / CARTRIDGE).read_bytes()})
    links = [files[name].decode() for name in files if name.startswith("links/")]
    assert len(links) == 2
    assert f'<url href="{ADDRESS}mechanism/scaling.html"' in "".join(links)
    moodle = (tmp_path / "questions" / "questions-moodle.xml").read_text(encoding="utf-8")
    for text in (files["quiz-mechanism-scaling.xml"].decode(), moodle):
        assert f"{ADDRESS}mechanism/scaling.html#" in text


def test_a_cartridge_of_a_chapter_without_deck_is_made_and_one_of_no_chapter_is_refused(
    book, monkeypatch, tmp_path
):
    few = [page for page in book if page.name in ("examples/cat-sat", "mechanism/scaling")]
    monkeypatch.setattr(pages, "read", lambda folder: few)
    monkeypatch.setattr(packs, "typeset", lambda documents: {"reader": b"%PDF"})
    parser = make_parser("building")
    words = f"packs --only cartridge --variants 0 --to {tmp_path} --chapters".split()
    packs.make(parser.parse_args([*words, "cat-sat"]))
    files = opened({CARTRIDGE: (tmp_path / "cartridge" / CARTRIDGE).read_bytes()})
    names = {name for name in files if not name.startswith("images/")}
    assert names == {"imsmanifest.xml", "reader.pdf", "quiz-examples-cat-sat.xml"}
    with pytest.raises(SystemExit, match=r"has 'cat', which is no chapter; there are .*cat-sat"):
        packs.make(parser.parse_args([*words, "scaling,cat"]))


def test_without_an_address_there_is_no_link_and_the_command_says_what_is_lost(bank, book, capsys):
    files = opened(cartridge.files(book, bank, {}, b"%PDF", "1.3", ""))
    assert not [name for name in files if name.startswith("links/")]
    said = capsys.readouterr().out
    assert said.count("note: ") == 5
    assert f"only their marks ({sum(bool(each.marks) for each in bank)})" in said
    count = sum(question.kind == "number" for question in bank)
    assert f"no margin ({count} questions)" in said
    assert "neither --site nor html: baseurl: in _config.yml has the book's address" in said
    cartridge.files(book, bank, {}, b"%PDF", "1.1", "")
    zeros = sum(q.kind == "number" and float(q.key) == 0 for q in bank)
    assert f"drops this answer ({zeros})" in capsys.readouterr().out
