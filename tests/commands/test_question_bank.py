"""The question bank is what the pages ask, and readers that are not ours read it."""

import html
import json
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
import question_bank
from book_site import ROOT, SITE
from bs4 import BeautifulSoup
from onyx2moodle import classifier
from onyx2moodle.parser import parse_item
from packs import alone, pages, questions
from py_mini_racer import MiniRacer
from question_bank import SEED, VARIANTS, texts

pytestmark = pytest.mark.book

PARSER = ROOT / "tests" / "gift_pegjs" / "gift-parser.js"
KINDS = {"MC": "choice", "Numerical": "number", "Essay": "essay"}
TARGETS = {"multichoice": "choice", "shortanswer": "number", "essay": "essay"}


@pytest.fixture(scope="module")
def bank():
    return question_bank.bank()


@pytest.fixture(scope="module")
def files():
    return question_bank.files()


@pytest.fixture(scope="module")
def gift(files):
    """Return the questions as the GIFT parser reads them."""
    with MiniRacer() as racer:
        racer.eval(PARSER.read_text(encoding="utf-8"))
        text = json.dumps(files["questions.gift"].read_text(encoding="utf-8"))
        read = json.loads(racer.eval(f"JSON.stringify(giftParser.parse({text}))"))
    return [found for found in read if found["type"] != "Category"]


@pytest.fixture(scope="module")
def qti(tmp_path_factory):
    """Return the items of the package as the reader of QTI reads them, by their names."""
    folder = question_bank.unpacked("questions-qti.zip", tmp_path_factory.mktemp("qti"))
    manifest = ElementTree.parse(folder / "imsmanifest.xml")
    named = [found.get("href") for found in manifest.iter() if found.tag.endswith("}file")]
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*.*")}
    assert {*named} == found - {"imsmanifest.xml"}
    items = [name for name in named if name.endswith(".xml")]
    for name in items:
        shown = re.findall(' src="([^"]+)"', (folder / name).read_text(encoding="utf-8"))
        assert {*shown} <= {*named}
    return {Path(name).stem: parse_item(folder / name) for name in items}


def test_every_quiz_box_and_exercise_of_the_pages_is_in_the_bank_or_left_out(bank):
    left_out = {*alone.BANK["left-out"]}
    wanted, boxed = set(), set()
    for page in pages.read(SITE):
        soup = BeautifulSoup(page.path.read_text(encoding="utf-8"), "html.parser")
        wanted |= {tag["id"] for tag in soup.select("mha-quiz, mha-your-turn, .exercise")}
        boxed |= {tag["id"] for tag in soup.select(".exercise:has(mha-your-turn)")}
    assert {question.label for question in bank} - {""} == wanted - left_out - boxed
    assert left_out < wanted
    assert {*alone.BANK["needs"]} < wanted - left_out
    kinds = Counter(question.kind for question in bank)
    assert kinds["number"] - VARIANTS * len(questions.drawable()) >= 100
    assert kinds["choice"] >= 50
    assert kinds["essay"] < 70
    assert len({question.name for question in bank}) == len(bank)


def test_every_question_has_what_it_names(bank):
    for question in bank:
        said = "".join(texts(question))
        words = " ".join(BeautifulSoup(said, "html.parser").get_text(" ").split())
        for name in re.findall(r"(?:Table|Fig\.|Figure|Equation) \d+\.\d+", words):
            shown = rf"<(?:strong|caption)>{re.escape(name)}\b"
            assert re.search(shown, said), (question.name, name)
        assert not re.search(r"\[Figure|(?<!href=)\"#|this page|notebook of|tables above", said)
        assert {*re.findall(' src="([^"]+)"', said)} == {*question.files}
        links = re.findall('href="([^"]+)"', said)
        assert all(link.startswith("https://") for link in links), question.name
    assert sum(bool(question.files) for question in bank) >= 4
    assert sum("<strong>Table" in question.text for question in bank) >= 22


def test_a_table_that_holds_the_answer_too_comes_in_part(bank):
    (question,) = (q for q in bank if q.name == "ex-apple-query-of-to")
    assert "Keys, Head 3" in question.text
    assert "Queries" not in question.text.replace("Queries, keys and values", "")


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("Look at the tables above.", "'tables above'"),
        ("It is in the notebook of this page.", "'the notebook'"),
        ('See <a href="mechanism/softmax.html#tbl-none">Table 4.9</a>.', "Table 4.9"),
    ],
)
def test_a_question_that_names_what_it_has_not_stops_the_pack(said, named, monkeypatch):
    page = next(page for page in pages.read(SITE) if page.name == "mechanism/softmax")
    odd = pages.Question("ex-softmax-fill", page.title, said, label="ex-softmax-fill")
    monkeypatch.setattr(alone, "of_page", lambda page: [odd])
    line = 1 + (ROOT / "book/mechanism/softmax.md").read_text(encoding="utf-8").split("\n").index(
        ":label: ex-softmax-fill"
    )
    with pytest.raises(SystemExit) as stopped:
        list(alone.questions([page]))
    assert str(stopped.value) == (
        f"error: book/mechanism/softmax.md:{line}: ex-softmax-fill names {named}, which the"
        " question has not"
    )


def test_a_number_without_its_exercise_stops_the_pack(monkeypatch):
    page = next(page for page in pages.read(SITE) if page.name == "transformer/depth")
    monkeypatch.setattr(alone, "of_page", lambda page: [])
    with pytest.raises(SystemExit, match=r"depth\.md:\d+: ex-depth-norm is no exercise that the q"):
        list(alone.questions([page]))


