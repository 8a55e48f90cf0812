"""Questions as a QTI 2.1 package: a manifest, an item each, and the pictures.

Canvas's reader (gems/plugins/qti_exporter of instructure/canvas-lms) takes a number for words in a
gap, which it compares letter by letter, unless the manifest says otherwise in elements of its own
that the standard has not. So Canvas has a package to itself: its items are the same.
"""

import re
import textwrap
from collections.abc import Sequence
from decimal import Decimal
from html import escape

from packs.alone import PICTURE, TITLE
from packs.pages import Question

ITEM = "http://www.imsglobal.org/xsd/imsqti_v2p1"
PACKAGE = "http://www.imsglobal.org/xsd/imscp_v1p1"
METADATA = "http://ltsc.ieee.org/xsd/LOM"
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
LETTERS = "abcdefghijklmnop"

BASE_TYPES = {"choice": "identifier", "number": "float", "essay": "string"}
MOST = 256
"""Characters that the standard allows to stand in the place of a picture."""

LONG = re.compile(rf'(?<= alt=")[^"]{{{MOST + 1},}}')
OF_A_NUMBER = (
    f'<interactionType xmlns="{ITEM}">extendedTextInteraction</interactionType>'
    '<instructureMetadata><instructureField name="question_type" value="numerical_question"/>'
    "</instructureMetadata>"
)
"""What Canvas knows a number by, which it then judges by its limits."""


def package(questions: Sequence[Question], *, for_canvas: bool = False) -> dict[str, str]:
    """Return the files of a package by their names."""
    items = {f"{question.name}.xml": item(question) for question in questions}
    pictures = {f"images/{name}": svg for q in questions for name, svg in q.files.items()}
    resources = "".join(_resource(question, for_canvas) for question in questions)
    title = _known(f"<title><string>{TITLE}</string></title>")
    manifest = (
        f'{HEAD}<manifest xmlns="{PACKAGE}" identifier="attention-by-hand"><metadata>'
        "<schema>QTIv2.1 Package</schema><schemaversion>1.0.0</schemaversion>"
        f"{title}</metadata>"
        f"<organizations/><resources>{resources}</resources></manifest>\n"
    )
    return {"imsmanifest.xml": manifest, **items, **pictures}


def _known(what: str) -> str:
    return f'<lom xmlns="{METADATA}"><general>{what}</general></lom>'


def _resource(question: Question, for_canvas: bool) -> str:
    """Return what the manifest says of an item: its file, its pictures, what it is found by."""
    tags = "".join(f"<keyword><string>{escape(tag)}</string></keyword>" for tag in question.tags)
    known = _known(tags) + (OF_A_NUMBER if for_canvas and question.kind == "number" else "")
    names = (f"{question.name}.xml", *(f"images/{name}" for name in question.files))
    files = "".join(f'<file href="{name}"/>' for name in names)
    return (
        f'<resource identifier="{question.name}" type="imsqti_item_xmlv2p1" href="{names[0]}">'
        f"<metadata>{known}</metadata>{files}</resource>"
    )


def item(question: Question) -> str:
    """Return one question as an item."""
    cardinality = "multiple" if question.is_multiple else "single"
    return (
        f'{HEAD}<assessmentItem xmlns="{ITEM}" identifier="{question.name}"'
        f' title="{escape(question.title)}" adaptive="false" timeDependent="false">'
        f'<responseDeclaration identifier="RESPONSE" cardinality="{cardinality}"'
        f' baseType="{BASE_TYPES[question.kind]}">{_correct(question)}</responseDeclaration>'
        '<outcomeDeclaration identifier="SCORE" cardinality="single" baseType="float">'
        "<defaultValue><value>0</value></defaultValue></outcomeDeclaration>"
        '<outcomeDeclaration identifier="FEEDBACK" cardinality="multiple" baseType="identifier"/>'
        f"<itemBody><div>{_flow(question.text)}</div>{_interaction(question)}</itemBody>"
        f"<responseProcessing>{_processing(question)}</responseProcessing>"
        f"{_feedback(question)}</assessmentItem>\n"
    )


def _flow(text: str) -> str:
    """Return text as a block: bare text becomes a paragraph, and pictures have their folder."""
    linked = LONG.sub(_shorter, PICTURE.sub(r"images/\g<0>", text))
    return linked if text.startswith(("<p", "<ul", "<ol", "<table")) else f"<p>{linked}</p>"


def _shorter(words: re.Match[str]) -> str:
    return textwrap.shorten(words[0], MOST, placeholder=" …")


def _correct(question: Question) -> str:
    """Return what is right; of an essay nothing is."""
    values = [
        letter for letter, option in zip(LETTERS, question.options, strict=False) if option.is_right
    ]
    if question.answer is not None:
        values = [question.key]
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
    said = "".join(
        _condition(
            f"<{test}>{_value('identifier', letter)}{response}</{test}>", _shown(f"{letter}_fb")
        )
        for test in ["member" if question.is_multiple else "match"]
        for letter, _ in zip(LETTERS, question.options, strict=False)
    ) + _shown("general_fb")
    if question.kind == "essay":
        return said
    test = f'<match>{response}<correct identifier="RESPONSE"/></match>'
    if question.kind == "number":
        low, high = (Decimal(question.key) + sign * question.margin for sign in (-1, 1))
        test = (
            f"<and><gte>{response}{_value('float', str(low))}</gte>"
            f"<lte>{response}{_value('float', str(high))}</lte></and>"
        )
    score = f'<setOutcomeValue identifier="SCORE">{_value("float", "1")}</setOutcomeValue>'
    return _condition(test, score) + said


def _condition(test: str, then: str) -> str:
    return f"<responseCondition><responseIf>{test}{then}</responseIf></responseCondition>"


def _shown(feedback: str) -> str:
    """Return the rule that shows some feedback too."""
    both = f'<variable identifier="FEEDBACK"/>{_value("identifier", feedback)}'
    return f'<setOutcomeValue identifier="FEEDBACK"><multiple>{both}</multiple></setOutcomeValue>'


def _value(kind: str, text: str) -> str:
    return f'<baseValue baseType="{kind}">{text}</baseValue>'


def _feedback(question: Question) -> str:
    """Return what is said to each answer, and to any."""
    said = {
        f"{letter}_fb": option.feedback
        for letter, option in zip(LETTERS, question.options, strict=False)
    }
    said["general_fb"] = question.feedback
    return "".join(
        f'<modalFeedback outcomeIdentifier="FEEDBACK" showHide="show" identifier="{name}">'
        f"{_flow(text)}</modalFeedback>"
        for name, text in said.items()
    )
