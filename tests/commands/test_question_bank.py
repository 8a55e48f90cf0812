"""The packs of questions, cards and figures agree with the pages in every export format.

The question bank is built once, and read as GIFT, QTI, Moodle XML and Anki cards. The
requirements of Canvas are those of gems/plugins/qti_exporter in instructure/canvas-lms, as
published. The files have not been imported into Canvas itself.
"""

import html
import json
import operator
import re
import sqlite3
import tomllib
import xml.etree.ElementTree as ElementTree
import zipfile
from base64 import b64decode
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from io import BytesIO

import lxml.html
import pytest
from book_site import ROOT, SITE
from bs4 import BeautifulSoup
from onyx2moodle import classifier
from onyx2moodle.parser import parse_item
from pack_files import DECK, QUESTIONS
from packs import cards, figures, pages, questions, standalone_questions
from packs.mathematics import as_tex
from pypdf import PdfReader

from byhand.mathematics.page import to_mathml
from byhand.mathematics.scripts import Scripts

pytestmark = pytest.mark.book

SEED, VARIANTS = 3, 4
PARSER = ROOT / "tests" / "gift_pegjs" / "gift-parser.js"
CP = "{http://www.imsglobal.org/xsd/imscp_v1p1}"
ITEM = "{http://www.imsglobal.org/xsd/imsqti_v2p1}"
KINDS = {"MC": "choice", "multichoice": "choice", "Essay": "essay", "essay": "essay"}
KINDS |= {"Numerical": "number", "numerical": "number", "shortanswer": "number"}
"""Our names of question kinds, by the names in GIFT, QTI and Moodle."""


@pytest.fixture(scope="module")
def book():
    return pages.read(SITE)


@pytest.fixture(scope="module")
def bank(book):
    return questions.bank(book, seed=SEED, variants=VARIANTS)


@pytest.fixture(scope="module")
def folder(bank, tmp_path_factory):
    """Return a folder with the files of the bank, and with the unpacked archives."""
    folder = tmp_path_factory.mktemp("bank")
    made = questions.files(bank)
    assert made.keys() == QUESTIONS
    for name, data in made.items():
        path = folder / name
        path.write_bytes(data)
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                archive.extractall(folder / path.stem)
    return folder


def options_of(question, form=str):
    """Return the expected options of a question: text, feedback, and whether each is correct."""
    return [(form(o.text), form(o.feedback), o.is_right) for o in question.options]


def squeezed(html):
    """Return the text of HTML without whitespace."""
    return "".join(BeautifulSoup(html, "html.parser").get_text().split())


def test_every_quiz_box_and_exercise_of_the_pages_is_in_the_bank_or_left_out(bank, book):
    left_out = {*standalone_questions.BANK["left-out"]}
    wanted, boxed = set(), set()
    for page in book:
        document = lxml.html.document_fromstring(page.path.read_text(encoding="utf-8"))
        wanted |= {*document.xpath("//mha-quiz/@id | //mha-your-turn/@id")}
        exercises = document.find_class("exercise")
        wanted |= {exercise.get("id") for exercise in exercises}
        boxed |= {e.get("id") for e in exercises if e.find(".//mha-your-turn") is not None}
    assert {question.label for question in bank} - {""} == wanted - left_out - boxed
    assert left_out < wanted
    needs, complete = ({*standalone_questions.BANK[key]} for key in ("needs", "complete"))
    assert needs | complete < wanted - left_out
    assert needs & complete == set()
    kinds = Counter(question.kind for question in bank)
    assert kinds["number"] - VARIANTS * len(questions.drawable()) >= 100
    assert kinds["choice"] >= 50
    assert kinds["essay"] < 70
    assert len({question.name for question in bank}) == len(bank)


