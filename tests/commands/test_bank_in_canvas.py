"""What Canvas keeps of the question bank, and what it loses, by the rules of its own reader.

The rules are those of gems/plugins/qti_exporter and gems/canvas_sanitize in instructure/canvas-lms,
as published: which element decides the kind of a question, and where answers, limits and feedback
are looked for. Canvas itself has not been tried.
"""

import xml.etree.ElementTree as ElementTree
from decimal import Decimal

import pytest
import question_bank
from packs import qti

pytestmark = pytest.mark.book

CP, ITEM = f"{{{qti.PACKAGE}}}", f"{{{qti.ITEM}}}"
FEEDBACK = f"{ITEM}setOutcomeValue[@identifier='FEEDBACK']"


def kind_of(resource, item):
    """Return what Canvas takes an item for: the manifest's word first, then what is in the item."""
    said = next((e.text.lower() for e in resource.iter(f"{ITEM}interactionType")), None)
    field = resource.find(f".//{CP}instructureMetadata/{CP}instructureField[@name='question_type']")
    if said == "extendedtextinteraction" and field is not None:
        return field.get("value")
    for tag, kind in (
        ("choiceInteraction", "choice"),
        ("extendedTextInteraction", "essay"),
        ("textEntryInteraction", "words in a gap"),
    ):
        if item.find(f".//{ITEM}{tag}") is not None:
            return kind
    return None


def limits(item):
    """Return between which numbers `NumericInteraction` takes an answer."""
    found = (item.find(f".//{ITEM}{side}/{ITEM}baseValue") for side in ("gte", "lte"))
    return tuple(Decimal(element.text) for element in found)


def options(item):
    """Return of each option, as `ChoiceInteraction` reads it, if it is right, and its reply."""
    right = {e.text for e in item.iterfind(f".//{ITEM}correctResponse/{ITEM}value")}
    replies = {e.get("identifier"): e for e in item.iterfind(f"{ITEM}modalFeedback")}
    found = {e.get("identifier"): [e.get("identifier") in right, None] for e in choices(item)}
    for condition in item.iterfind(f".//{ITEM}responseIf"):
        value = condition.find(f"*/{ITEM}baseValue[@baseType='identifier']")
        if value is not None:
            reply = condition.find(f"{FEEDBACK}//{ITEM}baseValue").text
            found[value.text][1] = replies[reply].find(f"{ITEM}p")
    return list(found.values())


def choices(item):
    return item.iter(f"{ITEM}simpleChoice")


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """Return each question with what the manifest says of it, and its item."""
    folder = question_bank.unpacked("questions-canvas.zip", tmp_path_factory.mktemp("canvas"))
    manifest = ElementTree.parse(folder / "imsmanifest.xml").getroot()
    assert manifest.findtext(f"{CP}metadata/{CP}schema").startswith("QTIv2.")
    resources = {r.get("identifier"): r for r in manifest.iter(f"{CP}resource")}
    return [
        (q, resources[q.name], ElementTree.parse(folder / f"{q.name}.xml").getroot())
        for q in question_bank.bank()
    ]


def test_names_kinds_and_limits_are_kept(read):
    kinds = {"number": "numerical_question", "choice": "choice", "essay": "essay"}
    for question, resource, item in read:
        assert resource.get("type").startswith("imsqti_item_xmlv2p")
        assert item.get("title") == question.title
        assert kind_of(resource, item) == kinds[question.kind]
        if question.kind == "number":
            low, high = limits(item)
            assert low <= Decimal(question.key) <= high
            assert high - low == 2 * question.margin


def test_right_options_and_what_is_said_to_each_are_kept(read):
    for question, _, item in read:
        for option, (is_right, reply) in zip(question.options, options(item), strict=True):
            assert is_right == option.is_right
            assert "".join(reply.itertext()).strip()


def test_the_reply_to_all_is_kept_and_pictures_are_found(read):
    for question, resource, item in read:
        replies = [e.get("identifier") for e in item.iterfind(f"{ITEM}modalFeedback")]
        assert replies.count("general_fb") == 1
        files = {file.get("href") for file in resource.iter(f"{CP}file")}
        for picture in item.iter(f"{ITEM}img"):
            assert picture.get("src") in files  # Canvas looks for the address from the top
        assert len(files) == 1 + len(question.files)


def test_the_plain_package_makes_canvas_compare_letters(tmp_path):
    folder = question_bank.unpacked("questions-qti.zip", tmp_path)
    manifest = ElementTree.parse(folder / "imsmanifest.xml").getroot()
    for question, resource in zip(
        question_bank.bank(), manifest.iter(f"{CP}resource"), strict=True
    ):
        if question.kind != "number":
            continue
        item = ElementTree.parse(folder / f"{question.name}.xml").getroot()
        assert kind_of(resource, item) == "words in a gap"
        (right,) = item.iterfind(f".//{ITEM}correctResponse/{ITEM}value")
        assert right.text == question.key  # who writes it as it is asked is right there too


def test_what_is_lost(read):
    """Tags, minutes and the bank's title are in the manifest's metadata, which is not read."""
    for question, resource, item in read:
        words = {e.text for e in resource.iter(f"{{{qti.METADATA}}}string")}
        assert {*question.tags} <= words
        assert item.find(f".//{ITEM}instructureMetadata") is None
        assert resource.find(f".//{CP}title") is None
