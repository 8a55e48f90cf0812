"""Questions as Moodle's own XML: with pictures, tags and idnumbers, which GIFT has no place for."""

from base64 import b64encode
from collections.abc import Sequence
from html import escape

from packs.alone import PICTURE, TITLE
from packs.pages import Question

TYPES = {"choice": "multichoice", "number": "numerical", "essay": "essay"}
EMPTY = "<text></text>"
OF_ESSAYS = (
    "<responseformat>editor</responseformat><responserequired>1</responserequired>"
    "<responsefieldlines>10</responsefieldlines><attachments>0</attachments>"
    "<attachmentsrequired>0</attachmentsrequired>"
    f'<graderinfo format="html">{EMPTY}</graderinfo>'
    f'<responsetemplate format="html">{EMPTY}</responsetemplate>'
)


def as_xml(questions: Sequence[Question]) -> str:
    """Return questions as one file to be imported, a category a chapter."""
    parts, chapter = [], ""
    for question in questions:
        if question.chapter != chapter:
            chapter = question.chapter
            path = f"$course$/top/{TITLE}/{chapter.replace('/', '//')}"
            category = f"<category><text>{escape(path)}</text></category>"
            parts.append(f'<question type="category">{category}</question>')
        parts.append(_question(question))
    body = "\n".join(parts)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<quiz>\n{body}\n</quiz>\n'


def _question(question: Question) -> str:
    tags = "".join(f"<tag><text>{escape(tag)}</text></tag>" for tag in question.tags)
    return (
        f'<question type="{TYPES[question.kind]}">'
        f"<name><text>{escape(question.title)}</text></name>"
        f"{_html('questiontext', question.text, question)}"
        f"{_html('generalfeedback', question.feedback, question)}"
        "<defaultgrade>1</defaultgrade><penalty>0.3333333</penalty><hidden>0</hidden>"
        f"<idnumber>{question.name}</idnumber>{_answers(question)}<tags>{tags}</tags></question>"
    )


def _html(tag: str, text: str, question: Question, attributes: str = "", inside: str = "") -> str:
    """Return an element with HTML, the pictures in it, and what else stands in the element."""
    files = "".join(
        f'<file name="{name}" path="/" encoding="base64">'
        f"{b64encode(question.files[name].encode()).decode()}</file>"
        for name in sorted({*PICTURE.findall(text)})
    )
    linked = PICTURE.sub(r"@@PLUGINFILE@@/\g<0>", text)
    return f'<{tag}{attributes} format="html"><text>{escape(linked)}</text>{files}{inside}</{tag}>'


def _answers(question: Question) -> str:
    if question.kind == "essay":
        return OF_ESSAYS
    if question.kind == "number":
        return (
            f'<answer fraction="100" format="moodle_auto_format"><text>{question.key}</text>'
            f'<feedback format="html">{EMPTY}</feedback>'
            f"<tolerance>{question.margin}</tolerance></answer>"
        )
    answers = "".join(
        _html(
            "answer",
            option.text,
            question,
            f' fraction="{share}"',
            _html("feedback", option.feedback, question),
        )
        for option, share in zip(question.options, shares(question), strict=True)
    )
    single = str(not question.is_multiple).lower()
    return (
        f"<single>{single}</single><shuffleanswers>true</shuffleanswers>"
        f"<answernumbering>abc</answernumbering>{answers}"
    )


def shares(question: Question) -> list[str]:
    """Return what each option adds to the mark, in per cent; a wrong one of several takes away."""
    right = sum(option.is_right for option in question.options)
    wrong = len(question.options) - right
    taken = -100 / max(wrong, 1) if question.is_multiple else 0
    return [f"{100 / right if option.is_right else taken:.7g}" for option in question.options]