def test_every_question_has_what_it_names_and_is_named_for_people(bank):
    for question in bank:
        options = [text for option in question.options for text in (option.text, option.feedback)]
        assert all(options)
        texts = [question.text, *options, question.feedback]
        for text in texts:
            ElementTree.fromstring(f"<div>{text}</div>".replace("&nbsp;", " "))
        said = "".join(texts)
        assert not re.search(r"\[Figure|(?<!href=)\"#|this page|notebook of|tables above", said)
        assert {*re.findall(' src="([^"]+)"', said)} == {*question.files}
        links = re.findall('href="([^"]+)"', said)
        assert all(link.startswith("https://") for link in links), question.name
        assert question.title.startswith(f"{question.chapter}: ")
        assert "<" not in question.title
        assert not re.search(r" [.,;:?]", question.title), question.title
        assert question.tags[:2] == (question.chapter, question.kind)
        assert question.feedback.startswith("<p>From") <= bool(question.options), question.name
    assert sum(bool(question.files) for question in bank) >= 4
    assert sum("<strong>Table" in question.text for question in bank) >= 22


def test_a_table_that_holds_the_answer_too_comes_in_part(bank):
    (question,) = (q for q in bank if q.name == "ex-apple-query-of-to")
    assert "Keys, Head 3" in question.text
    assert "Queries" not in question.text


@pytest.mark.parametrize(
    ("page", "said", "wanted"),
    [
        ("mechanism/softmax", "the tables above.", "fill names 'tables above', which the question"),
        ("mechanism/softmax", '<a href="#tbl-none">Table 4.9</a>.', "fill names tbl-none, which"),
        ("transformer/depth", "No number.", "ex-depth-norm is no exercise that the q"),
    ],
)
def test_a_question_without_what_it_needs_stops_the_pack(page, said, wanted, book, monkeypatch):
    page = next(each for each in book if each.name == page)
    name = "ex-softmax-fill" if page.name.endswith("softmax") else "ex-depth-and"
    odd = pages.Question(name, page.title, said, label=name, page=page.name)
    monkeypatch.setattr(standalone_questions, "of_page", lambda page: [odd])
    place = rf"^error: book/{page.name}\.md:\d+: "
    with pytest.raises(SystemExit, match=f"{place}(ex-softmax-)?{re.escape(wanted)}"):
        list(standalone_questions.questions([page]))


def test_with_an_address_each_question_leads_to_its_page(book):
    page = next(page for page in book if page.name == "examples/cat-sat")
    for question in standalone_questions.questions([page], "https://example.org/book/"):
        where = f'href="https://example.org/book/examples/cat-sat.html#{question.label}"'
        assert where in question.feedback


def test_a_number_is_asked_for_as_it_is_judged(bank):
    for question in bank:
        if question.kind != "number":
            continue
        places = len(question.key.partition(".")[2])
        assert abs(float(question.key) - question.answer) <= 0.5001 * 10**-places
        asked = question.text.rpartition("Answer ")[2]
        if float(question.key) == pytest.approx(question.answer, abs=1e-9) and "%" not in asked:
            assert float(question.margin) == 0 or places
        wanted = {0: "a whole number", 1: "to one decimal"}.get(places, f"to {places} decimals")
        assert wanted in asked, question.name
    whole = [q for q in bank if q.answer is not None and q.answer == round(q.answer)]
    assert len(whole) >= 15
    assert all("." not in question.key for question in whole)


def test_a_question_keeps_its_id_in_another_order(bank, book):
    few = [page for page in book if page.name in ("examples/cat-sat", "mechanism/scaling")]
    again, turned = (
        list(standalone_questions.questions(few)),
        list(standalone_questions.questions(few[::-1])),
    )
    assert {q.name: q for q in turned} == {q.name: q for q in again}
    # A number after an equal title counts the questions of the whole bank.
    whole = {q.name: replace(q, number=1) for q in bank}
    assert {q.name: whole[q.name] for q in again} == {q.name: q for q in again}


