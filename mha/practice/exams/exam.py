"""An exam of one hour, or another time, in two parallel forms.

Both forms have the same kinds of questions in the same order, with the same points and minutes, and
different numbers. The number of operations of each pair of questions, and so of the forms, differs
by at most `MOST_APART`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, Decimal
from functools import partial
from itertools import cycle, islice

import numpy as np

from mha.practice.effort import Effort, effort_of_lines
from mha.practice.exams.cards import card_kind, draw_card, models_of
from mha.practice.exams.problem import Problem
from mha.practice.exams.problems import OF_CHAPTERS, WITH_MISTAKES, draw_problem
from mha.practice.exams.steps import (
    PLACES,
    Slip,
    Solution,
    Step,
    changed_names,
    solve,
    solve_unrounded,
)
from mha.practice.worksheets.seeds import Seed
from mha.views.table import Table

FORMS = ("A", "B")
"""The names of the parallel forms."""

EXAM = 4
"""The purpose of random numbers; `mha.practice.worksheets.seeds` has the others."""

MOST_APART = 0.1
"""The largest difference of the operations of two parallel questions, as a share of the larger."""

READING = 2
"""The minutes to read a question and to check its result, besides those of the calculation."""

PER_MARK = 1
"""The minutes of one mark of a short explanation."""

SHORTEST, LONGEST, PER_HOUR = 30, 180, 8
"""The fewest and the most minutes of an exam, and the most questions of an hour."""

TRIES = 100
"""How many draws are tried to find a parallel question."""


@dataclass(frozen=True)
class Essay:
    """A question in words that stands alone, with its marking scheme.

    Parameters
    ----------
    label : str
    chapter : str
        The name of the page.
    text : str
        Markdown with formulas between dollar signs.
    minutes : int
    marks : tuple of (int, str)
        The points of each part of a full answer.
    """

    label: str
    chapter: str
    text: str
    minutes: int
    marks: tuple[tuple[int, str], ...]

    @property
    def points(self) -> int:
        """The points of a full answer."""
        return sum(points for points, _ in self.marks)


@dataclass(frozen=True)
class Mark:
    """One line of a marking scheme.

    Parameters
    ----------
    points : int
    label : str
        What the points are for; a word between asterisks is a token.
    line : str, default ""
        The line of arithmetic, if any.
    answer : str, default ""
        The number to find, if any.
    off_by : str, default ""
        The largest error of a student who does not round before this line.
    part : int, default 0
        The part of the question, counted from 0.
    """

    points: int
    label: str
    line: str = ""
    answer: str = ""
    off_by: str = ""
    part: int = 0


@dataclass(frozen=True)
class Question:
    """One question of one form, with its marking scheme.

    Parameters
    ----------
    kind : str
        "compute", "explain", "mistake" or "card".
    subject : str
        A key of `PROBLEMS` or `CARDS`, or an essay's label.
    title, text : str
    parts : tuple of str
        The tasks of its parts, empty for an essay.
    tables : tuple of Table
    marks : tuple of Mark
    follow : tuple of str
        For each known mistake, the results that follow from it.
    lines : tuple of str
        The numbered lines in which a mistake is to be found.
    minutes : int
    effort : Effort
    sources : str
    """

    kind: str
    subject: str
    title: str
    text: str
    marks: tuple[Mark, ...]
    minutes: int
    parts: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    follow: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    effort: Effort = field(default_factory=Effort)
    sources: str = ""

    @property
    def points(self) -> int:
        """The points of the question."""
        return sum(mark.points for mark in self.marks)

    def points_of(self, part: int) -> int:
        """Return the points of one part."""
        return sum(mark.points for mark in self.marks if mark.part == part)


@dataclass(frozen=True)
class Exam:
    """The two forms of an exam.

    Parameters
    ----------
    seed : Seed
    chapters : tuple of str
        Names of pages.
    minutes : int
        The minutes that were asked for.
    forms : mapping of str to tuple of Question
        The questions by the name of the form.
    """

    seed: Seed
    chapters: tuple[str, ...]
    minutes: int
    forms: dict[str, tuple[Question, ...]]

    @property
    def points(self) -> int:
        """The points of each form."""
        return sum(question.points for question in self.forms["A"])

    @property
    def estimate(self) -> int:
        """The estimated minutes of each form."""
        return sum(question.minutes for question in self.forms["A"])

    def operations(self, form: str) -> int:
        """Return the number of operations of a form."""
        return sum(question.effort.operations for question in self.forms[form])


Pair = tuple[Question, Question]

KINDS = ("compute", "explain", "mistake", "card")
"""The kinds of questions, in the order of an exam."""


def draw_exam(seed: Seed, chapters: Sequence[str], minutes: int, essays: Sequence[Essay]) -> Exam:
    """Return an exam in two parallel forms.

    Parameters
    ----------
    seed : Seed
    chapters : sequence of str
        Names of pages, such as "mechanism/softmax".
    minutes : int
        From `SHORTEST` to `LONGEST`.
    essays : sequence of Essay
        The questions in words of all chapters; those of `chapters` are used.

    Returns
    -------
    Exam

    Raises
    ------
    ValueError
        If a chapter has no questions, or the time is too short for one question of each kind.
    """
    _check(chapters, minutes)
    used = [essay for essay in essays if essay.chapter in chapters]
    if not used:
        known = {essay.chapter for essay in essays}
        names = ", ".join(_short(name) for name in OF_CHAPTERS if name in known)
        raise ValueError(
            f"{_join(chapters)} has no question in words that stands alone; one of {names} is"
            " wanted among the chapters"
        )
    rng = seed.rng(1, EXAM)
    computed = _computed(rng, chapters)
    explained = _explained(rng, used)
    pairs = [next(computed), next(explained), _with_mistake(rng, chapters), _on_card(rng, chapters)]
    spent = sum(first.minutes for first, _ in pairs)
    if spent > minutes:
        raise ValueError(
            f"--minutes is {minutes}; one question of each kind takes {spent} minutes here, so"
            f" {spent} or more are wanted"
        )
    for more in _alternate(computed, explained):
        if len(pairs) == most_questions(minutes):
            break
        if spent + more[0].minutes <= minutes:
            pairs.append(more)
            spent += more[0].minutes
    ordered = sorted(pairs, key=lambda pair: KINDS.index(pair[0].kind))
    forms = {name: tuple(pair[i] for pair in ordered) for i, name in enumerate(FORMS)}
    return Exam(seed, tuple(chapters), minutes, forms)


def most_questions(minutes: int) -> int:
    """Return the most questions of an exam.

    Examples
    --------
    >>> most_questions(60), most_questions(90)
    (8, 12)
    """
    return max(len(KINDS), PER_HOUR * minutes // 60)


def _check(chapters: Sequence[str], minutes: int) -> None:
    """Raise unless the chapters have questions and the time is in its range."""
    for chapter in chapters:
        if chapter not in OF_CHAPTERS:
            known = ", ".join(map(_short, OF_CHAPTERS))
            raise ValueError(f"{_short(chapter)} has no calculation for an exam; {known} have")
    if not SHORTEST <= minutes <= LONGEST:
        raise ValueError(f"--minutes is {minutes}; {SHORTEST} to {LONGEST} is wanted")


def _short(chapter: str) -> str:
    """Return the last part of a page's name."""
    return chapter.rpartition("/")[2]


