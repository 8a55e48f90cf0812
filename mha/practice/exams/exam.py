"""An exam of one hour, or another time, in two parallel forms.

The questions of both forms are parallel one by one. Two parallel questions have the same kind,
minutes and points of each part. Beyond that,

- calculations have the same steps with different numbers, and their numbers of operations differ by
  at most `MAX_EFFORT_DIFFERENCE`;
- solutions with a mistake are of the same calculation, and the same number of results has to be
  computed again; the mistakes differ where the calculation has two that allow it;
- cards have the same fields and questions, of different models where two allow it, and the same
  lines of both are rounded;
- questions in words are from the same chapter and demand the same: to find a bug, to discuss an
  open question, or to explain. A question without a partner is in both forms.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import cycle, islice, product

import numpy as np

from mha.practice.effort import Effort, effort_of_lines
from mha.practice.exams.cards import card_kind, draw_card, models_of
from mha.practice.exams.problem import Problem
from mha.practice.exams.problems import KINDS_BY_CHAPTER, KINDS_WITH_MISTAKES, draw_problem
from mha.practice.exams.steps import (
    Slip,
    Solution,
    changed_names,
    largest_errors,
    solve,
)
from mha.practice.worksheets.seeds import Seed
from mha.views.table import Table

FORMS = ("A", "B")
"""The names of the parallel forms."""

EXAM = 4
"""The purpose of an exam's random numbers; `mha.practice.worksheets.seeds` has the others."""

MAX_EFFORT_DIFFERENCE = 0.1
"""The largest difference of the operations of two parallel questions, as a share of the larger."""

READING_MINUTES = 2
"""The minutes to read a question and to check its result, besides those of the calculation."""

MINUTES_PER_MARK = 1
"""The minutes of one mark of a short explanation."""

MIN_MINUTES, MAX_MINUTES, QUESTIONS_PER_HOUR = 30, 180, 8
"""The fewest and the most minutes of an exam, and the most questions of an hour."""

MAX_TRIES = 100
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

    @property
    def demand(self) -> str:
        """The words of `DEMANDS` with which the question begins, or none: it asks to explain."""
        return next((words for words in DEMANDS if self.text.startswith(words)), "")