def test_gift_is_read_as_it_is_meant(bank, folder):
    parser = PARSER.read_text(encoding="utf-8")
    with Scripts(parser, "var parse = giftParser.parse;") as scripts:
        read = scripts.call("parse", (folder / "questions.gift").read_text(encoding="utf-8"))
    gift = [found for found in read if found["type"] != "Category"]
    for question, read in zip(bank, gift, strict=True):
        assert read["title"] == " ".join(question.title.split())
        assert (read["id"], read["tags"]) == (question.name, list(question.tags))
        assert KINDS[read["type"]] == question.kind
        assert read["stem"]["format"] == "html"
        stem = re.sub('src="data:image/svg[^"]*"', "PICTURE", read["stem"]["text"])
        assert stem == re.sub(r'src="[^"]*\.svg"', "PICTURE", question.text)
        if question.kind == "number":
            number = read["choices"]["number"], read["choices"]["range"]
            assert number == (float(question.key), float(question.margin))
        if question.kind == "choice":
            right = "weight" if question.is_multiple else "isCorrect"
            found = [(c["text"]["text"], c["feedback"]["text"], c[right]) for c in read["choices"]]
            assert [(*said, mark > 0) for *said, mark in found] == options_of(question)


def test_qti_is_read_and_judged_as_it_is_meant(bank, folder):
    package = folder / "questions-qti"
    manifest = ElementTree.parse(package / "imsmanifest.xml")
    named = {found.get("href") for found in manifest.iter() if found.tag.endswith("}file")}
    found = {path.relative_to(package).as_posix() for path in package.rglob("*.*")}
    assert named == found - {"imsmanifest.xml"}
    assert {name for name in named if "/" not in name} == {f"{q.name}.xml" for q in bank}
    for question in bank:
        item = parse_item(package / f"{question.name}.xml")
        rules = ElementTree.fromstring(item.raw_xml)
        assert {picture.get("src") for picture in rules.iter(f"{ITEM}img")} <= named
        assert KINDS[classifier.classify(item).target] == question.kind
        (interaction,) = item.interactions
        response = item.response_decls["RESPONSE"]
        if question.kind == "number":
            assert response.correct_values == [question.key]
            limits = (rules.findtext(f".//{ITEM}{side}/{ITEM}baseValue") for side in ("gte", "lte"))
            low, high = map(Decimal, limits)
            assert Decimal(question.key) - low == high - Decimal(question.key) == question.margin
        assert (response.cardinality == "multiple") == question.is_multiple
        replies = {reply.identifier: squeezed(reply.html) for reply in item.feedback}
        assert replies.pop("general_fb") == squeezed(question.feedback)
        reply_to = {}
        for rule in rules.iterfind(f".//{ITEM}responseIf"):
            chosen = rule.findtext(f"*/{ITEM}baseValue[@baseType='identifier']")
            reply_to[chosen] = rule.findtext(f"{ITEM}setOutcomeValue//{ITEM}baseValue")
        right = response.correct_values
        assert options_of(question, squeezed) == [
            (squeezed(c.html), replies.pop(reply_to[c.identifier]), c.identifier in right)
            for c in interaction.choices
        ]
        assert replies == {}


def test_fresh_numbers_are_right_as_they_are_printed(bank):
    read = 0
    for question in bank:
        stage = re.match(r"fresh-\d+-(query|key|value|scores|head|output)", question.name)
        if stage:
            plain = html.unescape(question.text).replace("−", "-")
            groups = re.findall(r": \(?([-\d., ]+)\)?</li>", plain)
            left, right = (map(Fraction, group.split(", ")) for group in groups[-2:])
            exact = float(sum(map(operator.mul, left, right)))
            assert abs(exact - question.answer) <= 0.501 * 10**-question.places, question.name
            read += 1
    assert read > 4 * VARIANTS


def test_canvas_is_told_of_numbers_and_finds_the_pictures_of_the_same_items(bank, folder):
    package = folder / "questions-canvas"
    resources = ElementTree.parse(package / "imsmanifest.xml").getroot().iter(f"{CP}resource")
    for question, resource in zip(bank, resources, strict=True):
        item = f"{question.name}.xml"
        assert (package / item).read_bytes() == (folder / "questions-qti" / item).read_bytes()
        said = [element.text for element in resource.iter(f"{ITEM}interactionType")]
        kinds = [e.get("value") for e in resource.iter(f"{CP}instructureField")]
        wanted = ["extendedTextInteraction"], ["numerical_question"]
        assert (said, kinds) == (wanted if question.kind == "number" else ([], []))
        files = {file.get("href") for file in resource.iter(f"{CP}file")}
        pictures = ElementTree.parse(package / item).iter(f"{ITEM}img")
        assert files == {item, *(picture.get("src") for picture in pictures)}  # from the top
        assert len(files) == 1 + len(question.files)