def test_with_an_address_each_question_leads_to_its_page(monkeypatch):
    monkeypatch.setattr(alone, "base_address", lambda: "https://example.org/book/")
    page = next(page for page in pages.read(SITE) if page.name == "examples/cat-sat")
    asked = list(alone.questions([page]))
    for question in asked:
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


def test_names_are_for_people_and_ids_do_not_depend_on_the_order(bank):
    again = questions.bank(pages.read(SITE)[::-1], SEED + 1, VARIANTS)
    book = {q.name: q for q in bank if not q.name.startswith("fresh-")}
    assert {q.name: q for q in again if not q.name.startswith("fresh-")} == book
    for question in bank:
        assert question.title.startswith(f"{question.chapter}: ")
        assert "<" not in question.title.replace("<end>", "")
        assert question.tags[:2] == (question.chapter, question.kind)


def test_every_exercise_has_its_solution_and_every_number_its_line(bank):
    for question in bank:
        assert question.feedback.startswith("<p>From") <= bool(question.options), question.name
        for option in question.options:
            assert option.text
            assert option.feedback


def test_code_keeps_its_lines():
    soup = BeautifulSoup("<div><pre><b></b>def f(x):\n    return x\n</pre></div>", "html.parser")
    text = pages.standing_alone(soup.div)
    assert re.sub("</?b/?>", "", text) == "<pre>def\xa0f(x):<br/>\xa0\xa0\xa0\xa0return\xa0x</pre>"


def test_every_question_is_whole_xhtml(bank):
    for question in bank:
        feedback = [option.feedback + option.text for option in question.options]
        for text in (question.text, question.feedback, *feedback):
            ElementTree.fromstring(f"<div>{text}</div>".replace("&nbsp;", " "))


def test_gift_is_read_as_it_is_meant(bank, gift):
    assert len(gift) == len(bank)
    for question, read in zip(bank, gift, strict=True):
        assert read["title"] == " ".join(question.title.split())
        assert read["id"] == question.name
        assert read["tags"] == list(question.tags)
        assert KINDS[read["type"]] == question.kind
        assert read["stem"]["format"] == "html"
        stem = re.sub('src="data:image/svg[^"]*"', "PICTURE", read["stem"]["text"])
        assert stem == re.sub(r'src="[^"]*\.svg"', "PICTURE", question.text)
        if question.kind == "number":
            assert read["choices"]["number"] == float(question.key)
            assert read["choices"]["range"] == float(question.margin)
        for option, choice in zip(question.options, read.get("choices", []), strict=False):
            assert choice["text"]["text"] == option.text
            assert choice["feedback"]["text"] == option.feedback
            right = choice["isCorrect"] if not question.is_multiple else choice["weight"] > 0
            assert right == option.is_right


def test_qti_is_read_as_it_is_meant(bank, qti):
    assert set(qti) == {question.name for question in bank}
    for question in bank:
        item = qti[question.name]
        found = classifier.classify(item)
        assert found.convertible, question.name
        assert TARGETS[found.target] == question.kind
        response = item.response_decls["RESPONSE"]
        if question.kind == "number":
            assert response.correct_values == [question.key]
        if question.kind == "choice":
            assert (response.cardinality == "multiple") == question.is_multiple
            right = [option.is_right for option in question.options]
            (interaction,) = item.interactions
            assert len(interaction.choices) == len(right)
            names = [choice.identifier for choice in interaction.choices]
            assert [name in response.correct_values for name in names] == right
        assert len(item.feedback) == len(question.options) + 1


def test_fresh_numbers_are_right_as_they_are_printed(bank):
    read = 0
    for question in bank:
        if not question.name.startswith("fresh-"):
            continue
        stage, numbers = question.name.split("-")[2], printed(question.text)
        if stage in ("query", "key", "value", "scores", "head", "output"):
            (left, right) = numbers[-2:]
            exact = sum(Fraction(a) * Fraction(b) for a, b in zip(left, right, strict=True))
        elif stage == "row":
            exact = sum(map(Fraction, numbers[-1]))
        else:
            continue
        assert abs(float(exact) - question.answer) <= 0.501 * 10**-question.places, question.name
        read += 1
    assert read > 5 * VARIANTS


def printed(text):
    """Return the numbers that a question gives, a group a bracket."""
    plain = html.unescape(text).replace("−", "-")
    givens = re.findall(r": \(?([-\d., ]+)\)?</li>", plain)
    return [group.split(", ") for group in givens]


def test_every_stage_of_a_layer_is_drawn():
    assert len(questions.drawable()) >= 11


def test_the_same_seed_gives_the_same_bank_and_another_another(bank, files, tmp_path):
    for path in questions.write(bank, tmp_path):
        assert path.read_bytes() == files[path.name].read_bytes()
    ours = list(questions.fresh("scores", SEED, 5))
    assert ours[:VARIANTS] == [q for q in bank if q.name.startswith(f"fresh-{SEED}-scores")]
    assert ours != list(questions.fresh("scores", 4, 5))


def test_a_reader_refuses_what_is_not_gift(gift):
    with MiniRacer() as racer:
        racer.eval(PARSER.read_text(encoding="utf-8"))
        with pytest.raises(Exception, match="Expected"):
            racer.eval('giftParser.parse("::a::b{=c ~")')
