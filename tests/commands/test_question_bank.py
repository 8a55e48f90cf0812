"""The question bank is what the pages ask, and readers that are not ours read it."""

import html
import json
import re
import xml.etree.ElementTree as ElementTree
import zipfile
from fractions import Fraction
from pathlib import Path

import pytest
from book_site import ROOT, SITE
from bs4 import BeautifulSoup
from onyx2moodle import classifier
from onyx2moodle.parser import parse_item
from packs import pages, questions
from py_mini_racer import MiniRacer

pytestmark = pytest.mark.book

PARSER = ROOT / "tests" / "gift_pegjs" / "gift-parser.js"
KINDS = {"MC": "choice", "Numerical": "number", "Essay": "essay"}
TARGETS = {"multichoice": "choice", "shortanswer": "number", "essay": "essay"}
VARIANTS = 4


@pytest.fixture(scope="module")
def bank():
    return questions.bank(pages.read(SITE), seed=3, variants=VARIANTS)


@pytest.fixture(scope="module")
def files(bank, tmp_path_factory):
    return questions.write(bank, tmp_path_factory.mktemp("bank"))


@pytest.fixture(scope="module")
def gift(files):
    """Return the questions as the GIFT parser reads them."""
    with MiniRacer() as racer:
        racer.eval(PARSER.read_text(encoding="utf-8"))
        text = json.dumps(files[0].read_text(encoding="utf-8"))
        read = json.loads(racer.eval(f"JSON.stringify(giftParser.parse({text}))"))
    return [found for found in read if found["type"] != "Category"]


@pytest.fixture(scope="module")
def qti(files, tmp_path_factory):
    """Return the items of the package as the reader of QTI reads them, by their names."""
    folder = tmp_path_factory.mktemp("qti")
    with zipfile.ZipFile(files[1]) as archive:
        archive.extractall(folder)
    manifest = ElementTree.parse(folder / "imsmanifest.xml")
    named = [found.get("href") for found in manifest.iter() if found.tag.endswith("}file")]
    assert sorted(named) == sorted(str(path.relative_to(folder)) for path in folder.glob("items/*"))
    return {Path(name).stem: parse_item(folder / name) for name in named}


def test_every_quiz_box_and_exercise_of_the_pages_is_in_the_bank(bank):
    wanted = {"choice": 0, "number": 0, "essay": 0}
    for page in pages.read(SITE):
        soup = BeautifulSoup(page.path.read_text(encoding="utf-8"), "html.parser")
        wanted["choice"] += len(soup.select("mha-quiz"))
        wanted["number"] += len(soup.select("mha-your-turn input"))
        wanted["essay"] += len(soup.select(".exercise"))
    wanted["number"] += VARIANTS * len(questions.drawable())
    assert {kind: sum(q.kind == kind for q in bank) for kind in wanted} == wanted
    assert wanted["choice"] >= 41
    assert wanted["number"] >= 44
    assert wanted["essay"] >= 74
    assert len({question.name for question in bank}) == len(bank)


def test_every_exercise_has_its_solution_and_every_number_its_line(bank):
    assert [
        question.name for question in bank if not question.feedback and not question.options
    ] == []
    for question in bank:
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
        assert read["title"] == question.name
        assert KINDS[read["type"]] == question.kind
        assert read["stem"] == {"format": "html", "text": question.text}
        if question.kind == "number":
            assert read["choices"]["number"] == pytest.approx(question.answer, abs=1e-11)
            assert read["choices"]["range"] == pytest.approx(0.5 * 10**-question.places)
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
            assert float(response.correct_values[0]) == pytest.approx(question.answer, abs=1e-11)
        if question.kind == "choice":
            assert (response.cardinality == "multiple") == question.is_multiple
            right = [option.is_right for option in question.options]
            (interaction,) = item.interactions
            assert len(interaction.choices) == len(right)
            names = [choice.identifier for choice in interaction.choices]
            assert [name in response.correct_values for name in names] == right
        assert len(item.feedback) == len(question.options) + bool(question.feedback)


def test_fresh_numbers_are_right_as_they_are_printed(bank):
    read = 0
    for question in bank:
        if not question.name.startswith("fresh-"):
            continue
        stage, numbers = question.name.split("-")[1], printed(question.text)
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
    assert [path.read_bytes() for path in questions.write(bank, tmp_path)] == [
        path.read_bytes() for path in files
    ]
    ours = list(questions.fresh("scores", 3, 5))
    assert ours[:VARIANTS] == [q for q in bank if q.name.startswith("fresh-scores")]
    assert ours != list(questions.fresh("scores", 4, 5))


def test_a_reader_refuses_what_is_not_gift(gift):
    with MiniRacer() as racer:
        racer.eval(PARSER.read_text(encoding="utf-8"))
        with pytest.raises(Exception, match="Expected"):
            racer.eval('giftParser.parse("::a::b{=c ~")')