# ---- Moodle ----

SHARES = (*range(0, 101, 5), 11.11111, 12.5, 14.28571, 16.66667, 33.33333, 66.66667, 83.33333)
"""The fractions of a mark that Moodle allows for an answer, to 5 decimals."""


def test_moodle_reads_chapters_parts_answers_and_pictures(bank, folder):
    elements = ElementTree.parse(folder / "questions-moodle.xml").getroot()
    paths = [each.findtext("category/text") for each in elements if each.get("type") == "category"]
    chapters = {question.chapter.replace("/", "//") for question in bank}
    assert sorted(paths) == sorted(f"$course$/top/Attention by Hand/{name}" for name in chapters)
    asked = [element for element in elements if element.get("type") != "category"]
    for question, element in zip(bank, asked, strict=True):
        kind = element.get("type")
        assert KINDS[kind] == question.kind
        if kind == "essay":
            assert {"responseformat", "responserequired"} < {part.tag for part in element}
            has_its_marking_scheme(question, element)
        assert element.findtext("name/text") == question.title
        assert element.findtext("idnumber") == question.name
        assert len(question.name) <= 100  # the longest idnumber of Moodle's tables
        assert [tag.text for tag in element.iterfind("tags/tag/text")] == list(question.tags)
        for part in ("questiontext", "generalfeedback"):
            said = element.find(part)
            files = {file.get("name"): file for file in said.iterfind("file")}
            for name, file in files.items():
                assert (file.get("path"), file.get("encoding")) == ("/", "base64")
                assert b64decode(file.text, validate=True).decode() == question.files[name]
            shown = re.findall(' src="([^"]*)"', said.findtext("text"))
            assert shown == [f"@@PLUGINFILE@@/{name}" for name in files]
        moodle_judges_as_asked(question, element)


SCHEMES = tomllib.loads((ROOT / "book/marking.toml").read_text(encoding="utf-8"))


def has_its_marking_scheme(question, element):
    """Check the marks of an essay, and the information for graders."""
    marks = SCHEMES[question.label]["marks"]
    total = {"1": 2, "2": 4, "3": 6}[question.difficulty]
    assert element.findtext("defaultgrade") == str(total) == str(sum(worth for worth, _ in marks))
    told = BeautifulSoup(element.findtext("graderinfo/text"), "html.parser")
    items = [item.get_text() for item in told.select("li")]
    assert [int(item.split()[0]) for item in items] == [worth for worth, _ in marks]
    for item, (_, says) in zip(items, marks, strict=True):
        plain = re.sub(r"[*`]|(?<=[dW])[_^]", "", says)
        assert item.partition(": ")[2] == plain


def moodle_judges_as_asked(question, element):
    answers = element.findall("answer")
    shares = [float(answer.get("fraction")) for answer in answers]
    assert all(any(abs(abs(s) - allowed) < 1e-5 for allowed in SHARES) for s in shares)
    if question.kind == "number":
        (answer,) = answers
        assert (answer.findtext("text"), shares) == (question.key, [100])
        assert float(answer.findtext("tolerance")) == float(question.margin)
    if question.kind == "choice":
        assert element.findtext("single") == ("false" if question.is_multiple else "true")
        assert sum(share for share in shares if share > 0) == pytest.approx(100, abs=1e-4)
        texts = [(each.findtext("text"), each.findtext("feedback/text")) for each in answers]
        found = [(*both, share > 0) for both, share in zip(texts, shares, strict=True)]
        assert found == options_of(question)


# ---- Cards ----


