"""The question bank as Moodle's XML is as Moodle documents it, and says what the questions say."""

import xml.etree.ElementTree as ElementTree
from base64 import b64decode

import pytest
import question_bank

pytestmark = pytest.mark.book

KINDS = {"multichoice": "choice", "numerical": "number", "essay": "essay"}
WANTED = {
    "multichoice": {"single", "shuffleanswers", "answernumbering", "answer"},
    "numerical": {"answer"},
    "essay": {"responseformat", "responserequired", "responsefieldlines", "graderinfo"},
}
SHARES = {0, 5, 10, 11.11111, 12.5, 14.28571, 16.66667, 20, 25, 30, 33.33333, 40, 50, 60, 66.66667}
SHARES |= {70, 75, 80, 83.33333, 90, 100}
"""What part of a mark an answer may give or take in Moodle, to 5 decimals."""


@pytest.fixture(scope="module")
def questions():
    quiz = ElementTree.parse(question_bank.files()["questions-moodle.xml"]).getroot()
    assert quiz.tag == "quiz"
    return list(quiz)


@pytest.fixture(scope="module")
def pairs(questions):
    """Return each question of the bank with its element."""
    asked = [element for element in questions if element.get("type") != "category"]
    return list(zip(question_bank.bank(), asked, strict=True))


def test_each_chapter_is_a_category_below_the_bank_with_its_title(questions):
    paths = [q.findtext("category/text") for q in questions if q.get("type") == "category"]
    assert all(path.startswith("$course$/top/Attention by Hand/") for path in paths)
    chapters = {question.chapter for question in question_bank.bank()}
    named = [path.split("/", 3)[3].replace("//", "/") for path in paths]
    assert sorted(named) == sorted(chapters)


def test_a_question_has_its_parts_its_name_its_id_and_its_tags(pairs):
    for question, element in pairs:
        kind = element.get("type")
        assert KINDS[kind] == question.kind
        assert WANTED[kind] <= {part.tag for part in element}
        assert element.findtext("name/text") == question.title
        assert element.findtext("idnumber") == question.name
        assert len(question.name) <= 100  # the longest idnumber of Moodle's tables
        tags = [tag.findtext("text") for tag in element.iterfind("tags/tag")]
        assert tags == list(question.tags)
        assert max(map(len, tags)) <= 255


def test_each_picture_comes_with_its_question(pairs):
    pictures = 0
    for question, element in pairs:
        for part in ("questiontext", "generalfeedback"):
            html = element.find(part)
            assert html.get("format") == "html"
            files = {file.get("name"): file for file in html.iterfind("file")}
            for name, file in files.items():
                assert (file.get("path"), file.get("encoding")) == ("/", "base64")
                assert b64decode(file.text, validate=True).decode() == question.files[name]
                assert f'src="@@PLUGINFILE@@/{name}"' in html.findtext("text")
                pictures += 1
            assert html.findtext("text").count(' src="') == len(files)
    assert pictures >= 4


def test_answers_and_what_they_are_worth_are_those_of_the_question(pairs):
    for question, element in pairs:
        answers = element.findall("answer")
        shares = [float(answer.get("fraction")) for answer in answers]
        assert all(any(abs(abs(s) - allowed) < 1e-5 for allowed in SHARES) for s in shares)
        if question.kind == "number":
            (answer,) = answers
            assert (answer.findtext("text"), shares) == (question.key, [100])
            assert float(answer.findtext("tolerance")) == float(question.margin)
        for option, answer, share in zip(question.options, answers, shares, strict=False):
            assert answer.findtext("text") == option.text
            assert answer.findtext("feedback/text") == option.feedback
            assert (share > 0) == option.is_right
        if question.options:
            single = element.findtext("single") == "true"
            assert single != question.is_multiple
            assert sum(share for share in shares if share > 0) == pytest.approx(100, abs=1e-4)
