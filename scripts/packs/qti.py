"""Questions as a QTI 2.1 package: a manifest, and an item each."""

from collections.abc import Sequence
from html import escape

import numpy as np

from mha.practice.exercise import half_unit
from packs.pages import Question

ITEM = "http://www.imsglobal.org/xsd/imsqti_v2p1"
PACKAGE = "http://www.imsglobal.org/xsd/imscp_v1p1"
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
LETTERS = "abcdefghijklmnop"

BASE_TYPES = {"choice": "identifier", "number": "float", "essay": "string"}


def package(questions: Sequence[Question]) -> dict[str, str]:
    """Return the files of a package by their names."""
    files = {f"items/{question.name}.xml": item(question) for question in questions}
    resources = "".join(
        f'<resource identifier="{question.name}" type="imsqti_item_xmlv2p1"'
        f' href="items/{question.name}.xml"><file href="items/{question.name}.xml"/></resource>'
        for question in questions
    )
    manifest = (
        f'{HEAD}<manifest xmlns="{PACKAGE}" identifier="attention-by-hand"><metadata>'
        "<schema>QTIv2.1 Package</schema><schemaversion>1.0.0</schemaversion></metadata>"
        f"<organizations/><resources>{resources}</resources></manifest>\n"
    )
    return {"imsmanifest.xml": manifest, **files}


def item(question: Question) -> str:
    """Return one question as an item."""
    cardinality = "multiple" if question.is_multiple else "single"
    feedback_cardinality = cardinality if question.options else "single"
    return (
        f'{HEAD}<assessmentItem xmlns="{ITEM}" identifier="{question.name}"'
        f' title="{escape(question.chapter)}: {question.name}" adaptive="false"'
        ' timeDependent="false">'
        f'<responseDeclaration identifier="RESPONSE" cardinality="{cardinality}"'
        f' baseType="{BASE_TYPES[question.kind]}">{_correct(question)}</responseDeclaration>'
        '<outcomeDeclaration identifier="SCORE" cardinality="single" baseType="float">'
        "<defaultValue><value>0</value></defaultValue></outcomeDeclaration>"
        f'<outcomeDeclaration identifier="FEEDBACK" cardinality="{feedback_cardinality}"'
        ' baseType="identifier"/>'
        f"<itemBody><div>{_flow(question.text)}</div>{_interaction(question)}</itemBody>"
        f"<responseProcessing>{_processing(question)}</responseProcessing>"
        f"{_feedback(question)}</assessmentItem>\n"
    )


def _flow(text: str) -> str:
    """Return text as a block: bare text becomes a paragraph."""
    return text if text.startswith(("<p", "<ul", "<ol", "<table")) else f"<p>{text}</p>"


def _correct(question: Question) -> str:
    """Return what is right; of an essay nothing is."""
    values = [
        letter for letter, option in zip(LETTERS, question.options, strict=False) if option.is_right
    ]
    if question.answer is not None:
        values = [np.format_float_positional(question.answer, precision=12, trim="-")]
    inner = "".join(f"<value>{value}</value>" for value in values)
    return f"<correctResponse>{inner}</correctResponse>" if inner else ""


def _interaction(question: Question) -> str:
    if question.kind == "essay":
        return '<extendedTextInteraction responseIdentifier="RESPONSE" expectedLines="8"/>'
    if question.kind == "number":
        entry = '<textEntryInteraction responseIdentifier="RESPONSE" expectedLength="12"/>'
        return f"<p>{entry}</p>"
    choices = "".join(
        f'<simpleChoice identifier="{letter}">{option.text}</simpleChoice>'
        for letter, option in zip(LETTERS, question.options, strict=False)
    )
    return (
        '<choiceInteraction responseIdentifier="RESPONSE" shuffle="true"'
        f' maxChoices="{0 if question.is_multiple else 1}">{choices}</choiceInteraction>'
    )


def _processing(question: Question) -> str:
    """Return how an answer is judged, and which feedback is shown."""
    response = '<variable identifier="RESPONSE"/>'
    shown = response if question.options else _value("identifier", "answer")
    said = f'<setOutcomeValue identifier="FEEDBACK">{shown}</setOutcomeValue>'
    if question.kind == "essay":
        return said
    both = f'{response}<correct identifier="RESPONSE"/>'
    test = f"<match>{both}</match>"
    if question.kind == "number":
        half = f"{half_unit(question.places):.9g}"
        test = f'<equal toleranceMode="absolute" tolerance="{half} {half}">{both}</equal>'
    score = f'<setOutcomeValue identifier="SCORE">{_value("float", "1")}</setOutcomeValue>'
    return f"<responseCondition><responseIf>{test}{score}</responseIf></responseCondition>{said}"


def _value(kind: str, text: str) -> str:
    return f'<baseValue baseType="{kind}">{text}</baseValue>'


def _feedback(question: Question) -> str:
    """Return what is said to each answer."""
    said = {
        letter: option.feedback for letter, option in zip(LETTERS, question.options, strict=False)
    }
    if question.feedback:
        said["answer"] = question.feedback
    return "".join(
        f'<modalFeedback outcomeIdentifier="FEEDBACK" showHide="show" identifier="{name}">'
        f"{_flow(text)}</modalFeedback>"
        for name, text in said.items()
    )
