"""Exams and their marking schemes as Markdown and as JSON, and sentences that the PDFs share."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from mha.practice.exams.exam import Exam, Mark, Question
from mha.practice.exams.steps import PLACES
from mha.practice.worksheets.text import join_words, points, write_table

RULES = (
    "Show every line of arithmetic: each line has a point of its own.",
    f"Write {PLACES} decimals of a result that has more; continue with them or with all the digits"
    " that you have.",
    "A calculator with the key eˣ is allowed, and so is the formula sheet.",
)
"""The sentences above the questions."""

HOW_TO_MARK = (
    "A line of arithmetic has 1 point if its number is right, or off by at most the amount given,"
    " which covers rounded numbers and all digits. A right number needs no written line, and a line"
    " that a later right number shows to be computed has its point too.",
    "Half a point for a line: the rule is right and visible, with one error of arithmetic or of"
    " copying, such as the sign of a copied number. A wrong sign in the rule itself, as in a"
    " rotation, breaks the rule.",
    "Error carried forward: a line that follows by the right rule from an earlier wrong number has"
    " its full point. A wrong number that neither follows nor has a line has no point.",
    "A broken rule costs 1 point in each question, at the first line that breaks it; other lines"
    " of the question that break it in the same way have their points. The notes below a"
    " question give the numbers that follow from known mistakes.",
    f"A result with fewer than {PLACES} decimals although it has more costs half a point once in"
    " the whole exam. More decimals cost nothing; 0.5 and 0.500 are the same.",
    "Words have no half points. The points of an entry are for its content in any words; an entry"
    " of 2 points has 1 for half of its content. Another right argument has the same points, and"
    " a reason has its point if it is true and is about the rule in question.",
)
"""The sentences above the marking scheme."""


def estimate_note(exam: Exam) -> str:
    """Return the sentences on the minutes, the operations and the equal questions of both forms.

    Parameters
    ----------
    exam : Exam

    Returns
    -------
    str
    """
    counts = " and ".join(f"{exam.operations(form)} in Form {form}" for form in exam.forms)
    return (
        f"Both forms have {points(exam.points)} and take about {exam.estimate} of {exam.minutes}"
        f" minutes. The operations of the calculations, counted in their lines, are {counts}. The"
        " minutes are an estimate from these counts and from the numbers to be written, plus two"
        f" minutes to read and check each question; they were not timed with a class."
        f"{_equal_note(exam)}"
    )


def _equal_note(exam: Exam) -> str:
    pairs = zip(*exam.forms.values(), strict=True)
    numbers = [str(number) for number, (a, b) in enumerate(pairs, 1) if a == b]
    if not numbers:
        return ""
    questions = f"question{'s' * (len(numbers) > 1)} {join_words(numbers)}"
    return (
        f" The forms share {questions}, because no second question of the same chapter, length and"
        " demand exists."
    )


def part_letter(part: int) -> str:
    """Return the letter of a part of a question.

    Examples
    --------
    >>> part_letter(0), part_letter(3)
    ('a', 'd')
    """
    return "abcdefgh"[part]


def write_form(exam: Exam, form: str, title: str = "Exam") -> str:
    """Return one form of an exam as Markdown.

    Parameters
    ----------
    exam : Exam
    form : str
        "A" or "B".
    title : str, default "Exam"

    Returns
    -------
    str
    """
    blocks = [
        f"# {title}, Form {form}",
        f"Name: {'_' * 30}",
        f"{exam.minutes} minutes, {points(exam.points)}. {' '.join(RULES)}",
    ]
    for number, question in enumerate(exam.forms[form], 1):
        blocks += [f"## {number}. {heading(question)}", question.text]
        blocks += map(write_table, question.tables)
        if question.lines:
            blocks.append("\n".join(f"{i}. {line}" for i, line in enumerate(question.lines, 1)))
        blocks += [
            f"({part_letter(i)}) {text} ({points(question.points_of(i))})"
            for i, text in enumerate(question.parts)
        ]
    return "\n\n".join(blocks) + "\n"


def heading(question: Question) -> str:
    """Return the title of a question with its points and minutes.

    Parameters
    ----------
    question : Question

    Returns
    -------
    str
    """
    return f"{question.title} ({points(question.points)}, about {question.minutes} minutes)"


def write_scheme(exam: Exam, title: str = "Exam") -> str:
    """Return the marking scheme of both forms as Markdown.

    Parameters
    ----------
    exam : Exam
    title : str, default "Exam"

    Returns
    -------
    str
    """
    blocks = [f"# {title}: marking scheme", estimate_note(exam)]
    blocks.append("\n".join(f"- {rule}" for rule in HOW_TO_MARK))
    for form, questions in exam.forms.items():
        blocks.append(f"# Form {form}, {exam.seed}")
        for number, question in enumerate(questions, 1):
            blocks.append(f"## {number}. {heading(question)}")
            blocks.append("\n".join(_scheme_lines(question)))
            blocks += [f"Note: {sentence}" for sentence in question.follow]
            blocks += [question.sources] if question.sources else []
    return "\n\n".join(blocks) + "\n"


def _scheme_lines(question: Question) -> Iterator[str]:
    for mark in question.marks:
        part = f"({part_letter(mark.part)}) " if question.parts else ""
        yield f"- {part}{points(mark.points)}: {mark_text(mark)}"


def mark_text(mark: Mark) -> str:
    """Return a line of the scheme without its points.

    Parameters
    ----------
    mark : Mark

    Returns
    -------
    str

    Examples
    --------
    >>> mark_text(Mark(1, "weight of *cat*", "1 ÷ 3 ≈ 0.333", "0.333", "0.001"))
    'weight of *cat*: 1 ÷ 3 ≈ 0.333 (off by at most 0.001)'
    """
    if not mark.line:
        return mark.label
    return f"{mark.label}: {mark.line}" + (
        f" (off by at most {mark.off_by})" if mark.off_by else ""
    )


def as_json(exam: Exam) -> str:
    """Return both forms and their schemes as JSON.

    Parameters
    ----------
    exam : Exam

    Returns
    -------
    str
    """
    forms = {
        form: {
            "operations": exam.operations(form),
            "questions": [_question(number, q) for number, q in enumerate(questions, 1)],
        }
        for form, questions in exam.forms.items()
    }
    made = {
        "drawn_from": str(exam.seed),
        "chapters": exam.chapters,
        "minutes": exam.minutes,
        "estimated_minutes": exam.estimate,
        "points": exam.points,
        "forms": forms,
    }
    return json.dumps(made, ensure_ascii=False, indent=1) + "\n"


def _question(number: int, question: Question) -> dict[str, object]:
    return {
        "number": number,
        "kind": question.kind,
        "subject": question.subject,
        "title": question.title,
        "points": question.points,
        "minutes": question.minutes,
        "operations": question.effort.operations,
        "text": question.text,
        "parts": question.parts,
        "tables": [
            {"caption": t.caption, "header": t.header, "rows": t.rows} for t in question.tables
        ],
        "lines": question.lines,
        "marks": [asdict(mark) for mark in question.marks],
        "follow": question.follow,
        "sources": question.sources,
    }


def write_formulas(formulas: Sequence[tuple[str, str]], title: str = "Exam") -> str:
    """Return the formula sheet as Markdown.

    Parameters
    ----------
    formulas : sequence of (str, str)
        What each formula gives, and its TeX.
    title : str, default "Exam"

    Returns
    -------
    str
    """
    blocks = [f"# {title}: formula sheet"]
    blocks += [f"{says}\n\n$$\n{tex}\n$$" for says, tex in formulas]
    return "\n\n".join(blocks) + "\n"