def _join(chapters: Sequence[str]) -> str:
    return " and ".join(map(_short, chapters))


def _alternate(computed: Iterator[Pair], explained: Iterator[Pair]) -> Iterator[Pair]:
    """Yield calculations and explanations in turn, a few more than an exam can have."""
    for _ in range(PER_HOUR * LONGEST // 60):
        yield next(computed)
        yield from islice(explained, 1)


# ---- Pairs of parallel questions ----


def _parallel(draw: Callable[[], Question]) -> Pair:
    """Return two questions of equal structure whose operations differ by at most `MOST_APART`."""
    for _ in range(TRIES):
        first = draw()
        for _ in range(TRIES):
            second = draw()
            is_equal = first.points == second.points and _are_close(first.effort, second.effort)
            if is_equal and (first.tables, first.marks) != (second.tables, second.marks):
                minutes = max(first.minutes, second.minutes)
                return replace(first, minutes=minutes), replace(second, minutes=minutes)
    raise ValueError("no parallel questions were found; another seed is wanted")


def _are_close(first: Effort, second: Effort) -> bool:
    fewer, more = sorted((first.operations, second.operations))
    return more - fewer <= MOST_APART * more


def _computed(rng: np.random.Generator, chapters: Sequence[str]) -> Iterator[Pair]:
    """Yield calculations: first the most typical of each chapter, then the others, and again."""
    start = int(rng.integers(len(chapters)))
    order = [*chapters[start:], *chapters[:start]]
    deepest = max(len(OF_CHAPTERS[name]) for name in order)
    kinds = list(
        dict.fromkeys(
            OF_CHAPTERS[name][depth]
            for depth in range(deepest)
            for name in order
            if depth < len(OF_CHAPTERS[name])
        )
    )
    for kind in cycle(kinds):
        yield _parallel(partial(_draw_to_compute, kind, rng))


def _draw_to_compute(kind: str, rng: np.random.Generator) -> Question:
    return _to_compute(kind, draw_problem(kind, rng))


def _to_compute(kind: str, problem: Problem) -> Question:
    right = solve(problem.steps)
    return Question(
        kind="compute",
        subject=kind,
        title=problem.title,
        text=problem.text,
        parts=problem.parts,
        tables=problem.tables,
        marks=_line_marks(problem.steps, right),
        follow=tuple(_follow(problem, right, slip) for slip in problem.slips),
        minutes=READING + problem.effort.minutes,
        effort=problem.effort,
    )


def _line_marks(steps: Sequence[Step], right: Solution) -> tuple[Mark, ...]:
    """Return a point for each line of a calculation."""
    exact = solve_unrounded(steps)
    return tuple(
        Mark(
            1,
            step.label,
            right.lines[step.name],
            right.values[step.name],
            _off_by(right.values[step.name], exact[step.name]),
            step.part,
        )
        for step in steps
    )


def _off_by(printed: str, exact: Decimal) -> str:
    """Return the largest error of a student who rounds this result only; empty if it is exact."""
    off = abs(Decimal(printed.replace("−", "-")) - exact)
    unit = Decimal(1).scaleb(-PLACES)
    if off < unit / 10**6:
        return ""
    return str((off + unit / 2).quantize(unit, rounding=ROUND_CEILING))


def _follow(problem: Problem, right: Solution, slip: Slip) -> str:
    """Return a mistake and the results that follow from it."""
    wrong = solve(problem.steps, slip)
    labels = {step.name: step.label for step in problem.steps}
    found = "; ".join(
        f"{labels[name]}: {wrong.values[name]}" for name in changed_names(right, wrong)
    )
    return f"{slip.says} Then {found}."


def _with_mistake(rng: np.random.Generator, chapters: Sequence[str]) -> Pair:
    """Return solutions with a mistake: of a kind that the chapters have, if one has mistakes."""
    kinds = [kind for name in chapters for kind in OF_CHAPTERS[name] if kind in WITH_MISTAKES]
    kind = str(rng.choice(kinds)) if kinds else WITH_MISTAKES[0]
    for _ in range(TRIES):
        first, second = _parallel(lambda: _to_mend(kind, rng))
        if first.subject != second.subject:  # another mistake, so that no form helps the other
            break
    return first, second


def _to_mend(kind: str, rng: np.random.Generator) -> Question:
    """Return a question that shows a solution with one of its known mistakes."""
    problem = draw_problem(kind, rng)
    index = int(rng.integers(len(problem.slips)))
    slip = problem.slips[index]
    right, wrong = solve(problem.steps), solve(problem.steps, slip)
    changed = changed_names(right, wrong)
    names = [step.name for step in problem.steps]
    first = names.index(changed[0]) + 1
    labels = {step.name: step.label for step in problem.steps}
    by_name = dict(zip(names, _line_marks(problem.steps, right), strict=True))
    marks = (
        Mark(1, f"The first wrong line is line {first}. {slip.says}"),
        Mark(2, f"The rule: {slip.rule} (1 point for the right rule without its reason.)", part=1),
        replace(by_name[changed[0]], part=2),
        replace(by_name[names[-1]], part=2, points=2),
    )
    others = "; ".join(f"{labels[name]}: {right.values[name]}" for name in changed)
    effort = effort_of_lines([*wrong.lines.values(), *(right.lines[name] for name in changed)])
    return Question(
        kind="mistake",
        subject=f"{kind}, mistake {index + 1}",
        title="Find the mistake",
        text=f"{problem.text} A student wrote the lines below. Every line is computed correctly,"
        " but one rule of attention is broken; later lines continue with the wrong numbers.",
        parts=(
            "Give the number of the first wrong line.",
            "State the rule that it breaks, in one sentence.",
            "Write the right line, and compute the last result again.",
        ),
        tables=problem.tables,
        lines=tuple(f"{labels[name]}: {wrong.lines[name]}" for name in names),
        marks=marks,
        follow=(f"The right numbers of all wrong lines: {others}.",),
        minutes=READING + effort.minutes,
        effort=effort,
    )


def _on_card(rng: np.random.Generator, chapters: Sequence[str]) -> Pair:
    """Return questions on the cards of two models."""
    kind = card_kind(chapters)
    models = [str(model) for model in rng.permutation(models_of(kind))]
    turn = cycle(models)
    for _ in range(TRIES):
        first, second = _parallel(lambda: _on_model(kind, next(turn), rng))
        if first.title != second.title:
            break
    return first, second


def _on_model(kind: str, model: str, rng: np.random.Generator) -> Question:
    card = draw_card(kind, model, rng)
    right = solve(card.steps)
    effort = effort_of_lines(right.lines.values())
    last = len(card.parts)
    reasons = tuple(Mark(points, says, part=last) for points, says in card.marks)
    minutes = READING + effort.minutes + PER_MARK * sum(points for points, _ in card.marks)
    return Question(
        kind="card",
        subject=kind,
        title=f"The card of {model}",
        text=card.text,
        parts=(*card.parts, card.reason),
        tables=card.tables,
        marks=(*_line_marks(card.steps, right), *reasons),
        minutes=minutes,
        effort=effort,
        sources=card.sources,
    )


def _explained(rng: np.random.Generator, essays: Sequence[Essay]) -> Iterator[Pair]:
    """Yield pairs of essays with equal points and minutes; a last single one is in both forms."""
    groups: dict[tuple[int, int], list[Essay]] = {}
    for i in rng.permutation(len(essays)):
        essay = essays[int(i)]
        groups.setdefault((essay.minutes, essay.points), []).append(essay)
    pairs, singles = [], []
    for _, group in sorted(groups.items()):
        pairs += [(group[i], group[i + 1]) for i in range(0, len(group) - 1, 2)]
        singles += [(group[-1], group[-1])] * (len(group) % 2)
    order = sorted([*pairs, *singles], key=lambda pair: (pair[0].minutes > FAR, pair[0] is pair[1]))
    for first, second in order:
        yield _to_explain(first), _to_explain(second)


FAR = 9
"""Essays that take longer, which are the open questions, are used last."""


def _to_explain(essay: Essay) -> Question:
    return Question(
        kind="explain",
        subject=essay.label,
        title="Explain",
        text=essay.text,
        marks=tuple(Mark(points, says) for points, says in essay.marks),
        minutes=essay.minutes,
    )