DEMANDS = ("Find the bug", "An open question")
"""The first words of questions that demand more than an explanation."""


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
        The largest error of a right answer, if any: earlier lines may be rounded or not.
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
        For the known mistake against each rule, the results that follow from it.
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
        From `MIN_MINUTES` to `MAX_MINUTES`.
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
        names = ", ".join(_short(name) for name in KINDS_BY_CHAPTER if name in known)
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
    for pair in _alternate(computed, explained):
        if len(pairs) == most_questions(minutes):
            break
        if spent + pair[0].minutes <= minutes:
            pairs.append(pair)
            spent += pair[0].minutes
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
    return max(len(KINDS), QUESTIONS_PER_HOUR * minutes // 60)


def _check(chapters: Sequence[str], minutes: int) -> None:
    """Raise unless the chapters have questions and the time is in its range."""
    for chapter in chapters:
        if chapter not in KINDS_BY_CHAPTER:
            known = ", ".join(map(_short, KINDS_BY_CHAPTER))
            raise ValueError(f"{_short(chapter)} has no calculation for an exam; {known} have")
    if not MIN_MINUTES <= minutes <= MAX_MINUTES:
        raise ValueError(f"--minutes is {minutes}; {MIN_MINUTES} to {MAX_MINUTES} is wanted")


def _short(chapter: str) -> str:
    """Return the last part of a page's name."""
    return chapter.rpartition("/")[2]


def _join(chapters: Sequence[str]) -> str:
    return " and ".join(map(_short, chapters))


def _alternate(computed: Iterator[Pair], explained: Iterator[Pair]) -> Iterator[Pair]:
    """Yield calculations and explanations in turn, a few more than an exam can have."""
    for _ in range(QUESTIONS_PER_HOUR * MAX_MINUTES // 60):
        yield next(computed)
        yield from islice(explained, 1)


# ---- Pairs of parallel questions ----


def _parallel(draw: Callable[[], Question]) -> Pair:
    """Return two parallel questions with different numbers."""
    for _ in range(MAX_TRIES):
        first = draw()
        for _ in range(MAX_TRIES):
            second = draw()
            is_other = (first.tables, first.marks) != (second.tables, second.marks)
            if is_other and _are_parallel(first, second):
                return _with_equal_minutes(first, second)
    raise ValueError("no parallel questions were found; another seed is wanted")


def _with_equal_minutes(first: Question, second: Question) -> Pair:
    minutes = max(first.minutes, second.minutes)
    return replace(first, minutes=minutes), replace(second, minutes=minutes)


def _are_parallel(first: Question, second: Question) -> bool:
    """Return whether two questions have equal points, and almost as many operations."""
    return _worth(first) == _worth(second) and _are_close(first.effort, second.effort)


def _worth(question: Question) -> list[tuple[int, int]]:
    """Return the part and the points of each line of a question's scheme."""
    return [(mark.part, mark.points) for mark in question.marks]


def _are_close(first: Effort, second: Effort) -> bool:
    smaller, larger = sorted((first.operations, second.operations))
    return larger - smaller <= MAX_EFFORT_DIFFERENCE * larger


def _computed(rng: np.random.Generator, chapters: Sequence[str]) -> Iterator[Pair]:
    """Yield calculations: first the most typical of each chapter, then the others, and again."""
    start = int(rng.integers(len(chapters)))
    order = [*chapters[start:], *chapters[:start]]
    deepest = max(len(KINDS_BY_CHAPTER[name]) for name in order)
    kinds = list(
        dict.fromkeys(
            KINDS_BY_CHAPTER[name][depth]
            for depth in range(deepest)
            for name in order
            if depth < len(KINDS_BY_CHAPTER[name])
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
        marks=_line_marks(right),
        follow=tuple(_follow(problem, right, slip) for slip in _one_of_each_rule(problem.slips)),
        minutes=READING_MINUTES + problem.effort.minutes,
        effort=problem.effort,
    )


def _line_marks(right: Solution, given: Collection[str] = ()) -> tuple[Mark, ...]:
    """Return a point for each line of a calculation; the question prints the results of `given`."""
    errors = largest_errors(right, given)
    return tuple(
        Mark(
            1,
            step.label,
            right.lines[step.name],
            right.values[step.name],
            str(errors[step.name] or ""),
            step.part,
        )
        for step in right.steps
    )


def _one_of_each_rule(slips: Sequence[Slip]) -> list[Slip]:
    """Return the first mistake against each rule, which keeps the scheme short."""
    rules = [slip.rule for slip in slips]
    return [slip for i, slip in enumerate(slips) if slip.rule not in rules[:i]]


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
    kinds = [
        kind for name in chapters for kind in KINDS_BY_CHAPTER[name] if kind in KINDS_WITH_MISTAKES
    ]
    kind = str(rng.choice(kinds)) if kinds else KINDS_WITH_MISTAKES[0]
    for _ in range(MAX_TRIES):
        firsts, seconds = ([*_to_mend(kind, draw_problem(kind, rng))] for _ in FORMS)
        # Another mistake, if one has as many wrong results, so that no form helps the other.
        order = sorted(
            product(rng.permutation(len(firsts)), range(len(seconds))),
            key=lambda at: at[0] == at[1],
        )
        for i, j in order:
            if _are_parallel(firsts[i], seconds[j]):
                return _with_equal_minutes(firsts[i], seconds[j])
    raise ValueError("no parallel mistakes were found; another seed is wanted")


def _to_mend(kind: str, problem: Problem) -> Iterator[Question]:
    """Yield a question for each known mistake, which shows a solution with it."""
    for number, slip in enumerate(problem.slips, 1):
        yield _with_slip(f"{kind}, mistake {number}", problem, slip)


def _with_slip(subject: str, problem: Problem, slip: Slip) -> Question:
    """Return a question that shows a solution with a mistake."""
    right, wrong = solve(problem.steps), solve(problem.steps, slip)
    changed = changed_names(right, wrong)
    names = [step.name for step in problem.steps]
    first = names.index(changed[0])
    labels = {step.name: step.label for step in problem.steps}
    again = tuple(
        replace(mark, label=f"line {number}, {mark.label}", part=2)
        for number, mark in enumerate(_line_marks(right, names[:first]), 1)
        if names[number - 1] in changed
    )
    marks = (
        Mark(1, f"The first wrong line is line {first + 1}. {slip.says}", answer=str(first + 1)),
        Mark(1, f"The rule: {slip.rule}", part=1),
        Mark(1, f"A reason, such as: {slip.reason}", part=1),
        *again,
    )
    # A student checks every line, and computes the wrong ones again.
    effort = effort_of_lines([*right.lines.values(), *(right.lines[name] for name in changed)])
    return Question(
        kind="mistake",
        subject=subject,
        title="Find the mistake",
        text=f"{problem.text} A student wrote the lines below. Every line is computed correctly,"
        " but one rule of attention is broken; later lines continue with the wrong numbers.",
        parts=(
            "Give the number of the first wrong line.",
            "State the rule that it breaks, and one reason for this rule.",
            "Write this line and every later line whose result changes, with the right numbers.",
        ),
        tables=problem.tables,
        lines=tuple(f"{labels[name]}: {wrong.lines[name]}" for name in names),
        marks=marks,
        minutes=READING_MINUTES + effort.minutes,
        effort=effort,
    )


def _on_card(rng: np.random.Generator, chapters: Sequence[str]) -> Pair:
    """Return questions on the cards of two models."""
    kind = card_kind(chapters)
    models = [str(model) for model in rng.permutation(models_of(kind))]
    turn = cycle(models)
    for _ in range(MAX_TRIES):
        first, second = _parallel(lambda: _on_model(kind, next(turn), rng))
        if first.title != second.title and _rounded_lines(first) == _rounded_lines(second):
            return first, second
    first, second = _parallel(lambda: _on_model(kind, models[0], rng))
    return first, second


def _rounded_lines(question: Question) -> list[bool]:
    """Return for each line of a marking scheme whether its result is rounded."""
    return ["≈" in mark.line for mark in question.marks]


def _on_model(kind: str, model: str, rng: np.random.Generator) -> Question:
    card = draw_card(kind, model, rng)
    right = solve(card.steps)
    effort = effort_of_lines(right.lines.values())
    last = len(card.parts)
    reasons = tuple(Mark(points, says, part=last) for points, says in card.marks)
    minutes = (
        READING_MINUTES
        + effort.minutes
        + MINUTES_PER_MARK * sum(points for points, _ in card.marks)
    )
    return Question(
        kind="card",
        subject=kind,
        title=f"The card of {model}",
        text=card.text,
        parts=(*card.parts, card.reason),
        tables=card.tables,
        marks=(*_line_marks(right), *reasons),
        minutes=minutes,
        effort=effort,
        sources=card.sources,
    )


def _explained(rng: np.random.Generator, essays: Sequence[Essay]) -> Iterator[Pair]:
    for first, second in pair_essays(rng, essays):
        yield _to_explain(first), _to_explain(second)


def pair_essays(
    rng: np.random.Generator, essays: Sequence[Essay]
) -> tuple[tuple[Essay, Essay], ...]:
    """Return essays in pairs of one chapter that demand the same, with equal points and minutes.

    An essay without a partner is paired with itself. Each chapter has its turn before any has
    another; in a chapter, pairs of different essays come first, and long essays are last of all.

    Parameters
    ----------
    rng : numpy.random.Generator
    essays : sequence of Essay

    Returns
    -------
    tuple of (Essay, Essay)
    """
    groups: dict[tuple[str, str, int, int], list[Essay]] = {}
    for i in rng.permutation(len(essays)):
        essay = essays[int(i)]
        key = essay.chapter, essay.demand, essay.points, essay.minutes
        groups.setdefault(key, []).append(essay)
    pairs = [
        (group[i], group[min(i + 1, len(group) - 1)])
        for group in groups.values()
        for i in range(0, len(group), 2)
    ]
    pairs.sort(key=lambda pair: pair[0] is pair[1])
    earlier: Counter[tuple[str, bool]] = Counter()
    turns = []
    for essay, _ in pairs:
        is_long = essay.minutes > MAX_MINUTES_OF_EARLY_ESSAYS
        turns.append((is_long, earlier[essay.chapter, is_long]))
        earlier[essay.chapter, is_long] += 1
    return tuple(pairs[i] for i in sorted(range(len(pairs)), key=turns.__getitem__))


MAX_MINUTES_OF_EARLY_ESSAYS = 9
"""Essays that take longer than this, which are the open questions, are used last."""


def _to_explain(essay: Essay) -> Question:
    return Question(
        kind="explain",
        subject=essay.label,
        title="Explain",
        text=essay.text,
        marks=tuple(Mark(points, says) for points, says in essay.marks),
        minutes=essay.minutes,
    )