def test_the_deck_of_cards_as_anki_keeps_it(bank, book, tmp_path):
    ((name, package),) = cards.files(bank, book).items()
    assert name == DECK
    with zipfile.ZipFile(BytesIO(package)) as archive:
        collection = sqlite3.connect(archive.extract("collection.anki2", tmp_path))
        media = json.loads(archive.read("media"))
        pictures = {name: archive.read(number) for number, name in media.items()}
    (decks,) = collection.execute("SELECT decks FROM col").fetchone()
    decks = {int(i): deck["name"] for i, deck in json.loads(decks).items()}
    rows = collection.execute(
        "SELECT guid, flds, tags, did FROM notes JOIN cards ON nid = notes.id ORDER BY notes.id"
    ).fetchall()
    fronts, terms, formulas, shown = {}, 0, 0, set()
    for guid, fields, tags, did in rows:
        fronts[guid], back = fields.split("\x1f")
        top, _, chapter = decks[did].partition("::")
        assert (top, chapter in {page.title for page in book}) == ("Attention by Hand", True)
        assert chapter.replace(" ", "-") in tags.split()
        shown |= {*re.findall(' src="([^"]+)"', fronts[guid])}
        assert "<math" not in fields
        for tex in re.findall(r"\\\((.*?)\\\)", fields, re.DOTALL):
            to_mathml(BeautifulSoup(tex, "html.parser").get_text(), display=False)
            formulas += 1
        if "term" in tags.split():
            (term,) = re.findall("<em>(.*)</em>", fronts[guid])
            assert f"<strong>{term}</strong>" in back
            assert len(plain(back).split()) >= 6
            assert not re.search(r"\b(?:above|below|here)\b|this page", plain(back))
            terms += 1
    asked = [question for question in bank if cards.fits_card(question) and question.page]
    for question in asked:
        said = plain(fronts[cards.genanki.guid_for(question.name)])
        assert said.startswith(plain(cards.in_tex(question.text)))
    assert len(rows) == len(asked) + terms
    assert (len(asked) >= 140, terms >= 30, formulas > 100) == (True, True, True)
    assert set() < shown <= {*pictures}
    assert all(svg.startswith(b"<svg") for svg in pictures.values())


def plain(html):
    return " ".join(BeautifulSoup(html, "html.parser").get_text(" ").split())


# ---- Figures and tables ----


def test_every_named_figure_and_table_has_a_file_of_its_own_that_needs_no_style(book):
    names = Counter()
    for page in book:
        drawn = list(figures.of_page(page))
        named = page.article.select("figure[id^=fig-]:has(svg.f-drawing)")
        assert len(drawn) >= len(named)
        assert len(named) > 1 or not page.name.startswith("mechanism/")
        for name, drawing in drawn:
            names[page.name, "figure", name] += 1
            root = ElementTree.fromstring(drawing)
            assert root.tag == "{http://www.w3.org/2000/svg}svg"
            assert "var(--" not in drawing
        for name, table in figures.tables(page):
            names[page.name, "table", name] += 1
            rows = re.findall(r"^(.*) \\\\$", figures.in_tex(table), re.MULTILINE)
            assert len({len(re.findall(r"(?<!\\)&", row)) for row in rows}) == 1, name
            for formula in re.findall(r"(?<!\\)\$(.*?)(?<!\\)\$", "\n".join(rows)):
                to_mathml(formula, display=False)
    assert len(names) > 300
    assert [name for name, count in names.items() if count > 1] == []
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for _, _, name in names)


def test_figures_and_tables_are_written_under_speaking_names(book):
    page = next(page for page in book if page.name == "mechanism/what-attention-does")
    made = figures.files([page])
    folder = "what-attention-does/"
    assert {f"{folder}river-bank-moved.{kind}" for kind in ("svg", "pdf")} < made.keys()
    assert f"{folder}river-bank-words.tex" in made
    (page,) = PdfReader(BytesIO(made[f"{folder}river-bank-moved.pdf"])).pages
    assert "river" in page.extract_text()


def test_signs_of_tex_are_text_in_a_cell():
    cell = BeautifulSoup("<td>[50 % &amp; x_1 ≈ −2<sub>k</sub> q₁</td>", "html.parser").td
    assert as_tex(cell) == r"{[}50 \% \& x\_1 $\approx$ $-$2$_{k}$ q$_{1}$"
